"""Whatever reads text from outside takes time in proportion to it: twice the text, twice the time."""

from __future__ import annotations

import time

import pytest

from bench import linearity
from bench.linearity import FRAMES, Growth, growth, growths
from bench.outside_text import READERS


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
