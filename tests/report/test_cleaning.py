from __future__ import annotations

import pytest

from contrapose.tasks.report.cleaning import cut, one_line, storable, visible
from contrapose.tasks.report.masking import shower


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
    assert visible(text) == seen


def test_a_stored_text_is_valid_utf8() -> None:
    assert storable("a\x00\x1b\r\n\tb\ud800\x85").encode() == "a\n\tb\ufffd".encode()


def test_one_line_drops_escape_sequences() -> None:
    assert one_line("a \x1b[1;31mred\x1b[0m\n\x1b]8;;http://x\x07link\x1b]8;;\x07 b") == "a red link b"


def test_a_cut_text_tells_how_much_is_missing() -> None:
    assert cut("one two three", 9) == "one two … (6 more characters)"


def test_a_toxic_word_split_by_unseen_characters_is_masked() -> None:
    assert "uck" not in shower(show_toxic=False)("what the fu\u200bck")


def test_a_flood_of_marks_on_one_letter_covers_no_line_around_it() -> None:
    assert visible("Z" + "\u0301" * 10) == "Z" + "\u0301" * 8 + r"\u0301\u0301"


@pytest.mark.parametrize("text", ["::error file=x::failed", "##[error]failed", "##vso[task.complete]"])
def test_a_line_gives_no_order_to_the_machine_that_builds(text: str) -> None:
    assert not one_line(text).startswith(("::", "##"))


def test_a_very_long_line_is_cut() -> None:
    assert one_line("x" * 3_000) == "x" * 2_000 + " … (3,000 characters in all)"
