"""A gate that guessing reaches is refused before anything is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Likelihoods, SummaryPair, TextSample
from contrapose.tasks.core.registry import probe
from contrapose.tasks.perturb.cases import build_cases, compute_mean_chance, refuse_guessable_gate
from contrapose.tasks.probes.base import letters
from contrapose.tasks.tables.table import Table, write

PAIR = SummaryPair(
    id="p",
    article_sentence="The bridge is 60 metres long.",
    correct_sentence="It is 60 metres long.",
    incorrect_sentence="It is 90 metres long.",
)


@pytest.fixture(autouse=True)
def _storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORAGE", str(tmp_path))


def question(options: int) -> TextSample:
    return TextSample(id=f"q{options}", text="The sky is", options=tuple(f"shade {name}" for name in letters(options)))


def made(test: str, *samples: Any, likelihoods: Likelihoods = "none", **settings: Any) -> tuple[Plan, Table]:
    tests = {probe(test).category: {test: settings}}
    (plan,) = plans(RunConfig.model_validate({"model": "mock", "tests": tests}))
    return plan, write(build_cases(samples, plan, seed=0, likelihoods=likelihoods), Case)


@pytest.mark.parametrize("gate", [0.1, 0.25])
def test_a_gate_at_or_below_that_of_a_coin_flipper_is_refused(gate: float) -> None:
    with pytest.raises(ConfigError, match=r"not above random guessing \(25\.0%\)") as caught:
        refuse_guessable_gate(*made("order_bias", PAIR, min_pass_rate=gate))
    assert caught.value.where == "tests.factuality.order_bias.min_pass_rate"


@pytest.mark.parametrize("gate", [0.0, 0.26])
def test_a_gate_above_it_is_let_through_and_so_is_none(gate: float) -> None:
    refuse_guessable_gate(*made("order_bias", PAIR, min_pass_rate=gate))


def test_chance_counts_the_options_of_the_data() -> None:
    plan, table = made("option_order", question(2), question(4), min_pass_rate=0.3)
    assert compute_mean_chance(table) == pytest.approx((1 / 2 + 3 / 4) / 4)
    with pytest.raises(ConfigError):
        refuse_guessable_gate(plan, table)


def test_without_controls_a_change_of_answer_needs_a_gate_above_chance() -> None:
    plan, table = made("add_negation", question(4), control=False)
    assert compute_mean_chance(table) == 0.75
    with pytest.raises(ConfigError, match=r"70\.0%.*75\.0%") as caught:
        refuse_guessable_gate(plan, table)
    assert caught.value.remedy == "Set min_pass_rate above 75.0%, or set control: true."
    refuse_guessable_gate(*made("add_negation", question(4), control=False, min_pass_rate=0.8))


def test_with_controls_the_contrast_rate_decides() -> None:
    refuse_guessable_gate(*made("add_negation", question(4)))


def test_a_distribution_changes_by_chance_more_often_than_a_letter() -> None:
    chance = compute_mean_chance(made("add_negation", question(4), likelihoods="all")[1])
    assert 0.76 < chance < 0.79


def test_where_one_case_has_no_options_nothing_is_known() -> None:
    plan, table = made("add_negation", question(4), TextSample(id="t", text="The sky is blue."), control=False)
    assert compute_mean_chance(table) is None
    refuse_guessable_gate(plan, table)
