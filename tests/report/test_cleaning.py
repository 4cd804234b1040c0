from __future__ import annotations

import pytest

from contrapose.tasks.report.html.sample_data import page_texts
from contrapose.tasks.text.cleaning import cut_text, one_line, show_hidden, storable
from contrapose.tasks.text.masking import make_shower


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


def test_a_stored_text_is_valid_utf8() -> None:
    assert storable("a\x00\x1b\r\n\tb\ud800\x85").encode() == "a\n\tb\ufffd".encode()


def test_one_line_drops_escape_sequences() -> None:
    assert one_line("a \x1b[1;31mred\x1b[0m\n\x1b]8;;http://x\x07link\x1b]8;;\x07 b") == "a red link b"


def test_a_cut_text_tells_how_much_is_missing() -> None:
    assert cut_text("one two three", 9) == "one two … (6 more characters)"


SPLIT = (
    *("fu\u200bck", "fu\x1b[31mck", "\x1b[1;31mfuck\x1b[0m", "fu\x1bck", "fu\x00ck", "fu\x9b31mck", "f\x08uck"),
    *("\x1b]8;;http://x\x07fuck\x1b]8;;\x07", "fuck\x00you"),
)


@pytest.mark.parametrize("text", SPLIT)
def test_a_toxic_word_split_by_what_no_terminal_shows_is_masked(text: str) -> None:
    assert "ck" not in make_shower(show_toxic=False)(f"what the {text}!")
    (pieces,) = page_texts([f"what the {text}!"], show_toxic=False, longest=100)
    assert "ck" not in "".join(pieces[::2])


def test_blanks_among_control_characters_part_words() -> None:
    assert make_shower(show_toxic=False)("class\x0cshit\x0bpass") == r"class\x0cs***\x0bpass"


def test_a_flood_of_marks_on_one_letter_covers_no_line_around_it() -> None:
    assert show_hidden("Z" + "\u0301" * 10) == "Z" + "\u0301" * 8 + r"\u0301\u0301"


@pytest.mark.parametrize("text", ["::error file=x::failed", "##[error]failed", "##vso[task.complete]"])
def test_a_line_gives_no_order_to_the_machine_that_builds(text: str) -> None:
    assert not one_line(text).startswith(("::", "##"))


def test_a_very_long_line_is_cut() -> None:
    assert one_line("x" * 3_000) == "x" * 2_000 + " … (3,000 characters in all)"
