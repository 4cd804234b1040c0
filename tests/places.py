"""Where tests find the repository and the recorded data beside it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parent.parent
SHARED_DATA = REPOSITORY.parent / "shared" / "data"


@cache
def json_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def golden_rows(name: str, split: str | None = None) -> list[dict[str, Any]]:
    """The rows of a golden file, or those of one of its splits."""
    rows = json_rows(REPOSITORY / "tests" / "golden" / f"{name}.jsonl")
    return [row for row in rows if split in (None, row.get("split"))]
