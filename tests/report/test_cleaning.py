from __future__ import annotations

from collections.abc import Callable

import pytest

from contrapose.tasks.report.html.sample_data import page_texts
from contrapose.tasks.text.cleaning import cut_text, one_line, show_hidden, storable
from contrapose.tasks.text.masking import make_shower
from contrapose.tasks.text.wording import percent, tokens_text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\u202eabc", r"\u202eabc"),
        ("a\u200bb", r"a\u200bb"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\x9b", r"\x9b"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", "\ufffd"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("naïve 漢字 ❤️", "naïve 漢字 ❤️"),
    ],
)
def test_nothing_stays_hidden(text: str, seen: str) -> None:
    assert show_hidden(text) == seen


@pytest.mark.parametrize(
    ("clean", "text", "seen"),
    [
        (storable, "a\x00\x1b\r\n\tb\ud800\x85", "a\n\tb\ufffd"),
        (one_line, "a \x1b[1;31mred\x1b[0m\n\x1b]8;;http://x\x07link\x1b]8;;\x07 b", "a red link b"),
        (one_line, "x" * 3_000, "x" * 2_000 + " … (3,000 characters in all)"),
        (lambda text: cut_text(text, 9), "one two three", "one two … (6 more characters)"),
        (make_shower(show_toxic=False), "class\x0cshit\x0bpass", r"class\x0cs***\x0bpass"),
        (show_hidden, "Z" + "\u0301" * 10, "Z" + "\u0301" * 8 + r"\u0301\u0301"),
    ],
    ids=["stored as UTF-8", "escape sequences", "a very long line", "cut", "blanks part words", "a flood of marks"],
)
def test_texts_are_cleaned(clean: Callable[[str], str], text: str, seen: str) -> None:
    assert clean(text) == seen


SPLIT = (
    *("fu\u200bck", "fu\x1b[31mck", "\x1b[1;31mfuck\x1b[0m", "fu\x1bck", "fu\x00ck", "fu\x9b31mck", "f\x08uck"),
    *("\x1b]8;;http://x\x07fuck\x1b]8;;\x07", "fuck\x00you"),
)


@pytest.mark.parametrize("text", SPLIT)
def test_a_toxic_word_split_by_what_no_terminal_shows_is_masked(text: str) -> None:
    assert "ck" not in make_shower(show_toxic=False)(f"what the {text}!")
    (pieces,) = page_texts([f"what the {text}!"], show_toxic=False, longest=100)
    assert "ck" not in "".join(pieces[::2])


@pytest.mark.parametrize("text", ["::error file=x::failed", "##[error]failed", "##vso[task.complete]"])
def test_a_line_gives_no_order_to_the_machine_that_builds(text: str) -> None:
    assert not one_line(text).startswith(("::", "##"))


@pytest.mark.parametrize(
    ("share", "told"),
    [
        *((1, "100%"), (0.9996, ">99.9%"), (0.999, "99.9%"), (0.767, "76.7%")),
        *((0.7, "70%"), (0.0004, "<0.1%"), (0, "0%"), (None, "–"), (float("nan"), "–")),
    ],
)
def test_only_all_is_a_hundred_percent_and_only_nothing_zero(share: float | None, told: str) -> None:
    assert percent(share) == told


def test_tokens_that_nobody_counted_are_not_said() -> None:
    assert (tokens_text(0, 0), tokens_text(1_200, 0)) == ("", "1,200 tokens read, 0 written")
