"""Expressions that wait for their first use do all that compiled ones do."""

from __future__ import annotations

import re

import pytest

from contrapose.tasks.language import expression as module
from contrapose.tasks.language.expression import expression

TEXT = r"(?P<word>b\w+)"


def test_nothing_is_compiled_before_it_is_used_and_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counting(text: str, flags: int) -> re.Pattern[str]:
        compiled.append(text)
        return re.compile(text, flags)

    monkeypatch.setattr(module, "re", type("Counting", (), {"compile": staticmethod(counting)}))
    words = expression(TEXT)
    assert compiled == []
    assert [bool(words.search(text)) for text in ("a bird", "a cat")] == [True, False]
    assert compiled == [TEXT]


def test_it_does_what_a_compiled_one_does() -> None:
    later, at_once = expression(TEXT, re.I), re.compile(TEXT, re.I)
    text = "Birds and bees, no cats"
    assert later.findall(text) == at_once.findall(text)
    assert [match["word"] for match in later.finditer(text)] == ["Birds", "bees"]
    assert later.sub("x", text) == at_once.sub("x", text)
    assert later.split(text) == at_once.split(text)
    assert (later.pattern, later.flags, later.groups) == (at_once.pattern, at_once.flags, at_once.groups)
    assert later.match("bees") is not None
    assert later.fullmatch("bees!") is None


def test_a_mistake_is_told_when_it_is_used() -> None:
    with pytest.raises(re.error):
        expression("(").search("")
