"""An id that names no provider is refused with an id that works: the remedy is followed, and gets further."""

from __future__ import annotations

import re

import pytest

from contrapose.tasks.config.model_spec import known_provider
from contrapose.tasks.core.errors import ConfigError


def remedy_for(model: str) -> str:
    with pytest.raises(ConfigError) as refused:
        known_provider(model)
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
    assert known_provider(suggestion) in ("openai", "hf", "ollama", "embedded")
