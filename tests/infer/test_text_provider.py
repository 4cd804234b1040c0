"""A provider of another package: one async `generate`, in at most 25 lines, with imports from one public module."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plain_broker import ask_prompts

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Answer
from contrapose.tasks.core.records import Usage

PROVIDER = '''"""Shouts the prompt."""

from contrapose.providers import Completion, Failure, TextProvider, Usage

calls = []


class Shouting(TextProvider):
    async def generate(self, prompt, spec):
        calls.append(prompt)
        if prompt == "lost" and len(calls) < 3:
            raise ConnectionError("the line is dead")
        if prompt == "broken":
            raise ValueError("it broke\\non two lines")
        if prompt == "filtered":
            return Failure(kind="filter", message="not said", then="give up", outcome="moderated")
        if prompt == "counted":
            return Completion(text="ONE", usage=Usage(calls=1, prompt_tokens=5, completion_tokens=1))
        return prompt.upper()
'''
ENTRY_POINT = "[contrapose.providers]\nshouting = shouting_provider:Shouting\n"


@pytest.fixture
def shouting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelSpec]:
    """A model of the package, which lies as pip would have installed it."""
    (tmp_path / "shouting_provider.py").write_text(PROVIDER)
    info = tmp_path / "shouting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINT)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("contrapose.tasks.infer.asking.outcomes.FIRST_WAIT", 0.01)
    for cached in (registry.names, registry._find_entry_points, registry.provider):
        cached.cache_clear()
    yield ModelSpec(id="shouting/any")
    for cached in (registry.names, registry._find_entry_points, registry.provider):
        cached.cache_clear()
    sys.modules.pop("shouting_provider", None)


def asked(spec: ModelSpec, *prompts: str) -> list[Answer]:
    return ask_prompts(spec, *prompts).replies(*prompts)


def test_provider_is_short_and_imports_from_the_public_module_alone() -> None:
    lines = PROVIDER.splitlines()
    assert len(lines) <= 25
    assert [line for line in lines if "import" in line] == [
        "from contrapose.providers import Completion, Failure, TextProvider, Usage"
    ]


def test_reply_is_asked_for_and_described(shouting: ModelSpec) -> None:
    provider = registry.find("providers", "shouting")()
    assert [answer.completion.text for answer in asked(shouting, "one", "two")] == ["ONE", "TWO"]
    assert provider.check(shouting).state == "ok"
    assert provider.likelihoods(shouting) == "none"
    named = shouting.model_copy(update={"args": {"revision": "2"}})
    assert provider.identity(named) != provider.identity(shouting)
    with pytest.raises(ModelError, match="unknown argument 'loud'"):
        provider.identity(shouting.model_copy(update={"args": {"loud": True}}))


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("lost", {"text": "LOST"}),
        ("broken", {"error": "ValueError: it broke on two lines"}),
        ("filtered", {"text": "", "outcome": "moderated"}),
        ("counted", {"text": "ONE", "usage": Usage(calls=1, prompt_tokens=5, completion_tokens=1)}),
    ],
)
def test_outcome_of_generate_decides_what_happens_next(
    prompt: str, expected: dict[str, Any], shouting: ModelSpec
) -> None:
    [answer] = asked(shouting, prompt)
    assert {name: getattr(answer.completion, name) for name in expected} == expected
    assert answer.requests == (3 if prompt == "lost" else 1)
