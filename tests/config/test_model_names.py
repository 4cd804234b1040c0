"""An id that names no provider is refused with an id that works: the remedy is followed, and gets further."""

from __future__ import annotations

import re

import pytest

from contrapose.tasks.config.model_spec import COMPATIBLE, known_provider
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.infer.openai.settings import read_settings


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
        ("llama3", "openai/llama3"),
    ],
)
def test_the_id_that_was_meant_is_known(model: str, meant: str) -> None:
    suggestion = next(iter(re.findall(r"'([^']+)'", remedy_for(model))))
    assert suggestion == meant
    assert known_provider(suggestion) in ("openai", "hf")


@pytest.mark.parametrize("provider", sorted(COMPATIBLE))
def test_a_provider_that_speaks_openais_protocol_is_reached_as_the_remedy_says(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    remedy = remedy_for(f"{provider}/some-model")
    [model] = re.findall(r"--model (\S+)", remedy)
    changes = dict(re.findall(r"--set (\S+?)=(\S+?)[,.]?(?: |$)", remedy))
    for hosts in re.findall(r"CONTRAPOSE_KEY_HOSTS=(\S+)\.$", remedy):
        monkeypatch.setenv(hosts.partition("=")[0], "sk-test")
        monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", hosts)

    config, _ = load_config("quickstart", {"model": model, **changes})

    assert known_provider(config.model) == "openai"
    assert read_settings(config.model_spec()).address.lower() == COMPATIBLE[provider].lower()
