"""Ids of models: a wrong one is refused with an id that works, and a name may be a folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contrapose.tasks.config.model_spec import find_provider_name
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.model_files import existing_folder


def remedy_for(model: str) -> str:
    with pytest.raises(ConfigError) as refused:
        find_provider_name(model)
    return refused.value.remedy


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("gpt-4.1-mini", "openai/gpt-4.1-mini"),
        ("openia/gpt-4.1-mini", "openai"),
        ("somebody/model", "hf/somebody/model"),
        ("llama3", "ollama/llama3"),
        ("embeded", "embedded"),
    ],
)
def test_the_id_that_was_meant_is_known(model: str, meant: str) -> None:
    suggestion = next(iter(re.findall(r"'([^']+)'", remedy_for(model))))
    assert suggestion == meant
    assert find_provider_name(suggestion) in ("openai", "hf", "ollama", "embedded")


def test_a_folder_is_found_below_the_home_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    assert existing_folder("~/model") == existing_folder(str(tmp_path / "model")) == tmp_path / "model"


@pytest.mark.parametrize("name", ["org/name", "~no-such-user/x", "x" * 5000, "\0"])
def test_any_other_name_is_none(name: str) -> None:
    assert existing_folder(name) is None
