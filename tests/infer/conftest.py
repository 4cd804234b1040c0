"""Fixtures that several tests of the infer stage have."""

from __future__ import annotations

import pytest

from contrapose.tasks.infer.asking import outcomes


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a failed request be made again at once."""
    monkeypatch.setattr(outcomes, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(outcomes, "LONGEST_WAIT", 0.02)
