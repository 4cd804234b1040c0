"""Names that may be folders, and names that never can."""

from __future__ import annotations

from pathlib import Path

import pytest

from contrapose.tasks.core.model_files import existing_folder


def test_a_folder_is_found_below_the_home_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    assert existing_folder("~/model") == existing_folder(str(tmp_path / "model")) == tmp_path / "model"


@pytest.mark.parametrize("name", ["org/name", "~no-such-user/x", "x" * 5000, "\0"])
def test_any_other_name_is_none(name: str) -> None:
    assert existing_folder(name) is None
