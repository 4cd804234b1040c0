"""A tiny model that several tests of local inference load."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_model import save_tiny_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a model that no test changes."""
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))
