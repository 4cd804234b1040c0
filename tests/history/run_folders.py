"""Folders of runs, as small as they can be listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def put_run(runs: Path, name: str, *, files: dict[str, str] | None = None, **summary: Any) -> Path:
    """A folder with a summary.json and other files."""
    folder = runs / name
    folder.mkdir(parents=True, exist_ok=True)
    told = {
        "verdict": "fail",
        "reason": "Fail: order_bias.",
        "suite": "harbour",
        "started": "2026-03-01T08:30:00+00:00",
        "model": {"id": "hf/example/tiny"},
        "tests": [{"test_type": "order_bias", "pass_rate": 0.25}],
    }
    (folder / "summary.json").write_text(json.dumps(told | summary))
    for each, text in (files or {}).items():
        (folder / each).write_text(text)
    return folder


def put_refused(runs: Path, name: str) -> Path:
    """What a run leaves that was stopped at a gate."""
    folder = runs / name
    folder.mkdir(parents=True)
    for each in ("validation.json", "validation.html"):
        (folder / each).write_text("{}")
    return folder
