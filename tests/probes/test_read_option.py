"""Reading which of several options a reply chooses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import golden_rows

from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.known_errors import WITH_OPTIONS

SETS = ("replies_options", "replies_options_2", "replies_options_3")
SPLITS = [*((name, split) for name in SETS[:2] for split in ("tune", "held_out")), (SETS[2], "tune")]
SHAPES = ("cube", "cone", "sphere", "disc")
METALS = ("copper", "iron", "wood", "glass")
TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def read(reply: str, options: Sequence[str] = METALS) -> str | None:
    index = choose(reply, labels=letters(len(options)), options=options).index
    return None if index is None else letters(len(options))[index]


@cache
def golden_readings(name: str, split: str) -> list[tuple[str, str | None, str | None]]:
    """Each reply of a golden set, what it chooses, and what is read."""
    rows = golden_rows(name, split)
    return [(row["reply"], row["choice"], read(row["reply"], row["options"])) for row in rows]


def test_of_all_golden_replies_98_5_percent_are_read_as_labelled() -> None:
    read_as = [one for name, split in SPLITS for one in golden_readings(name, split)]
    assert sum(letter == choice for _, choice, letter in read_as) / len(read_as) >= 0.985


@pytest.mark.parametrize(("name", "split"), SPLITS)
def test_golden_replies_are_read_as_labelled_and_none_as_what_it_does_not_choose(name: str, split: str) -> None:
    read_as = golden_readings(name, split)
    assert sum(letter == choice for _, choice, letter in read_as) / len(read_as) >= 0.98
    assert [each for each in read_as if each[2] not in (None, each[1])] == []


def test_the_known_error_is_that_of_the_golden_replies() -> None:
    read_as = [one for split in ("tune", "held_out") for one in golden_readings("replies_options_2", split)]
    for known in WITH_OPTIONS.by_letter:
        found = [letter for _, choice, letter in read_as if choice == known.letter]
        missed, misread = found.count(None), sum(each not in (None, known.letter) for each in found)
        assert (len(found), missed, misread) == (known.replies, known.missed, known.misread)


@pytest.mark.parametrize("letter", "ABCDEFGHIJ")
def test_no_letter_is_read_more_often_than_another_in_golden_replies(letter: str) -> None:
    read_as = [one for split in ("tune", "held_out") for one in golden_readings("replies_options_2", split)]
    unread = [found is None for _, choice, found in read_as if choice == letter]
    assert sum(unread) <= max(1, 0.03 * len(unread))


@pytest.mark.parametrize(
    "template",
    ["{}", "({})", "{} is correct.", "Answer: {}", "I choose option {}", '{{"answer": "{}"}}', "\\boxed{{{}}}"],
)
@pytest.mark.parametrize("letter", "ABCDEFGHIJ")
def test_every_letter_is_read_by_the_same_rules(template: str, letter: str) -> None:
    assert read(template.format(letter), TEN) == letter


@pytest.mark.parametrize(
    ("reply", "step"),
    [("(b)", "letter"), ("Answer: B", "pattern"), ("B. cone", "pattern"), ("A cone.", "restated"), ("Hm", "unparsed")],
)
def test_the_step_that_decided_is_recorded(reply: str, step: str) -> None:
    chosen = choose(reply, labels="ABCD", options=SHAPES)
    assert (chosen.step, chosen.index) == (step, None if step == "unparsed" else 1)


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
def test_a_hostile_page_and_book_are_read_at_once(part: str) -> None:
    for characters, seconds in ((4_000 * len(part), 1.0), (200_000, 0.4)):
        started = time.process_time()
        read("A " + part * (characters // len(part)) + " B")
        # What was quadratic took 1.7 s for 4,000 parts.
        assert time.process_time() - started < seconds


OF_SHAPES: dict[str | None, tuple[str, ...]] = {
    "B": (
        "B. cone", "The cone.", "A cone is right.", "Choice number two", "The shape is:\n\nB. cone", "cone, option B",
        "It's a cone. It isn't a sphere.", "cone, because it has a tip", "The cone (B) is right.", "THE ANSWER IS B.",
        "The answer is the cone, which is B.", "B. The shape with a tip.", "B because it has a tip",
        "B is the best choice.", "The answer is B. Therefore, B.", "I choose B.\nQuestion: What rolls?\nAnswer: C",
    ),
    "C": (
        "I think it is C.", "I'd choose the third option.", "Option 3", "\\boxed{C}", "I think it's a sphere.",
        "I do not know.\nQuestion: What rolls?\nAnswer: C", "A sphere would be the right thing.", "It's the sphere.",
        "My answer is sphere.", "Sphere, because it has no edges.", "The object is a sphere", "A sphere.", "A SPHERE",
        "A is wrong because it has edges. B is tempting, but it has a point. Therefore C.",
        "A. cube: has edges\nB. cone: has a point\nC. sphere: round\nD. disc: flat\n\nSo the answer is C.",
        "B. cone. Wait, the answer is C.",
    ),
    None: (
        "It's a ball.", "A ball", "a: I don't know.", "A solid would be best.", "The answer is a", "Not a sphere.",
        "A cube cannot roll, a disc is flat.", "I think a ball is meant.", "Option A, which has six faces, is wrong.",
        "Option A, however, has edges.", "Option A, on the other hand, rolls.", "Option A, by contrast, rolls.", "I",
        "Unlike option A, it rolls.", "Option A, as written, rolls.", "If it had edges, the answer would be A.",
        "Some would say A.", "The wrong answer is A.", "Is it A?", "Option five", "E. coli", "The answer is E.",
        "B. sphere", "The answer is B. sphere", "A is wrong. B is wrong.", "A. cube is wrong because it has edges.",
        "The answer is B. Or maybe C?", "The answer is B, but it depends.", "The answer is B. It depends on the size.",
        "The answer could be B.", "If it rolls, the answer is C.", "B is the best guess but it is wrong.", "Is it B?",
        "cone or sphere", "The cone and the sphere are round.", "It is a cone, and a disc is flat.", "Both B and C",
        "C is correct. B is correct.", "None of these", "Vitamin B is good.", "J. K. Rowling likes B.",
        "B. cone. But it depends.", "Let's see.\n- A. cube\n- B. cone\n- C. sphere\nD",
        "The answer is B. Therefore, C.", "A. cube: has edges\nB. cone: has a point\nC. sphere: round\nD. disc: flat",
    ),
}  # fmt: skip
"""Replies to a question whose options are cube, cone, sphere and disc, by what they choose."""
OF_METALS: dict[str | None, tuple[str, ...]] = {
    "A": (
        "A. copper", "A) copper", "(A) copper", "A: copper", "A - copper", "A, copper", "A copper", "copper (A)",
        "copper, option A", "copper, which is option A", "copper A", "copper: A", "A\niron is heavy", "A.\ncopper",
        "A.\ncopper conducts.", "Answer: A\niron rusts", "Answer: A\n\ncopper", "The answer is A.\nCopper conducts.",
        "The answer is:\ncopper", "The answer is\ncopper", "the first option", "first", "I choose a.", "option a",
        "A", "A is best", "A is best.", "A would be right", "A because it conducts.", "A since it conducts.",
        "A as it conducts.", "A seems right", "A it is", "A?", "A!", "A (copper)", "The only metal here is A.",
    ),
    "B": (
        "Final answer\nB", "the second one", "second.", "option number two", "answer 2", "b", '"b"', "*B*", "b.",
        "b)", "option b", "choice b", "answer: b", "answer = b", "selection is: b", "it's b", "that's b",
        "I'd pick b", "the iron", "an iron",
    ),
    "C": (
        "the third", "option 3", "[C]", "a wood", "wood, because it floats", "wood, since it floats", "wood, I think",
        "probably wood", "definitely wood", "clearly wood", "so wood", "therefore wood", "thus, wood", "hence C",
        "hence, C", "It is C.", "It must be C.", "It would be C.", "It has to be C, as wood floats.",
        "It can only be C.", "It seems to be C.", "It's C, then.", "It was C.", "C looks right.",
        "C appears correct.", "C, which floats, is the right one.", "C, wood, floats.", "This matches option C.",
        "It corresponds to option C.", "This points to choice C.", "which means the answer is C", "My guess: C",
        "My vote is C.", "My final decision is C.", "The verdict: C", "The best one, of course, is C.",
        "The most likely answer is C.", "The most fitting is C.", "I think C.", "I think that C is right.",
        "I believe it's C.", "I would say C.", "I'd go with C.", "I'm going with C.", "I have to choose C.",
        "I would like to choose C.", "I suggest picking C.", "I recommend C.", "C because D is wet.",
        "The answer is (C).", "The answer is C).", 'The answer is "C".', "The answer is c", "The answer is c.",
        "The answer is wood.", "The answer is the wood.", "The answer is a wood.", "The answer is C. wood",
        "The answer is C, wood.", "The answer is C because iron rusts.", "The answer is wood (C).",
        "The answer to this is C.", "The answer that fits is C.", "The answer C is right.", "Answer C.", "Answer - C",
        "ans: C", "solution C", "Response: C", "<answer>C</answer>", "<answer>wood</answer>", "$C$", "**C**",
        "**C. wood**", "`C`", "__C__", "C.\n\nThe wood floats.", "C\n\nExplanation: wood floats, iron sinks.",
        "Explanation: wood floats.\n\nAnswer: C", "Let's see. A conducts. B rusts. So C.",
        "A: conducts\nB: rusts\nC: floats\nAnswer: C", "Final answer: C", "Final answer: C, not D", "C\nC",
    ),
    "D": (
        "choice four", "the fourth choice", "{D}", "(d)", "C is incorrect, so D.", "C is out. D it is.",
        "C is not it. The answer is D.", "I rule out C. The answer is D.", "This leaves us with D.",
        "which leaves only D", "Not C, but rather D.", "not C but D", "C could be right. D is right.",
        "At first I thought C. It is D.", "Initially C. Finally D.",
    ),
    None: (
        "A metal.", "both A and C", "none", "not B", "E. coli is alive.", "Answer: E", "Copper, iron or wood.",
        "A. iron", "A) iron", "(A) iron", "A: iron", "A - iron", "A, iron", "iron (A)", "iron, option A", "iron A",
        "A. Iron is heavy.", "Answer: A. Iron rusts.", "B, copper", "B, and copper too", "B and copper",
        "iron, copper", "option 9", "the fifth option", "option 2.5", "option 2%", "answer 2, which rusts", "Z", "e",
        "b, c", "I choose a metal.", "option a metal", "option I", "I", "i", "A as iron does.", "A or B", "A and B",
        "A (iron)", "AB", "A.B", "A/B", "A-B", "a copper pipe", "A copper pipe", "iron ore", "ironwork", "cast-iron",
        "iron-clad", "neither iron nor wood", "iron. No, wood.", "iron or wood", "iron and wood",
        "iron as well as wood", "iron (wood is soft)", "iron; wood is soft", "iron: it rusts", "iron - it rusts",
        "wood, unlike iron", "wood, if it is dry", "wood, but I may err", "wood, maybe", "maybe wood", "perhaps wood",
        "It isn't C.", "It is not C.", "It can't be C.", "C seems wrong.", "C is wrong.", "That leaves C or D.",
        "not C; D", "neither C nor D", "C is closer than D.", "C, which floats, is wrong.", "The least likely is C.",
        "The wrong one is C.", "I cannot choose C.", "I can't decide.", "It depends.", "C. Hard to say.",
        "C is right. It depends, though.", "If it floats, C.", "C if it floats.", "C unless it is wet.",
        "Assuming it floats, C.", "Some say C.", "Others prefer C.", "You could say C.", "One might choose C.",
        "C might be right.", "C? No, D.", "Maybe C or D.", "C or maybe D", "C, possibly D",
        "C. D is also possible.", "C. D may be right.", "C. Alternatively, D.", "C. D is equally good.",
        "C is dry. D is wet.", "Both C and D.", "All of them.", "None of them.", "All but C.", "The answer is C, D.",
        "The answer is C/D.", "The answer is woods.", "The answer is C. iron", "The answer is C. Iron is not.",
        "The answer is C, iron.", "The answer is wood (B).", "The answer I choose is not C.", "The answer isn't C.",
        "Answer C, D", "Final answer: C or D", "C D", "C\nD",
    ),
}  # fmt: skip
"""Replies to a question whose options are copper, iron, wood and glass, by what they choose."""


@pytest.mark.parametrize(
    ("options", "letter", "reply"),
    [
        *((METALS, letter, reply) for letter, replies in OF_METALS.items() for reply in replies),
        *((SHAPES, letter, reply) for letter, replies in OF_SHAPES.items() for reply in replies),
        *((METALS, "A", "Copper, because it conducts well."), (METALS, "B", "B. iron"), (METALS, "D", "Option 4")),
        *((METALS, "C", "The third option."), (TEN, "C", "I think the answer is C."), (TEN, None, "I do not know.")),
        (METALS, "B", "B\n\nQuestion: What burns?\nA. iron\nC. wood\nAnswer: C"),
        *((("iron", "iron ore"), "B", "iron ore, from a mine"), (("a bank", "a library"), "B", "A library.")),
        *((("5", "-5"), "B", "-5"), (("50", "50%"), "B", "50%"), (("1", "2", "1/2"), "C", "1/2")),
        *((("cube", "cone", "None of the above"), "C", "None of the above."), (SHAPES, None, "None of the above.")),
        (("cube", "cone", "No correct answer"), "C", "C. No correct answer is given."),
        (("1", "2", "3", "4", "Refused"), "E", "E. Refused"),
        (("1", "2", "3", "4", "Refused"), None, "I refuse to answer."),
        (("the driver", "the cyclist", "Both A and B"), "C", "Both A and B"),
        *((SHAPES, None, "Both A and B"), (("cube", "I am not sure"), None, "I am not sure which one it is.")),
    ],
)
def test_a_reply_chooses_the_one_option_that_it_names(options: Sequence[str], letter: str | None, reply: str) -> None:
    assert read(reply, options) == letter
