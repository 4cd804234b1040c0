"""Texts as reports show them: changes marked, nothing hidden, figures in words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.report.html.sample_data import clean_texts
from contrapose.tasks.text.cleaning import cut_text, make_storable, one_line, show_hidden
from contrapose.tasks.text.diff import find_word_changes, mark_differences
from contrapose.tasks.text.inline import elide_middle, format_inline
from contrapose.tasks.text.masking import make_shower
from contrapose.tasks.text.wording import percent, tokens_text

WORDS = st.lists(st.sampled_from(["a", "is", "not", ".", "\n", "漢"]), max_size=12).map(" ".join)
LONG = "The committee met every week and read many letters. " * 100


@given(WORDS, WORDS)
def test_joined_segments_give_the_texts_again_and_shared_ones_are_the_same(original: str, changed: str) -> None:
    marked = mark_differences(original, changed)
    assert ("".join(marked.original), "".join(marked.changed)) == (original, changed)
    if original and changed:
        assert "".join(marked.original[::2]) == "".join(marked.changed[::2])


@given(WORDS, WORDS)
def test_edits_in_order_without_overlap_give_the_changed_text(original: str, changed: str) -> None:
    found, text = find_word_changes(original, changed), original
    assert all(one.end <= other.start for one, other in pairwise(found))
    for start, end, new in reversed(found):
        text = text[:start] + new + text[end:]
    assert text == changed


@pytest.mark.parametrize(
    ("original", "changed", "found"),
    [
        ("He eats fish.", "He does not eat fish.", [(3, 3, "does not "), (6, 7, "")]),
        ("It is.", "It isn't.", [(5, 5, "n't")]),
        ("He went.", "He did not go.", [(3, 7, "did not go")]),
        ("It is happy.", "It is unhappy.", [(6, 6, "un")]),
        ("天空是蓝色的。", "天空不是蓝色的。", [(2, 2, "不")]),
        # Scraps between changes are not kept.
        ("It is the old mill.", "It was an old farm.", [(3, 9, "was an"), (14, 18, "farm")]),
        ("So a mill is calm.", "So two crowded cities in May is calm.", [(3, 9, "two crowded cities in May")]),
        (LONG, f"so {LONG}so", [(0, 0, "so "), (len(LONG), len(LONG), "so")]),
    ],
)
def test_a_word_that_is_only_inflected_is_marked_in_part(
    original: str, changed: str, found: list[tuple[int, int, str]]
) -> None:
    assert find_word_changes(original, changed) == found


def test_a_missing_text_is_not_marked() -> None:
    assert mark_differences("It is blue.", "") == (("It is blue.",), ("",))


SLOW = {
    "few words": ("a " * 10_000, "b " + "a b " * 5_000),
    "no word in common": ("a " * 10_000, "b " * 10_000),
    "one word": ("a" * 20_000, "b" * 20_000),
    "signs": ("." * 20_000, "!." * 10_000),
    "numbers": (" ".join(map(str, range(4_000))), " ".join(map(str, range(4_000, 0, -1)))),
}


@pytest.mark.parametrize(("original", "changed"), SLOW.values(), ids=SLOW)
def test_texts_made_to_be_slow_are_not(original: str, changed: str) -> None:
    start = process_time()
    mark_differences(original, changed)
    assert process_time() - start < 3


def plain(original: str, changed: str) -> str:
    return format_inline(original, changed, brackets=True).plain


@pytest.mark.parametrize(
    ("original", "changed", "shown"),
    [
        ("He went home.", "He did not go home.", "He [-went-]{+did not go+} home."),
        ("It is blue.", "It is not blue.", "It is {+not+} blue."),
        ("one two", "one\ntwo", "one[- -]{+\\n\n+}two"),
        ("[bold]x[/bold] is", "[bold]x[/bold] is not", "[bold]x[/bold] is {+not+}"),
    ],
)
def test_without_colours_brackets_mark_the_change(original: str, changed: str, shown: str) -> None:
    assert plain(original, changed) == shown


def test_with_colours_styles_mark_the_change() -> None:
    text = format_inline("He went home.", "He did not go home.", brackets=False)
    assert text.plain == "He wentdid not go home."
    assert [(text.plain[span.start : span.end], span.style) for span in text.spans] == [
        ("went", "strike red"),
        ("did not go", "bold green"),
    ]


@pytest.mark.parametrize(
    ("original", "changed", "start", "end"),
    [
        (f"{LONG}It is blue. {LONG}", f"{LONG}It is not blue. {LONG}", "[... 5,0", " characters ...]"),
        (LONG, f"Oh, {LONG}indeed", "{+Oh,+} The committee", "letters. {+indeed+}"),
    ],
)
def test_of_long_texts_the_changes_stay_in_view(original: str, changed: str, start: str, end: str) -> None:
    found = plain(original, changed)
    assert found.startswith(start)
    assert found.endswith(end)
    assert "{+" in found
    assert len(found) < 320


def test_what_was_left_out_is_counted() -> None:
    assert elide_middle("first word " + "x" * 100 + " last word", head=12, tail=12) == (
        "first word [... 102 characters ...] last word"
    )


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
        (make_storable, "a\x00\x1b\r\n\tb\ud800\x85", "a\n\tb\ufffd"),
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
    (pieces,) = clean_texts([f"what the {text}!"], show_toxic=False, longest=100)
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
