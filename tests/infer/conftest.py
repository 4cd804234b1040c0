"""Fixtures that several tests of the infer stage have."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_model import save_tiny_model

from contrapose.tasks.infer.asking import outcomes


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a failed request be made again at once."""
    monkeypatch.setattr(outcomes, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(outcomes, "LONGEST_WAIT", 0.02)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a tiny model that no test changes."""
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))
