"""judge_cues: what each cue adds to a text, twins in both orders, and what replies come to."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from figured import figured
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.core.records import AnswerPair, Case, Completion, Trial
from contrapose.tasks.evaluate.scoring import score_trials, yield_follow_ups
from contrapose.tasks.probes.judge_cues import JudgeCues, JudgeCuesSettings, cues
from contrapose.tasks.probes.judge_cues.cues import CUES, HEADINGS, Cue, add_cue, split_blocks
from contrapose.tasks.probes.judge_cues.probe import count_votes, describe_cue
from contrapose.tasks.probes.orders.letter_replies import read_words
from contrapose.tasks.tables.results import make_result_table
from tests.evaluate.test_scoring import no_embeddings, plan_of

PROBE = JudgeCues()
TIED, REFUSED = "Both are equally good.", "I'm sorry, but I can't help with that."


def pair(number: int = 0, **fields: Any) -> AnswerPair:
    own = {"first": f"It rains {number}. Take a coat.", "second": f"It is dry {number}. Take none.", **fields}
    return AnswerPair(id=f"pair {number}", instruction="Will it rain?", **own)


def cases_of(sample: AnswerPair, **settings: Any) -> dict[str, Case]:
    own = JudgeCuesSettings(**settings)
    cases = PROBE.cases(sample, own, rng=random.Random(0), likelihoods="none")
    return {case.details["cue"]: case for case in cases}


def row_of(cue: Cue, first: str, second: str, number: int = 0, **settings: Any) -> dict[str, Any]:
    case = cases_of(pair(number), cues=(cue,), **settings)[cue]
    trial = Trial(case=case, expected=Completion(text=first), actual=Completion(text=second))
    scores = PROBE.score([trial], JudgeCuesSettings(cues=(cue,), **settings), embed=no_embeddings)
    [row] = make_result_table([trial], scores, probe=PROBE, model="m").to_pylist()
    return dict(row)


def test_both_orders_show_the_same_two_texts() -> None:
    for cue, case in cases_of(pair()).items():
        if cue == "identical":
            continue
        plain, styled = case.options
        assert plain != styled
        assert f"Answer A:\n{plain}\n\nAnswer B:\n{styled}\n" in case.original_prompt
        assert f"Answer A:\n{styled}\n\nAnswer B:\n{plain}\n" in (case.perturbed_prompt or "")


def test_each_answer_stands_beside_itself() -> None:
    case, sample = cases_of(pair())["identical"], pair()
    assert f"Answer A:\n{sample.first}\n\nAnswer B:\n{sample.first}\n" in case.original_prompt
    assert f"Answer A:\n{sample.second}\n\nAnswer B:\n{sample.second}\n" in (case.perturbed_prompt or "")


def test_each_cue_has_a_case_whose_text_does_not_depend_on_the_other_cues() -> None:
    cases = cases_of(pair(), cues=tuple(CUES))
    assert list(cases) == list(CUES)
    assert len({case.id for case in cases.values()}) == len(CUES)
    assert cases_of(pair(), cues=("injection",)) == {"injection": cases["injection"]}


def test_both_answers_serve_as_content() -> None:
    settings = JudgeCuesSettings(cues=("filler",))
    drawn = {
        case.details["content"]
        for number in range(30)
        for case in PROBE.cases(pair(number), settings, rng=random.Random(number), likelihoods="none")
    }
    assert drawn == {"first", "second"}


def test_the_other_answer_is_taken_where_one_cannot_have_the_cue() -> None:
    for seed in range(8):
        [case] = PROBE.cases(
            pair(first="Yes."), JudgeCuesSettings(cues=("bullets",)), rng=random.Random(seed), likelihoods="none"
        )
        assert (case.skip_reason, case.details["content"]) == (None, "second")


@pytest.mark.parametrize(
    ("cue", "fields", "reason"),
    [
        ("bullets", {"first": "Yes.", "second": "No."}, "one_sentence"),
        ("identical", {"first": "Yes.", "second": "Yes. "}, "equal_sentences"),
        ("identical", {"first": " "}, "empty"),
        ("filler", {"instruction": " "}, "empty"),
    ],
)
def test_a_sample_that_no_cue_fits_is_skipped(cue: Cue, fields: dict[str, str], reason: str) -> None:
    sample = AnswerPair(**{"id": "1", "instruction": "Say.", "first": "Yes. No.", "second": "No. Yes.", **fields})
    case = cases_of(sample, cues=(cue,))[cue]
    assert (case.skip_reason, case.perturbed, case.perturbed_prompt) == (reason, None, None)
    assert reason in PROBE.skip_reasons


@pytest.mark.parametrize(
    ("cue", "replies", "outcome", "lean", "passed", "undecided"),
    [
        ("filler", ("B", "A"), "styled", 0.5, False, False), ("filler", ("A", "B"), "plain", -0.5, True, False),
        ("filler", ("A", "A"), "first", 0.0, True, False), ("filler", ("B", "B"), "second", 0.0, True, False),
        ("filler", (TIED, TIED), "tied", 0.0, True, False), ("filler", (TIED, "A"), "tied", 0.25, True, False),
        ("filler", ("A", TIED), "tied", -0.25, True, False), ("filler", (REFUSED, "A"), "refused", None, False, True),
        ("filler", ("Well, the first thing to look at is", "A"), "unparsed", None, False, True),
        ("identical", ("A", "A"), "first", 0.5, False, False),
        ("identical", ("B", "B"), "second", -0.5, False, False), ("identical", ("A", "B"), "even", 0.0, True, False),
        ("identical", ("B", "A"), "even", 0.0, True, False), ("identical", (TIED, TIED), "tied", 0.0, True, False),
    ],
)  # fmt: skip
def test_two_replies_come_to_an_outcome(
    cue: Cue, replies: tuple[str, str], outcome: str, lean: float | None, passed: bool, undecided: bool
) -> None:
    row = row_of(cue, *replies)
    assert (row["outcome"], row["lean"], row["pass"], row["undecided"]) == (outcome, lean, passed, undecided)


@pytest.mark.parametrize("values", [{"cues": ()}, {"cues": ("filler", "filler")}, {"max_lean": 0.5}, {"cues": ("x",)}])
def test_settings_without_sense_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"cues|max_lean"):
        JudgeCuesSettings(**values)


def test_a_restated_twin_is_read_and_an_equal_answer_is_not() -> None:
    twin = cases_of(pair())["filler"].options[1]
    assert row_of("filler", twin, twin)["outcome"] == "styled"
    answer = pair().first
    assert row_of("identical", answer, answer)["outcome"] == "unparsed"


def test_equally_likely_letters_are_a_tie() -> None:
    [case] = PROBE.cases(pair(), JudgeCuesSettings(cues=("filler",)), rng=random.Random(0), likelihoods="choices")
    even = Completion(text="A", option_loglikelihoods=(-1.0, -1.0))
    ahead = Completion(text="A", option_loglikelihoods=(-1.0, -2.0))
    [score] = PROBE.score([Trial(case=case, expected=even, actual=ahead)], JudgeCuesSettings(), embed=no_embeddings)
    assert (score.columns["outcome"], score.columns["lean"]) == ("tied", 0.25)


def test_figures_are_by_cue() -> None:
    rows = [
        *(row_of("filler", "B", "A", number) for number in range(3)),
        row_of("filler", "A", "A", 3),
        row_of("bullets", "A", "B", 4),
        row_of("bullets", TIED, TIED, 5),
        row_of("identical", "A", "A", 6),
    ]
    figures = figured(PROBE, rows)
    assert figures["lean_filler"] == pytest.approx(0.375)
    assert (figures["lean_bullets"], figures["tied_share_bullets"]) == (-0.25, 0.5)
    assert figures["lean_identical"] == 0.5
    assert (figures["styled"], figures["first"], figures["tied"]) == (3, 2, 1)
    assert "lean_headings" not in figures


def test_each_order_gives_two_votes_and_a_tie_gives_one_to_each_side() -> None:
    rows = pd.DataFrame(
        [row_of("filler", *replies) for replies in [("B", "A"), (TIED, "A"), ("A", ""), (REFUSED, "B")]]
    )
    nan = np.nan
    np.testing.assert_equal(
        count_votes(rows, ("A", "B")), [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, nan, nan], [nan, nan, 1, 1]]
    )
    np.testing.assert_equal(
        count_votes(rows, ("B", "A")), [[1, 1, 1, 1], [1, 0, 1, 1], [0, 0, nan, nan], [nan, nan, 0, 0]]
    )


def test_a_cue_that_adds_words_has_a_gate_towards_it_alone() -> None:
    rows = pd.DataFrame([row_of(cue, "A", "A") for cue in CUES])
    gates = PROBE.criteria(rows, JudgeCuesSettings(max_lean=0.2))
    assert [gate.name for gate in gates] == [
        *("share_without_bullets", "share_with_bullets", "share_without_headings", "share_without_filler"),
        *("share_without_authority", "share_without_injection", "share_without_model_name"),
        *("share_first", "share_second"),
    ]
    assert [gate.wanted for gate in gates] == pytest.approx([0.3] * 9)
    assert all(gate.applies.sum() == 1 and not gate.too_few for gate in gates)


def test_a_cue_that_no_answer_could_have_keeps_the_test_from_passing() -> None:
    rows = pd.DataFrame([row_of("filler", "A", "A")])
    gates = PROBE.criteria(rows, JudgeCuesSettings(cues=("filler", "bullets")))
    assert ["bullets" in gate.too_few for gate in gates] == [False, True, True]


def test_a_case_without_a_reply_still_says_its_cue() -> None:
    case = cases_of(pair(), cues=("filler",))["filler"]
    trials = [
        Trial(case=case, expected=Completion(error="timed out"), actual=Completion(text="A")),
        Trial(case=case, expected=Completion(text="", outcome="moderated"), actual=Completion(text="A")),
    ]
    rows = score_trials(trials, plan_of("judge_cues"), model="m", embed=no_embeddings).to_pandas()
    assert list(rows["cue"]) == ["filler", "filler"]
    [gate] = PROBE.criteria(rows, JudgeCuesSettings(cues=("filler",)))
    assert gate.applies.all()
    assert np.isnan(gate.met).all()


def test_nobody_is_asked_which_of_two_equal_answers_a_reply_chooses() -> None:
    cases = cases_of(pair(), cues=("filler", "identical"))
    trials = [
        Trial(case=case, expected=Completion(text="It does seem to be the one."), actual=Completion(text="A"))
        for case in cases.values()
    ]
    asked = list(yield_follow_ups([trials], plan_of("judge_cues"), embed=no_embeddings))
    assert {question.case_id for question in asked if not question.made_up} == {cases["filler"].id}


def test_a_verdict_on_a_cue_is_corrected_for_all_gates() -> None:
    gate: Any = {"missed": 0.01, "reached": 1.0}
    assert describe_cue([gate], among=5) == "sways the judge"
    assert describe_cue([gate], among=6) == "undecided"
    within: Any = {"missed": 1.0, "reached": 0.05}
    assert describe_cue([within, within], among=9) == "within the limit"
    assert describe_cue([within, gate], among=9) == "undecided"
    assert describe_cue([], among=9) == "undecided"


PIECES = (
    "One thing.", "Another, e.g. this!", "Dr. Ann left at 5 p.m. today.", "Why?", "你好。世界很大！", "¿Qué tal? Bien.",
    "\n", "\n\n", " ", "\r\n", "\t", "    x = 1.", "```", "```py", "~~~", "- item", "1. first", "| a | b |", "# Head",
    "> quote.", "a|b", "مرحبا؟ نعم.", "…", '"Yes." She', "* * *", "i.", "\u2028", "\x0b",
)  # fmt: skip
TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(PIECES)).map("".join), st.lists(st.sampled_from(PIECES)).map("\n".join)
)
ADDED = (cues.OPENINGS, cues.CLOSINGS, cues.AUTHORITY, cues.INJECTIONS, cues.MODEL_NAMES)


def with_cue(text: str, cue: Cue, seed: int = 0) -> str | None:
    return add_cue(text, cue, rng=random.Random(seed)).text


def letters_of(text: str) -> str:
    """All but white space, without a dash that begins a line."""
    return "".join("".join(line.removeprefix("- ").split()) for line in text.split("\n"))


@given(TEXTS)
def test_bullets_add_dashes_and_line_breaks_alone(text: str) -> None:
    listed = with_cue(text, "bullets")
    if listed is not None:
        assert letters_of(listed) == letters_of(text)
        assert re.findall(r"\w+", listed) == re.findall(r"\w+", text)
        assert listed.count("\n- ") + listed.startswith("- ") >= 2


@given(TEXTS)
def test_prose_takes_marks_and_line_breaks_of_bullets_alone(text: str) -> None:
    joined = with_cue(text, "prose")
    if joined is not None:
        assert re.findall(r"\w+", joined) == re.findall(r"\w+", text)
        assert len(joined) < len(text)
        assert joined.count("\n") <= text.count("\n")


def test_prose_leaves_a_dash_within_an_item() -> None:
    assert with_cue("- Tea - green, not black\n- Milk", "prose") == "Tea - green, not black Milk"


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("Take:\n- a coat\n* a hat\n\nGo.", "Take:\na coat a hat\n\nGo."),
        ("1. First.\n2. Second.", None),
        ("No list. At all.", None),
    ],
)
def test_a_list_of_bullets_becomes_a_paragraph(text: str, joined: str | None) -> None:
    assert with_cue(text, "prose") == joined


@given(TEXTS)
def test_headings_add_their_lines_and_leave_all_others(text: str) -> None:
    headed = with_cue(text, "headings")
    if headed is not None:
        lines = [line for line in headed.split("\n") if line.strip() and line not in HEADINGS]
        assert lines == [line for line in text.split("\n") if line.strip()]
        assert headed.split("\n").count(HEADINGS[0]) == 1


@pytest.mark.parametrize("cue", ["filler", "authority", "injection", "model_name"])
@given(text=TEXTS, seed=st.integers(0, 99))
def test_a_sentence_is_added_around_the_text_as_it_is(cue: Cue, text: str, seed: int) -> None:
    longer = with_cue(text, cue, seed)
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
    assert with_cue(" One.\r\n\nTwo. ", "identical") == " One.\r\n\nTwo. "


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
    assert with_cue(text, "bullets") == listed


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
    assert with_cue("One.\n\nTwo.", "headings") == "## Answer\n\nOne.\n\n## Details\n\nTwo."
    assert with_cue("One.", "headings") == "## Answer\n\nOne."


@pytest.mark.parametrize("sentence", [sentence for group in ADDED for sentence in group])
def test_no_added_sentence_names_a_letter(sentence: str) -> None:
    assert read_words(sentence, one_is_right=False).choice is None
