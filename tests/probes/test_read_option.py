"""Reading which of several options a reply chooses."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.choices import read_option
from contrapose.tasks.probes.replies.known_errors import WITH_OPTIONS
from contrapose.tasks.probes.replies.options import choose

GOLDEN = Path(__file__).parent.parent / "golden"
SETS = ("replies_options", "replies_options_2", "replies_options_3")
SPLITS = [*((name, split) for name in SETS[:2] for split in ("tune", "held_out")), (SETS[2], "tune")]
SHAPES = ("cube", "cone", "sphere", "disc")
METALS = ("copper", "iron", "wood", "glass")
TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@cache
def golden(name: str, split: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["split"] == split]


def read(reply: str, options: Sequence[str] = METALS) -> str | None:
    index = read_option(reply, labels=letters(len(options)), options=options)
    return None if index is None else letters(len(options))[index]


def test_of_all_golden_replies_98_5_percent_are_read_as_labelled() -> None:
    rows = [row for name, split in SPLITS for row in golden(name, split)]
    assert sum(read(row["reply"], row["options"]) == row["choice"] for row in rows) / len(rows) >= 0.985


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_golden_replies_are_read_as_labelled(name: str, split: str) -> None:
    rows = golden(name, split)
    right = sum(read(row["reply"], row["options"]) == row["choice"] for row in rows)
    assert right / len(rows) >= 0.98


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_no_golden_reply_is_given_an_option_that_it_does_not_choose(name: str, split: str) -> None:
    read_as = [(row["reply"], row["choice"], read(row["reply"], row["options"])) for row in golden(name, split)]
    assert [each for each in read_as if each[2] not in (None, each[1])] == []


def test_the_known_error_is_that_of_the_golden_replies() -> None:
    rows = [row for split in ("tune", "held_out") for row in golden("replies_options_2", split)]
    for known in WITH_OPTIONS.by_letter:
        found = [read(row["reply"], row["options"]) for row in rows if row["choice"] == known.letter]
        missed, misread = found.count(None), sum(each not in (None, known.letter) for each in found)
        assert (len(found), missed, misread) == (known.replies, known.missed, known.misread)


@pytest.mark.parametrize("letter", "ABCDEFGHIJ")
def test_no_letter_is_read_more_often_than_another_in_golden_replies(letter: str) -> None:
    rows = [row for split in ("tune", "held_out") for row in golden("replies_options_2", split)]
    of_letter = [row for row in rows if row["choice"] == letter]
    assert sum(read(row["reply"], row["options"]) is None for row in of_letter) <= max(1, 0.03 * len(of_letter))


@pytest.mark.parametrize(
    "template",
    ["{}", "({})", "{} is correct.", "Answer: {}", "I choose option {}", '{{"answer": "{}"}}', "\\boxed{{{}}}"],
)
@pytest.mark.parametrize("letter", "ABCDEFGHIJ")
def test_every_letter_is_read_by_the_same_rules(template: str, letter: str) -> None:
    assert read(template.format(letter), TEN) == letter


def test_the_pronoun_is_no_letter() -> None:
    assert read("I think the answer is C.", TEN) == "C"
    assert read("I do not know.", TEN) is None


@pytest.mark.parametrize(
    "reply", ["A metal.", "A or B", "both A and C", "none", "not B", "E. coli is alive.", "Answer: E"]
)
def test_what_chooses_no_option_is_read_as_none(reply: str) -> None:
    assert read(reply) is None


def test_a_letter_with_another_options_text_is_contradictory() -> None:
    assert read("A. iron") is None
    assert read("B. iron") == "B"


def test_an_option_is_read_before_the_reason_for_it() -> None:
    assert read("Copper, because it conducts well.") == "A"
    assert read("Copper, iron or wood.") is None


def test_an_option_within_another_is_told_apart() -> None:
    assert read("iron ore, from a mine", ("iron", "iron ore")) == "B"


def test_an_article_before_an_option_is_no_letter() -> None:
    assert read("A library.", ("a bank", "a library")) == "B"


def test_places_count_as_letters() -> None:
    assert (read("The third option."), read("Option 4")) == ("C", "D")


def test_a_next_question_is_not_read() -> None:
    assert read("B\n\nQuestion: What burns?\nA. iron\nC. wood\nAnswer: C") == "B"


@pytest.mark.parametrize(
    "reply",
    ["I think it's a sphere.", "A sphere would be the right thing.", "My answer is sphere.", "It's the sphere.",
     "Sphere, because it has no edges.", "The object is a sphere", "A sphere.", "A SPHERE"],
)  # fmt: skip
def test_the_text_of_an_option_is_read_and_its_article_is_no_letter(reply: str) -> None:
    assert read(reply, SHAPES) == "C"


@pytest.mark.parametrize(
    "reply",
    ["It's a ball.", "A ball", "a: I don't know.", "A solid would be best.", "The answer is a", "Not a sphere.",
     "A cube cannot roll, a disc is flat.", "I think a ball is meant."],
)  # fmt: skip
def test_an_article_is_never_a_letter(reply: str) -> None:
    assert read(reply, SHAPES) is None


@pytest.mark.parametrize(
    "reply",
    ["Option A, which has six faces, is wrong.", "Option A, however, has edges.", "Option A, on the other hand, rolls.",
     "Option A, by contrast, rolls.", "Unlike option A, it rolls.", "Option A, as written, rolls.",
     "If it had edges, the answer would be A.", "Some would say A.", "The wrong answer is A.", "Is it A?"],
)  # fmt: skip
def test_an_option_that_is_only_spoken_of_is_not_chosen(reply: str) -> None:
    assert read(reply, SHAPES) is None


@pytest.mark.parametrize(
    ("reply", "options", "letter"),
    [
        ("None of the above.", ("cube", "cone", "None of the above"), "C"),
        ("None of the above.", SHAPES, None),
        ("C. No correct answer is given.", ("cube", "cone", "No correct answer"), "C"),
        ("E. Refused", ("1", "2", "3", "4", "Refused"), "E"),
        ("I refuse to answer.", ("1", "2", "3", "4", "Refused"), None),
        ("Both A and B", ("the driver", "the cyclist", "Both A and B"), "C"),
        ("Both A and B", SHAPES, None),
        ("I am not sure which one it is.", ("cube", "I am not sure"), None),
    ],
)
def test_options_about_the_options_are_options(reply: str, options: Sequence[str], letter: str | None) -> None:
    assert read(reply, options) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("A is wrong because it has edges. B is tempting, but it has a point. Therefore C.", "C"),
        ("A. cube: has edges\nB. cone: has a point\nC. sphere: round\nD. disc: flat\n\nSo the answer is C.", "C"),
        ("A. cube: has edges\nB. cone: has a point\nC. sphere: round\nD. disc: flat", None),
        ("B. cone. Wait, the answer is C.", None),
    ],
)
def test_what_is_weighed_is_read_by_its_final_answer(reply: str, letter: str | None) -> None:
    assert read(reply, SHAPES) == letter


@pytest.mark.parametrize(
    ("reply", "step"),
    [("(b)", "letter"), ("Answer: B", "pattern"), ("B. cone", "pattern"), ("A cone.", "restated"), ("Hm", "unparsed")],
)
def test_the_step_that_decided_is_recorded(reply: str, step: str) -> None:
    chosen = choose(reply, labels="ABCD", options=SHAPES)
    assert (chosen.step, chosen.index) == (step, None if step == "unparsed" else 1)


def test_signs_and_units_tell_numbers_apart() -> None:
    assert (read("-5", ("5", "-5")), read("50%", ("50", "50%")), read("1/2", ("1", "2", "1/2"))) == ("B", "B", "C")


FRAGMENTS = (
    "({0})", "{0}.", "{0}. {t0}", "{0}) {t0}", "the {t0}.", "Answer: {0}.", "The answer is {0}.", "The answer is {t0}.",
    "Therefore, {0}.", "{0} is wrong.", "{0} is correct.", "Not {0}.", "{0} or {1}.", "({0}) and ({1}).", "{0}: {t1}",
    "{0}. {t1}", "Option {0}", "Option {0}, which has edges, is wrong.", "It's {0}.", "I choose {0}.", "Maybe {0}.",
    "I think it's the {t0}.", "{0}?", "The best option is:\n\n{0}. {t0}", "Explanation:", "because it is round.",
    "Unlike {0}, {1} is the best answer.", "**{0}**", '"{0}".', "the {t0} ({0}).", "However,", "None of the above.",
)  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from(FRAGMENTS), st.permutations(range(4))), min_size=1, max_size=4),
    st.permutations(range(4)),
    st.sampled_from(["\n", "\n\n", " "]),
)
def test_other_letters_for_the_same_options_are_read_alike(
    parts: list[tuple[str, list[int]]], order: list[int], between: str
) -> None:
    def chosen(letter_of: Sequence[int]) -> str | None:
        said = between.join(
            fragment.format("ABCD"[letter_of[a]], "ABCD"[letter_of[b]], t0=SHAPES[a], t1=SHAPES[b])
            for fragment, (a, b, *_) in parts
        )
        shown = sorted(SHAPES, key=lambda shape: letter_of[SHAPES.index(shape)])
        letter = read(said, shown)
        return None if letter is None else shown["ABCD".index(letter)]

    assert chosen(order) == chosen(range(4))


@given(st.text(max_size=80))
def test_any_text_is_read_without_error(reply: str) -> None:
    assert read(reply) in (None, "A", "B", "C", "D")


HOSTILE = (
    " ", "\n", "\t", " \n", "\r\n", "A", "A, ", "A. ", "A or ", "(", "*", "_", '"', "=", "- ", "B. iron ",
    "copper (", "\\boxed{", "I say ", "Q: A\n", "A\n", "? ", "the best ", "the answer is ", "my best most ",
    "option A ", "so ", "[", "<answer>",
)  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_a_hostile_megabyte_is_read_at_once(part: str) -> None:
    started = time.process_time()
    read("A " + part * (1_000_000 // len(part)) + " B")
    assert time.process_time() - started < 2


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("count", [1_000, 4_000])
def test_a_hostile_page_is_read_at_once(part: str, count: int) -> None:
    started = time.process_time()
    read("A " + part * count + " B")
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("B. cone", "B"),
        ("The cone.", "B"),
        ("A cone is right.", "B"),
        ("I think it is C.", "C"),
        ("I'd choose the third option.", "C"),
        ("Option 3", "C"),
        ("Choice number two", "B"),
        ("The shape is:\n\nB. cone", "B"),
        ("It's a cone. It isn't a sphere.", "B"),
        ("cone, because it has a tip", "B"),
        ("cone, option B", "B"),
        ("The cone (B) is right.", "B"),
        ("The answer is the cone, which is B.", "B"),
        ("B. The shape with a tip.", "B"),
        ("B because it has a tip", "B"),
        ("B is the best choice.", "B"),
        ("The answer is B. Therefore, C.", "C"),
        ("THE ANSWER IS B.", "B"),
        ("\\boxed{C}", "C"),
        ("I choose B.\nQuestion: What rolls?\nAnswer: C", "B"),
        ("I do not know.\nQuestion: What rolls?\nAnswer: C", "C"),
    ],
)
def test_letters_numbers_and_texts_choose_an_option(reply: str, letter: str) -> None:
    assert read(reply, SHAPES) == letter


@pytest.mark.parametrize(
    "reply",
    [
        *("I", "Option five", "E. coli", "The answer is E.", "B. sphere", "The answer is B. sphere"),
        *("A is wrong. B is wrong.", "A. cube is wrong because it has edges.", "The answer is B. Or maybe C?"),
        *("The answer is B, but it depends.", "The answer is B. It depends on the size.", "The answer could be B."),
        *("If it rolls, the answer is C.", "B is the best guess but it is wrong.", "cone or sphere", "Is it B?"),
        *("The cone and the sphere are round.", "It is a cone, and a disc is flat.", "C is correct. B is correct."),
        *("Both B and C", "None of these", "Vitamin B is good.", "J. K. Rowling likes B.", "B. cone. But it depends."),
        *("Let's see.\n- A. cube\n- B. cone\n- C. sphere\nD", "It has a tip. It's a cone."),
    ],
)
def test_what_names_no_one_option_chooses_none(reply: str) -> None:
    assert read(reply, SHAPES) is None
