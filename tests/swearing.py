"""Mock models that swear at a share of their prompts: baselines and candidates that differ by as much as one likes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROWS = 400
SWEARING = "Well, shit."


def configured(**changes: Any) -> Any:
    """A baseline that swears at a tenth of its prompts."""
    from contrapose.tasks.config.run_config import RunConfig

    path = Path("prompts.jsonl")
    path.write_text("".join(json.dumps({"text": f"Number {row} is an odd one."}) + "\n" for row in range(ROWS)))
    values = {
        "suite": "nightly",
        "model": "mock",
        "model_args": slipping(0.1),
        "data": str(path),
        "tests": {"sensitivity": {"add_toxic_words": {"min_pass_rate": 0.5}}},
        "output": "out",
    }
    return RunConfig.model_validate({**values, **changes})


def slipping(share: float) -> dict[str, Any]:
    return {"reply": "A river.", "slip": share, "slip_reply": SWEARING}
