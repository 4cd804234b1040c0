"""What fuzzing has found stays mended, and right inputs are right."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_targets import targets

TARGETS = targets()
FOUND = sorted(Path(__file__).with_name("found").glob("*/*"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_is_wrong_no_more(path: Path) -> None:
    TARGETS[path.parent.name].run(path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_what_fuzzing_begins_with_is_right(name: str) -> None:
    for each in TARGETS[name].seeds:
        TARGETS[name].run(each)
