from __future__ import annotations

from contrapose.tasks.text.inline import elide_middle, inline

LONG = "The committee met every week and read many letters. " * 100


def plain(original: str, changed: str) -> str:
    return inline(original, changed, brackets=True).plain


def test_without_colours_brackets_mark_the_change() -> None:
    assert plain("He went home.", "He did not go home.") == "He [-went-]{+did not go+} home."


def test_with_colours_styles_mark_the_change() -> None:
    text = inline("He went home.", "He did not go home.", brackets=False)
    assert text.plain == "He wentdid not go home."
    assert [(text.plain[span.start : span.end], span.style) for span in text.spans] == [
        ("went", "strike red"),
        ("did not go", "bold green"),
    ]


def test_blanks_stay_outside_the_brackets() -> None:
    assert plain("It is blue.", "It is not blue.") == "It is {+not+} blue."


def test_the_change_stays_in_view_in_a_long_text() -> None:
    found = plain(f"{LONG}It is blue. {LONG}", f"{LONG}It is not blue. {LONG}")
    assert "It is {+not+} blue. The committee" in found
    assert found.startswith("[... 5,0")
    assert found.endswith(" characters ...]")
    assert len(found) < 320


def test_what_lies_between_two_changes_is_left_out() -> None:
    found = plain(LONG, f"Oh, {LONG}indeed")
    assert found.startswith("{+Oh,+} The committee")
    assert found.endswith("letters. {+indeed+}")
    assert len(found) < 320


def test_a_long_change_is_cut_too() -> None:
    assert len(plain("Short.", LONG)) < 560


def test_a_line_break_that_came_is_seen() -> None:
    assert plain("one two", "one\ntwo") == "one[- -]{+\\n\n+}two"


def test_markup_in_a_text_is_text() -> None:
    assert plain("[bold]x[/bold] is", "[bold]x[/bold] is not") == "[bold]x[/bold] is {+not+}"


def test_a_text_that_is_hardly_too_long_is_shown_whole() -> None:
    assert elide_middle("word " * 12, head=10, tail=20) == "word " * 12


def test_what_was_left_out_is_counted() -> None:
    assert elide_middle("first word " + "x" * 100 + " last word", head=12, tail=12) == (
        "first word [... 102 characters ...] last word"
    )
