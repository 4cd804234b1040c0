"""What a model says in the end: without thoughts and echoes, after a second look, and by the verdict that it marks."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from places import REPOSITORY

from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.language.replies.spoken import extract_final_text, find_marked_verdicts
from contrapose.tasks.probes.orders.letter_replies import read_words

FRUITS = ("pear", "grape", "plum", "fig")
CITIES = ("Madrid", "Porto", "Faro", "Lisbon")
CASES = REPOSITORY.parent / "shared" / "data" / "cases"
JUDGES = "position_bias_mtbench.jsonl.gz"


def read(reply: str, options: tuple[str, ...] = FRUITS) -> int | None:
    return choose(reply, labels="ABCDEF"[: len(options)], options=options).index


@pytest.mark.parametrize("name", ["K14-self-correction", "K16-foreign-negated"])
def test_replies_that_were_read_wrongly_are_read_as_they_mean(name: str) -> None:
    if not CASES.is_dir():
        pytest.skip("the small failing inputs are not beside the checkout")
    rows = [json.loads(line) for line in (CASES / f"{name}.replies.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [read(row["reply"], tuple(row["options"])) for row in rows] == [row["want"] for row in rows]


@pytest.mark.parametrize(
    "reply",
    [
        "<think>Maybe A.</think>B", "Maybe A.</think>B", "<think>A</think>B<think>no, C</think>",
        "<thinking>The answer is A.</thinking>\n\nB", "<reasoning>A is nice.</reasoning>B",
        "<scratchpad>A</scratchpad>B", "<reflection>A</reflection>B", "<seed:think>Answer: A</seed:think>B",
        "[THINK]A is right.[/THINK]B", "◁think▷A◁/think▷B", "<unused94>thought\nAnswer: A<unused95>B",
        "<|begin_of_thought|>A<|end_of_thought|><|begin_of_solution|>B<|end_of_solution|>",
        "<|channel|>analysis<|message|>It is A.<|end|><|start|>assistant<|channel|>final<|message|>B",
        "analysisIt is A, I think.assistantfinalB", "<|channel|>thought\nIt is A.<channel|>B",
        "Thinking...\nIs it A?\n...done thinking.\n\nB", "<|START_THINKING|>A<|END_THINKING|><|START_RESPONSE|>B",
        "Here is my thought process: A is tempting.\nHere is my response: B",
    ],
)  # fmt: skip
def test_thoughts_are_no_answer(reply: str) -> None:
    assert read(reply) == 1


@pytest.mark.parametrize(
    "reply",
    [
        "<think>The answer is A.",
        "<thinking>The answer is A",
        "<|channel|>analysis<|message|>The answer is A",
        "[THINK]A",
    ],
)
def test_thoughts_that_never_end_leave_no_answer(reply: str) -> None:
    assert read(reply) is None
    assert extract_final_text(reply) == ""


@pytest.mark.parametrize(
    "reply",
    ['{"why": "the tag <think> is odd", "answer": "B"}', 'The tag "<think>" opens a thought. The answer is B.'],
)
def test_a_quoted_mark_opens_no_thought(reply: str) -> None:
    assert read(reply) == 1


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("A. Wait, that is wrong. Let me reconsider: D.", 3), ("Answer: A\n\nCorrection: the answer is D.", 3),
        ("The answer is A. Hmm, let me double-check. Yes, A is correct.", 0),
        ("The answer is A. Actually, no.", None), ("A. Wait, I am not sure.", None), ("Answer: B\n\nAnswer: C", None),
        ("~~A~~ D", 3),
    ],
)  # fmt: skip
def test_what_is_taken_back_is_not_chosen(reply: str, place: int | None) -> None:
    assert read(reply, CITIES) == place


@pytest.mark.parametrize(
    "reply",
    [
        "Therefore, option C, plum, cannot be the correct answer.",
        "Thus option B, grape, is unlikely to be the correct answer.", "I doubt that the answer is A.",
        "La respuesta no es A.", "Ce n'est pas la réponse A.", "Die Antwort ist nicht A.", "不选A", "A不对",
        "Vielleicht A.", "可能是A", "A o B",
        "The correct answer is:\n\nD. fig\n\nThe fig is a fruit, so option A is correct.", "The answer is D. grape",
    ],
)  # fmt: skip
def test_denials_doubts_and_contradictions_choose_nothing(reply: str) -> None:
    assert read(reply) is None


@pytest.mark.parametrize(
    ("reply", "options", "place"),
    [
        ("Letter: C", FRUITS, 2),
        ("So, I will give you the letter C.", FRUITS, 2),
        ("| Answer | C |", FRUITS, 2),
        ('{"result": {"answer": "C", "why": "It is one."}}', FRUITS, 2),
        ("{'final_answer': 'C'}", FRUITS, 2),
        ("The figure skater is facing:\n\nB. north", ("south", "north", "east"), 1),
        (
            "The correct answer is (B) Ability to distinguish self and non-self.",
            ("Ability to move", "Ability to distinguish self and non self"),
            1,
        ),
        ("The answer is C. F.O.B. Contract", ("C.I.F. Contract", "Ex ship", "F.O.B. Contract"), 2),
        ("The answer is B. O( N^2 )", ("O( N )", "O( N^2 )", "O( 1 )"), 1),
        (r"So we get $\boxed{\text{B. north}}$.", ("south", "north"), 1),
        ("Die richtige Antwort ist B.", FRUITS, 1),
        ("Nicht A, sondern D.", FRUITS, 3),
        ("C'est la B, car le raisin en est un.", FRUITS, 1),
        ("不选A，应选B。", FRUITS, 1),
    ],
)
def test_plain_final_answers_are_read(reply: str, options: tuple[str, ...], place: int) -> None:
    assert read(reply, options) == place


@pytest.mark.parametrize("lead", ["", "Which is dried?\n", "Which is dried?\nOptions:\n"])
@pytest.mark.parametrize("form", ["{}. {}", "({}) {}", "{}) {}", "{}: {}", "- {}. {}"])
@pytest.mark.parametrize(("end", "place"), [("", None), ("\nAnswer:", None), ("\nAnswer: C", 2)])
def test_an_echo_of_the_options_chooses_nothing(lead: str, form: str, end: str, place: int | None) -> None:
    listing = "\n".join(form.format(label, fruit) for label, fruit in zip("ABCD", FRUITS, strict=True))
    assert read(f"{lead}{listing}{end}") == place


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("Thus Summary B is unlikely to be the correct one.", None),
        ("A is slightly better, but overall it is a tie.", None), ("Response B is incorrect.", None),
        ("I believe that [[B]] is the better assistant in this case.", "B"), ("Both are good.\n\n[[C]]", None),
        ("Output [[A]] if A is better and [[B]] if B is.", None), ("My verdict: [[A>>B]]", "A"),
        ("Both did well.\n\nWinner: Response B", "B"),
        ('{"verdict": {"winner": "response_b", "why": "It is right."}}', "B"),
    ],
)  # fmt: skip
def test_verdicts_of_judges(reply: str, choice: str | None) -> None:
    assert read_words(reply, one_is_right=False).choice == choice


def test_who_calls_one_wrong_chooses_the_other_only_where_one_is_right() -> None:
    blames = "Summary B is wrong about the year."
    assert (read_words(blames).choice, read_words(blames, one_is_right=False).choice) == ("A", None)


def test_verdicts_that_are_only_supposed_are_none() -> None:
    assert find_marked_verdicts("Write [[A]] if A is better. I would not say [[B]].") == []


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_recorded_verdicts_with_one_mark_are_read(step: int, shared_data: Path) -> None:
    if not (shared_data / JUDGES).exists():
        pytest.skip(f"{JUDGES} is not in ../shared/data")
    counted: Counter[str] = Counter()
    with gzip.open(shared_data / JUDGES, "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, step):
            reply = json.loads(line)["reply"]
            marks = re.findall(r"\[\[([ABC])\]\]", reply)
            if len(marks) != 1:
                continue
            choice = read_words(reply, one_is_right=False).choice
            kind = "tie" if marks[0] == "C" else "choice"
            counted[f"{kind} {'read' if choice == marks[0] else 'unread' if choice is None else 'wrong'}"] += 1
    assert counted["choice wrong"] == counted["tie wrong"] == 0
    assert counted["choice read"] >= 0.995 * (counted["choice read"] + counted["choice unread"]) > 4_000 / step
