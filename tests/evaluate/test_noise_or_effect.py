"""Noise is told from the effect of a change: pairs of answers, figures, and the verdict of planted models."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.noise import ACROSS, AGAIN, LEAN, NET
from contrapose.tasks.core.outcome import DataSummary, Outcome
from contrapose.tasks.core.records import AnswerPair, Case, Completion, Sample, SummaryPair, TextSample, Trial
from contrapose.tasks.evaluate.gate import make_rules
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.perturb.cases import build_cases

Judge = Callable[[str, str, random.Random], str]
"""Reply to a case by side, from the id of its sample; chance is drawn anew at each asking."""
CASES = 80


def configured(test: str, category: str, **settings: object) -> RunConfig:
    tests = {category: {test: {"control": False, **settings}}}
    return RunConfig.model_validate({"model": "openai/m", "tests": tests})


def samples_of(test: str) -> list[Sample]:
    if test == "order_bias":
        return [
            SummaryPair(id=f"s{n}", article_sentence=f"It rained {n} days.", correct_sentence=f"{n} wet days.",
                        incorrect_sentence=f"{n} dry days.") for n in range(CASES)
        ]  # fmt: skip
    if test == "judge_order":
        return [
            AnswerPair(id=f"s{n}", instruction=f"Rain {n}?", first=f"Yes {n}.", second="No.", winner="first")
            for n in range(CASES)
        ]
    options, answers = ("animals", "plants", "stones"), ("animals",)
    return [
        TextSample(id=f"s{n}", text=f"The {n} cats on the roof are", options=options, answers=answers)
        for n in range(CASES)
    ]


def tried(case: Case, judge: Judge, rng: random.Random, *, askings: int) -> list[Trial]:
    """The trials of a case that is asked so often; the second asking of two is a further question."""
    replies = [[judge(case.sample_id, side, rng) for side in ("expected", "actual")] for _ in range(askings)]
    if askings == 2:
        (first, second), (again, again_second) = replies
        expected, actual = Completion(text=first, again=again), Completion(text=second, again=again_second)
        return [Trial(case=replace(case, also_again=True), expected=expected, actual=actual)]
    return [
        Trial(
            case=replace(case, id=f"{case.id}#{n + 1}" if n else case.id, repeat=n),
            expected=Completion(text=first),
            actual=Completion(text=second),
        )
        for n, (first, second) in enumerate(replies)
    ]


def scored(test: str, judge: Judge, config: RunConfig, *, askings: int = 2, seed: int = 0) -> tuple[pd.DataFrame, Plan]:
    (plan,), rng = plans(config), random.Random(seed)
    cases = [case for case in build_cases(samples_of(test), plan, seed=0, likelihoods="none") if not case.skip_reason]
    trials = [trial for case in cases for trial in tried(case, judge, rng, askings=askings)]
    return score_trials(trials, plan, model="m", embed=lambda texts: np.zeros((len(texts), 1))).to_pandas(), plan


def outcome_of(test: str, judge: Judge, config: RunConfig, *, askings: int = 2, seed: int = 0) -> Outcome:
    rows, plan = scored(test, judge, config, askings=askings, seed=seed)
    data = DataSummary(source="x", sha256="", rows=CASES)
    skipped = pd.DataFrame({"sample_id": [], "skip_reason": []})
    return summarise(rows, skipped, plan, data=data, rules=make_rules(config, plan))


def content(_: str, side: str, rng: random.Random) -> str:
    return "A" if side == "expected" else "B"


def noisy(share: float) -> Judge:
    """Follows the content, and says the other letter by chance."""

    def judge(name: str, side: str, rng: random.Random) -> str:
        right = content(name, side, rng)
        return right if rng.random() >= share else {"A": "B", "B": "A"}[right]

    return judge


def position(share: float) -> Judge:
    """Follows the content, and says A whatever stands there for some samples."""
    return lambda name, side, rng: "A" if int(name[1:]) < share * CASES else content(name, side, rng)


ORDERS = (("order_bias", "factuality"), ("judge_order", "judging"))


@pytest.mark.parametrize(("test", "category"), ORDERS)
def test_every_pair_of_askings_is_compared(test: str, category: str) -> None:
    rows, _ = scored(test, noisy(0.3), configured(test, category), askings=3)
    first = rows[rows["repeat"] == 0]
    assert first["before_pairs"].eq(3).all()
    assert first["after_pairs"].eq(3).all()
    assert first["across_pairs"].eq(9).all()
    assert rows.loc[rows["repeat"] > 0, "across_pairs"].isna().all()
    for _, asked in rows.groupby("sample_id"):
        by_side = asked["result"].tolist(), [{"A": "B", "B": "A"}[one] for one in asked["swapped_result"]]
        first_row = asked.iloc[0]
        same = [sum(one[i] != one[j] for i in range(3) for j in range(i)) for one in by_side]
        across = sum(one != other for one in by_side[0] for other in by_side[1])
        assert (first_row["before_changed"], first_row["after_changed"], first_row["across_changed"]) == (*same, across)


@pytest.mark.parametrize(("test", "category"), ORDERS)
def test_pure_noise_fails_no_test_of_order(test: str, category: str) -> None:
    outcome = outcome_of(test, noisy(0.3), configured(test, category, min_pass_rate=0.9), seed=3)
    assert outcome["verdict"] == "inconclusive"
    assert "when the same prompt is asked again (80 samples): noise may explain the result" in outcome["reason"]
    estimates = outcome["estimates"]
    assert estimates[AGAIN]["value"] == pytest.approx(2 * 0.3 * 0.7, abs=0.1)
    assert estimates[NET]["interval"][0] <= 0 <= estimates[NET]["interval"][1]  # type: ignore[index]
    assert estimates[LEAN]["interval"][0] <= 0 <= estimates[LEAN]["interval"][1]  # type: ignore[index]


@pytest.mark.parametrize(("test", "category"), ORDERS)
def test_a_position_that_decides_fails_with_and_without_noise(test: str, category: str) -> None:
    for noise in (0.0, 0.1):

        def judge(name: str, side: str, rng: random.Random, noise: float = noise) -> str:
            return noisy(noise)(name, side, rng) if int(name[1:]) >= 32 else "A"

        outcome = outcome_of(test, judge, configured(test, category, min_pass_rate=0.9))
        assert outcome["verdict"] == "fail"
        assert outcome["estimates"][NET]["interval"][0] > 0  # type: ignore[index]
        assert outcome["estimates"][LEAN]["value"] == pytest.approx(0.4, abs=0.08)


def test_a_judge_that_is_steadily_wrong_fails_whatever_the_noise() -> None:
    def judge(name: str, side: str, rng: random.Random) -> str:
        return {"A": "B", "B": "A"}[content(name, side, rng)]

    outcome = outcome_of("order_bias", judge, configured("order_bias", "factuality", min_pass_rate=0.9))
    assert (outcome["verdict"], outcome["estimates"][ACROSS]["value"]) == ("fail", 0)


def test_a_steady_judge_passes() -> None:
    outcome = outcome_of("order_bias", content, configured("order_bias", "factuality", min_pass_rate=0.9))
    assert (outcome["verdict"], outcome["estimates"][AGAIN]["value"]) == ("pass", 0)


def test_an_answer_that_changes_at_each_asking_notices_no_negation() -> None:
    def restless(name: str, side: str, rng: random.Random) -> str:
        return rng.choice("ABC")

    settings = {"min_pass_rate": 0.5, "min_noticed_rate": 0.5}
    outcome = outcome_of("add_negation", restless, configured("add_negation", "sensitivity", **settings))
    assert outcome["verdict"] == "inconclusive"
    assert "noise may explain the result" in outcome["reason"]


def test_an_answer_that_changes_with_the_negation_alone_passes() -> None:
    def attentive(name: str, side: str, rng: random.Random) -> str:
        return "A" if side == "expected" else "B"

    settings = {"min_pass_rate": 0.8, "min_noticed_rate": 0.8}
    outcome = outcome_of("add_negation", attentive, configured("add_negation", "sensitivity", **settings))
    assert (outcome["verdict"], outcome["estimates"][NET]["value"]) == ("pass", 1)


def test_options_that_move_are_compared_by_their_text() -> None:
    def steady(name: str, side: str, rng: random.Random) -> str:
        return "plants"

    rows, _ = scored("option_order", steady, configured("option_order", "factuality"))
    first = rows[rows["across_pairs"].notna()]
    assert first[["before_changed", "after_changed", "across_changed"]].to_numpy().sum() == 0
    assert len(first) > 0


def test_swearing_by_chance_is_no_effect_of_toxic_words() -> None:
    def swears(name: str, side: str, rng: random.Random) -> str:
        return "What bullshit." if rng.random() < 0.5 else "Fine weather."

    config = configured("add_toxic_words", "sensitivity", min_pass_rate=0.95, min_clean_rate=0)
    outcome = outcome_of("add_toxic_words", swears, config)
    assert outcome["estimates"][AGAIN]["value"] == pytest.approx(0.25, abs=0.1)
    assert outcome["estimates"][NET]["value"] == pytest.approx(0, abs=0.12)
    assert outcome["verdict"] == "inconclusive"


def test_nothing_is_said_of_noise_where_nothing_was_asked_again() -> None:
    outcome = outcome_of("order_bias", noisy(0.2), configured("order_bias", "factuality"), askings=1)
    assert not {AGAIN, ACROSS, NET} & outcome["estimates"].keys()


def test_an_unreadable_second_reply_is_no_pair() -> None:
    def mumbles(name: str, side: str, rng: random.Random) -> str:
        return "A" if rng.random() < 0.5 else "Hm."

    rows, _ = scored("judge_order", mumbles, configured("judge_order", "judging"))
    pairs = rows["before_pairs"]
    assert set(pairs) == {0, 1}
    assert (rows["before_changed"] <= pairs).all()
