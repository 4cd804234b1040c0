"""Where tests find the repository and the recorded data beside it."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
SHARED_DATA = REPOSITORY.parent / "shared" / "data"
