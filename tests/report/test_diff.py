from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.text.diff import edits, mark
from contrapose.tasks.text.inline import elide_middle, inline

WORDS = st.lists(st.sampled_from(["a", "is", "not", ".", "\n", "漢"]), max_size=12).map(" ".join)
LONG = "The committee met every week and read many letters. " * 100


@given(WORDS, WORDS)
def test_joined_segments_give_the_texts_again_and_shared_ones_are_the_same(original: str, changed: str) -> None:
    marked = mark(original, changed)
    assert ("".join(marked.original), "".join(marked.changed)) == (original, changed)
    if original and changed:
        assert "".join(marked.original[::2]) == "".join(marked.changed[::2])


@given(WORDS, WORDS)
def test_edits_in_order_without_overlap_give_the_changed_text(original: str, changed: str) -> None:
    found, text = edits(original, changed), original
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
    assert edits(original, changed) == found


def test_a_missing_text_is_not_marked() -> None:
    assert mark("It is blue.", "") == (("It is blue.",), ("",))


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
    mark(original, changed)
    assert process_time() - start < 3


def plain(original: str, changed: str) -> str:
    return inline(original, changed, brackets=True).plain


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
    text = inline("He went home.", "He did not go home.", brackets=False)
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
