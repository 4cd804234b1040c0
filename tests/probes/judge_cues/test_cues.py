"""Cues: each adds only what it says it adds, to any text, or gives its reason why not."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.probes.judge_cues import cues
from contrapose.tasks.probes.judge_cues.cues import CUES, HEADINGS, Cue, add_cue, split_blocks
from contrapose.tasks.probes.orders.letter_replies import read_words

PIECES = (
    *(
        "One thing.", "Another, e.g. this!", "Dr. Ann left at 5 p.m. today.", "Why?", "你好。世界很大！",
        "¿Qué tal? Bien.",
    ),
    *(
        "\n",
        "\n\n",
        " ",
        "\r\n",
        "\t",
        "    x = 1.",
        "```",
        "```py",
        "~~~",
        "- item",
        "1. first",
        "| a | b |",
        "# Head",
    ),
    *("> quote.", "a|b", "مرحبا؟ نعم.", "…", '"Yes." She', "* * *", "i.", "\u2028", "\x0b"),
)  # fmt: skip
TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(PIECES)).map("".join), st.lists(st.sampled_from(PIECES)).map("\n".join)
)
ADDED = (cues.OPENINGS, cues.CLOSINGS, cues.AUTHORITY, cues.INJECTIONS, cues.MODEL_NAMES)


def styled(text: str, cue: Cue, seed: int = 0) -> str | None:
    return add_cue(text, cue, rng=random.Random(seed)).text


def letters_of(text: str) -> str:
    """All but white space, without a dash that begins a line."""
    return "".join("".join(line.removeprefix("- ").split()) for line in text.split("\n"))


@given(TEXTS)
def test_bullets_add_dashes_and_line_breaks_alone(text: str) -> None:
    listed = styled(text, "bullets")
    if listed is not None:
        assert letters_of(listed) == letters_of(text)
        assert re.findall(r"\w+", listed) == re.findall(r"\w+", text)
        assert listed.count("\n- ") + listed.startswith("- ") >= 2


@given(TEXTS)
def test_prose_takes_marks_and_line_breaks_of_bullets_alone(text: str) -> None:
    joined = styled(text, "prose")
    if joined is not None:
        assert re.findall(r"\w+", joined) == re.findall(r"\w+", text)
        assert len(joined) < len(text)
        assert joined.count("\n") <= text.count("\n")


def test_prose_leaves_a_dash_within_an_item() -> None:
    assert styled("- Tea - green, not black\n- Milk", "prose") == "Tea - green, not black Milk"


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("Take:\n- a coat\n* a hat\n\nGo.", "Take:\na coat a hat\n\nGo."),
        ("1. First.\n2. Second.", None),
        ("No list. At all.", None),
    ],
)
def test_a_list_of_bullets_becomes_a_paragraph(text: str, joined: str | None) -> None:
    assert styled(text, "prose") == joined


@given(TEXTS)
def test_headings_add_their_lines_and_leave_all_others(text: str) -> None:
    headed = styled(text, "headings")
    if headed is not None:
        lines = [line for line in headed.split("\n") if line.strip() and line not in HEADINGS]
        assert lines == [line for line in text.split("\n") if line.strip()]
        assert headed.split("\n").count(HEADINGS[0]) == 1


@pytest.mark.parametrize("cue", ["filler", "authority", "injection", "model_name"])
@given(text=TEXTS, seed=st.integers(0, 99))
def test_a_sentence_is_added_around_the_text_as_it_is(cue: Cue, text: str, seed: int) -> None:
    longer = styled(text, cue, seed)
    if longer is not None:
        plain = text.strip("\n")
        sentences = {sentence for group in ADDED for sentence in group}
        known = sentences | {f"{one} {other}" for one in cues.CLOSINGS for other in cues.CLOSINGS} | {""}
        places = [place for place in range(len(longer)) if longer.startswith(plain, place)]
        around = [(longer[:place].strip(), longer[place + len(plain) :].strip()) for place in places]
        assert any(known.issuperset(parts) for parts in around)
        assert longer != text


@given(TEXTS)
def test_blocks_are_the_text(text: str) -> None:
    assert "\n".join(block.text for block in split_blocks(text)) == text


@given(TEXTS)
def test_a_text_has_a_cue_or_a_reason(text: str) -> None:
    for cue in CUES:
        made = add_cue(text, cue, rng=random.Random(0))
        assert (made.text is None) != (made.reason is None)


def test_an_equal_answer_is_equal_byte_for_byte() -> None:
    assert styled(" One.\r\n\nTwo. ", "identical") == " One.\r\n\nTwo. "


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("Dr. Ann came. She left at 5 p.m. today.", "- Dr. Ann came.\n- She left at 5 p.m. today."),
        ('"Why?" he asked. Nobody knew.', '- "Why?" he asked.\n- Nobody knew.'),
        ("One line\nis wrapped. Another\nis too.", "- One line\nis wrapped.\n- Another\nis too."),
        ("A first. A second.\n\nA third.", "- A first.\n- A second.\n\n- A third."),
        ("你好。世界很大！", "- 你好。\n- 世界很大！"),
        (
            "Use this. Then that.\n```py\nx = 1. \n- y. Z.\n```\nDone.",
            "- Use this.\n- Then that.\n```py\nx = 1. \n- y. Z.\n```\n- Done.",
        ),
        ("See here. And there.\n| a. B | c |\n|---|---|", "- See here.\n- And there.\n| a. B | c |\n|---|---|"),
        ("# Title\nOne. Two.", "# Title\n- One.\n- Two."),
    ],
)
def test_each_sentence_of_the_prose_is_an_item(text: str, listed: str) -> None:
    assert styled(text, "bullets") == listed


@pytest.mark.parametrize(
    ("text", "cue", "reason"),
    [
        ("Yes.", "bullets", "one_sentence"),
        ("A poem without an end\nof any line", "bullets", "one_sentence"),
        ("```\na. B. c. D.\n```", "bullets", "one_sentence"),
        ("Two things. They are:\n* this\n* that", "bullets", "has_list"),
        ("1. This. Here.\n2. That.", "bullets", "has_list"),
        ("Intro.\n## Part\nText.", "headings", "has_headings"),
        ("Code:\n```\nx = 1", "injection", "open_code"),
        ("Der Hund schläft unter dem Tisch und träumt.", "filler", "not_english"),
        (" \n", "identical", "empty"),
    ],
)
def test_a_text_that_cannot_have_a_cue_says_why(text: str, cue: Cue, reason: str) -> None:
    assert add_cue(text, cue, rng=random.Random(0)).reason == reason


def test_two_headings_stand_above_two_paragraphs() -> None:
    assert styled("One.\n\nTwo.", "headings") == "## Answer\n\nOne.\n\n## Details\n\nTwo."
    assert styled("One.", "headings") == "## Answer\n\nOne."


@pytest.mark.parametrize("sentence", [sentence for group in ADDED for sentence in group])
def test_no_added_sentence_names_a_letter(sentence: str) -> None:
    assert read_words(sentence, one_is_right=False).choice is None
