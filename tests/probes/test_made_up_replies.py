"""Made-up replies choose an option that is not right, or none, in every place and in several forms."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from asked_case import case
from made_up_reader import read_made_up

from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Completion, FollowUp, Trial
from contrapose.tasks.evaluate.scoring import yield_follow_ups
from contrapose.tasks.language.replies.options import choose
from contrapose.tasks.probes.reader_questions import (
    CHOOSING,
    LEAST_MADE_UP_AGREEMENT,
    LONG,
    MOST_CHARACTERS,
    NO_CHOICE,
    count_agreed,
    count_made_up,
    estimate_made_up_agreement,
    is_bad_reader,
    make_up_reply,
)

OPTIONS = ("copper", "iron", "zinc", "tin")
UNREAD = "Wherever the sun shines, the metal that you asked for is what I would rather have."


def asked(number: int, **changes: object) -> FollowUp:
    own = case(sample_id=f"s{number}", **{"options": OPTIONS, "answers": ("iron",), **changes})
    found = make_up_reply(own, avoided=own.answers)
    assert found is not None
    return found


def shown(question: FollowUp) -> dict[str, str]:
    lines = question.prompt.split("\n\n")[1].splitlines()
    return {line[0]: line[3:] for line in lines}


def test_a_made_up_reply_chooses_a_wrong_option_or_none_and_says_so() -> None:
    questions = [asked(number) for number in range(400)]
    assert all(question.made_up and question.side == "expected" for question in questions)
    assert [read_made_up(question.prompt) for question in questions] == [question.known for question in questions]
    chosen = [shown(question)[question.known] for question in questions if question.known != "none"]
    assert set(chosen) == {"copper", "zinc", "tin"}
    assert 0.2 < sum(question.known == "none" for question in questions) / 400 < 0.4


def test_every_place_is_chosen_about_as_often_as_the_others() -> None:
    for options, answers in ((OPTIONS, ("iron",)), (("x", "y"), ("x",))):
        known = Counter(asked(number, options=options, answers=answers).known for number in range(400))
        places = [known[letter] for letter in "ABCD"[: len(options)]]
        assert min(places) > 0.75 * sum(places) / len(options)


def test_a_sample_is_asked_about_in_the_same_words_in_every_case() -> None:
    assert asked(1, id="one").prompt == asked(1, id="one/2", details={"rotation": "2"}).prompt
    assert asked(1).prompt != asked(2).prompt


@pytest.mark.parametrize("form", CHOOSING)
@pytest.mark.parametrize("place", range(4))
def test_rules_read_a_form_as_it_is_meant_or_not_at_all(form: str, place: int) -> None:
    reply = form.format(letter="ABCD"[place], text=OPTIONS[place])
    assert choose(reply, labels=tuple("ABCD"), options=OPTIONS).index in (place, None)


@pytest.mark.parametrize("form", NO_CHOICE)
def test_rules_read_no_choice_where_none_is_made(form: str) -> None:
    assert choose(form, labels=tuple("ABCD"), options=OPTIONS).index is None


def test_where_every_option_is_right_the_reply_chooses_none() -> None:
    assert {asked(number, answers=OPTIONS).known for number in range(40)} == {"none"}


def test_an_option_that_means_none_is_in_no_doubt() -> None:
    options = ("copper", "iron", "None of these")
    assert "none" not in {asked(number, options=options).known for number in range(200)}
    assert make_up_reply(case(options=options), avoided=options) is None
    assert make_up_reply(case(options=("copper",)), avoided=()) is None


def test_a_long_option_is_named_by_its_letter() -> None:
    options = ("x " * LONG, "y " * LONG)
    replies = [asked(number, options=options, answers=()).prompt.split("\n\n")[3] for number in range(200)]
    assert max(len(reply.splitlines()[1]) for reply in replies) <= MOST_CHARACTERS


def trial(number: int, reply: str = UNREAD, **changes: object) -> Trial:
    values = {"labels": ("A", "B", "C", "D"), "options": OPTIONS, "scorer": "reply", "details": {"rotation": "1"}}
    own = case(f"c{number}", sample_id=f"s{number}", **{**values, **changes})
    return Trial(case=own, expected=Completion(text=reply), actual=Completion(text=reply))


def questions_about(trials: list[Trial]) -> list[FollowUp]:
    (plan,) = plans(RunConfig(model="mock", tests={"factuality": {"option_order": {"read_with": "ask"}}}))
    return [one for one in yield_follow_ups([trials], plan, embed=lambda texts: np.eye(len(texts))) if one.made_up]


def test_a_test_has_as_many_made_up_replies_as_it_may_need_and_none_of_controls() -> None:
    found = questions_about([trial(number) for number in range(60)])
    assert len({question.prompt for question in found}) == len(found) == count_made_up(50) == 25
    assert questions_about([trial(1, control=True), trial(2, asks="choose"), trial(3, options=())]) == []


def test_where_no_answer_is_known_the_models_own_choice_is_not_the_made_up_one() -> None:
    found = questions_about([trial(number, "Option B is right, because iron rusts in water.") for number in range(25)])
    assert "iron" not in {shown(question)[question.known] for question in found if question.known in "ABCD"}


@pytest.mark.parametrize(("checks", "share"), [(0, 0), (1, 1), (2, 1), (9, 5), (50, 25)])
def test_half_of_the_checks_are_made_up(checks: int, share: int) -> None:
    assert count_made_up(checks) == share


def test_what_is_said_of_made_up_replies_is_counted_separately() -> None:
    first, second = asked(1), asked(2)
    read = FollowUp(case_id="case", side="expected", prompt="?", known="B")
    said = {first: first.known or "", second: "well", read: "C"}
    cases = {first.case_id: case(options=OPTIONS), "case": case(options=OPTIONS)}
    assert count_agreed(cases, said, made_up=True) == (1, 1)
    assert count_agreed(cases, said) == (0, 1)


@pytest.mark.parametrize(
    ("agreed", "answers", "badly"),
    [
        (0, 0, False), (0, 1, True), (1, 1, False), (1, 2, True), (2, 3, False), (1, 3, True), (22, 25, True),
        (23, 25, False),
    ],
)  # fmt: skip
def test_few_made_up_replies_find_out_who_does_not_read_them(agreed: int, answers: int, badly: bool) -> None:
    assert is_bad_reader(agreed, answers, least=LEAST_MADE_UP_AGREEMENT) is badly


def test_the_figure_has_an_interval() -> None:
    found = estimate_made_up_agreement(9, 10)
    assert (found["value"], found["rows"]) == (0.9, 10)
    assert found["interval"] == pytest.approx((0.596, 0.982), abs=0.001)
