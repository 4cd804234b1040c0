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
