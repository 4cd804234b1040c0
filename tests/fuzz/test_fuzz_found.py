"""What fuzzing has found stays mended, and right inputs are right."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fuzz_targets import check_choice, check_count, check_negation, targets
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import linearity
from bench.linearity import FRAMES, Growth, growth, growths
from bench.outside_text import READERS
from contrapose.tasks.probes.negation import negate
from contrapose.tasks.probes.order_bias import read_choice
from contrapose.tasks.probes.toxic_words import count_toxic

TARGETS = targets()
FOUND = sorted(Path(__file__).with_name("found").glob("*/*"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_is_wrong_no_more(path: Path) -> None:
    TARGETS[path.parent.name].run(path.read_bytes())


@pytest.mark.parametrize("name", TARGETS)
def test_what_fuzzing_begins_with_is_right(name: str) -> None:
    for each in TARGETS[name].seeds:
        TARGETS[name].run(each)


def told(found: list[Growth]) -> list[str]:
    return [f"{each.fragment!a}: {each.short:.4f} s, {each.long:.4f} s" for each in found if each.is_steep]


def test_what_takes_the_square_of_the_time_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def square(text: str) -> None:
        end = time.thread_time() + (len(text) / 20_000) ** 2
        while time.thread_time() < end:
            pass

    monkeypatch.setattr(linearity, "READERS", {"square": lambda text: lambda: square(text)})
    assert growth("square", " ", FRAMES[0]).is_steep


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_long_text_of_twice_the_length_takes_twice_the_time(name: str) -> None:
    assert told(list(growths(name))) == []


@given(st.text(max_size=200))
@settings(max_examples=50)
def test_any_text_is_negated_or_skipped_with_a_reason(text: str) -> None:
    check_negation(negate(text), text)


@given(st.text(max_size=200))
@settings(max_examples=50)
def test_any_text_is_counted(text: str) -> None:
    check_count(count_toxic(text), text)


@given(st.text(max_size=200), st.one_of(st.none(), st.text(max_size=60)), st.one_of(st.none(), st.text(max_size=60)))
@settings(max_examples=50)
def test_any_reply_is_read(reply: str, option_a: str | None, option_b: str | None) -> None:
    check_choice(read_choice(reply, option_a=option_a, option_b=option_b))
