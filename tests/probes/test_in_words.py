"""Both ways: samples whose choice is read by likelihood are also answered in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from asked_case import case

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Case, Completion, SummaryPair, TextSample
from contrapose.tasks.core.registry import probe
from contrapose.tasks.infer.ask import list_extras, list_questions, make_trials
from contrapose.tasks.infer.mock import MockModel
from contrapose.tasks.perturb.cases import build_cases, draw_further_ids
from contrapose.tasks.probes.choices import COLUMNS, make_words_columns, yield_reading_measures

IDS = [f"s{number}" for number in range(200)]
OPTIONS = ("copper", "iron", "zinc")
SAMPLES = [TextSample(id=name, text=f"The bridge near the town of {name} is of", options=OPTIONS) for name in IDS]
PAIRS = [
    SummaryPair(
        id=name, article_sentence=f"{name}.", correct_sentence=f"It is {name}.", incorrect_sentence=f"It was {name}."
    )
    for name in IDS
]
TESTS = {"add_negation": SAMPLES, "option_order": SAMPLES, "order_bias": PAIRS, "typo": SAMPLES}


def plan_of(test: str, **settings: object) -> Plan:
    tests = {probe(test).category: {test: settings}}
    return plans(RunConfig.model_validate({"tests": {"defaults": {"control": True}, **tests}}))[0]


def cases_of(test: str, **settings: object) -> list[Case]:
    plan = plan_of(test, **settings)
    drawn = draw_further_ids(IDS, plan, seed=3, likelihoods="all")
    return list(build_cases(TESTS[test], plan, seed=3, likelihoods="all", besides=drawn))


@pytest.mark.parametrize("test", TESTS)
def test_one_case_of_each_drawn_sample_is_also_asked_in_words_and_no_control(test: str) -> None:
    worded = [each for each in cases_of(test) if each.also_in_words]
    assert len({each.sample_id for each in worded}) == len(worded) == 50
    assert not any(each.control for each in worded)
    assert not any(each.also_in_words for each in cases_of(test, answer_in_words=0))
    assert not any(each.also_in_words for each in cases_of(test, read_with="reply"))


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_the_data() -> None:
    plan = plan_of("order_bias")
    first = draw_further_ids(IDS, plan, seed=1, likelihoods="all")
    assert first == draw_further_ids(IDS[::-1], plan, seed=1, likelihoods="all")
    assert first != draw_further_ids(IDS, plan, seed=2, likelihoods="all")
    assert draw_further_ids(IDS, plan, seed=1, likelihoods="none") == frozenset()


def worded(reply: Completion) -> Completion:
    """The first completion of a trial whose original prompt got this reply in words."""
    one = case(asks="choose", labels=("A", "B"), options=("x", "y"), also_in_words=True)
    model = MockModel()
    answers = {question: model.completion(question) for question in list_questions([one])}
    (question,) = list_extras([one])
    (found,) = make_trials([one], {**answers, question: reply}, missing=Completion(error="missing"))
    assert found.expected.option_loglikelihoods is not None
    assert found.actual.in_words is None
    return found.expected


def test_the_reply_stands_beside_the_likelihoods() -> None:
    assert worded(Completion(text="I take B.")).in_words == "I take B."


def test_a_reply_that_failed_is_no_error_of_the_case() -> None:
    found = worded(Completion(error="it broke"))
    assert (found.in_words, found.error) == (None, None)


@pytest.mark.parametrize("test", TESTS)
def test_the_mock_model_says_what_it_finds_likeliest(test: str) -> None:
    cases = [each for each in cases_of(test) if each.skip_reason is None]
    model = MockModel()
    answers = {each: model.completion(each) for each in [*list_questions(cases), *list_extras(cases)]}
    found = make_trials(cases, answers, missing=Completion(error="missing"))
    scores = probe(test).score(found, plan_of(test).probe_settings, embed=lambda texts: np.zeros((len(texts), 3)))
    agreed = [score.columns["words_agree"] for score in scores if score.columns.get("words_agree") is not None]
    assert len(agreed) == 50
    assert all(agreed)


@pytest.mark.parametrize("test", TESTS)
def test_another_reply_disagrees_and_an_unreadable_one_is_unread(test: str) -> None:
    (one,) = [each for each in cases_of(test, answer_in_words=1) if each.also_in_words]
    model = MockModel()
    answers = {each: model.completion(each) for each in list_questions([one])}
    (trial,) = make_trials([one], answers, missing=Completion(error="missing"))
    other = next(label for label in one.labels if label != trial.expected.text)
    chosen, settings = probe(test), plan_of(test).probe_settings
    for reply, expected in ((other, (other, False)), ("Well, well.", ("", None)), (trial.expected.text, None)):
        worded = replace(trial, expected=replace(trial.expected, in_words=reply))
        (score,) = chosen.score([worded], settings, embed=lambda texts: np.zeros((len(texts), 3)))
        found = score.columns["in_words_choice"], score.columns["words_agree"]
        assert found == (expected or (trial.expected.text, True))


def test_agreement_is_over_what_could_be_read() -> None:
    rows = [
        make_words_columns("B", read="B", likeliest="B"),
        make_words_columns("A", read="A", likeliest="B"),
        make_words_columns("Hm.", read=None, likeliest="B"),
        make_words_columns("A", read="A", likeliest=None),
        make_words_columns(None, read=None, likeliest="B"),
    ]
    frame = pd.DataFrame([dict.fromkeys(COLUMNS) | row for row in rows])
    agreement, unread = [*yield_reading_measures(frame)][:2]
    assert np.nanmean(agreement.values) == 0.5
    assert np.nanmean(unread.values) == 0.25
