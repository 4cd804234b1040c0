"""A threshold from the controls: what it is taken from, and where it is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contrapose.flows.cli.validate import validate_run
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Completion, TextSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.scoring import ROUNDING, calibrate_plan, compute_band, read_controls, score_trials
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.probes.base import make_sample_rng
from contrapose.tasks.tables.table import write
from tests.evaluate.test_scoring import DATA, NONE_SKIPPED, no_embeddings

MOVES = [number / 100 for number in range(-20, 41)]
"""Changes in loss under the controls."""


def config(**settings: Any) -> RunConfig:
    return RunConfig.model_validate(
        {"model": "mock", "tests": {"sensitivity": {"add_negation": {"threshold": "auto", **settings}}}}
    )


def plan_of(**settings: Any) -> Plan:
    (plan,) = plans(config(control=True, **settings))
    return plan


def trials(moves: list[float], *, loss: float = 0.3) -> list[Trial]:
    """For each change a case, whose loss changes by `loss`, and its control, whose loss changes by so much."""
    made = []
    chosen, settings = probe("add_negation"), plan_of().probe_settings
    for number, move in enumerate(moves):
        sample = TextSample(id=str(number), text="Iron is a metal.")
        rng = make_sample_rng(0, sample.id, "add_negation")
        (case,) = chosen.cases(sample, settings, rng=rng, likelihoods="all")
        twin = chosen.control(case, sample, settings, rng=rng)
        assert twin is not None
        before = Completion(text="x", loss=0.0)
        made += [Trial(case=case, expected=before, actual=replace(before, loss=loss))]
        made += [Trial(case=twin, expected=before, actual=replace(before, loss=move))]
    return made


def controls(made: list[Trial]) -> list[list[Trial]]:
    return [[trial for trial in made if trial.case.control]]


def thresholds(plan: Plan) -> dict[str, Any]:
    found: dict[str, Any] = plan.settings["threshold"]
    return found


def test_the_band_holds_the_central_scores_of_the_controls() -> None:
    found = calibrate_plan(plan_of(), controls(trials(MOVES)), embed=no_embeddings)
    assert thresholds(found)["loss"] == pytest.approx(tuple(np.quantile(MOVES, (0.025, 0.975))))
    assert thresholds(found)["embedding"] is None


def test_portions_are_one_set_of_controls() -> None:
    every = controls(trials(MOVES))[0]
    parts = [every[:10], [], every[10:]]
    whole, split = (calibrate_plan(plan_of(), each, embed=no_embeddings) for each in ([every], parts))
    assert whole == split


@pytest.mark.parametrize("scorer", ["choice", "embedding"])
def test_the_band_of_a_distance_begins_at_zero(scorer: str) -> None:
    values = [number / 100 for number in range(101)]
    assert compute_band(scorer, values) == (0.0, pytest.approx(0.95))


def test_no_change_at_all_lies_in_every_band() -> None:
    low, high = compute_band("loss", [0.5, 0.6, 0.7])
    assert low < 0 < high
    assert compute_band("choice", [0.0] * 30)[1] > 0


@pytest.mark.parametrize(("count", "known"), [(19, False), (20, True)])
def test_twenty_scored_controls_are_needed(count: int, known: bool) -> None:
    made = trials([0.1] * count)
    spoilt = replace(made[-1], actual=Completion(error="it broke"))
    unscored = replace(made[-1], actual=Completion(text="x"))
    found = calibrate_plan(plan_of(), [*controls(made), [spoilt, unscored]], embed=no_embeddings)
    assert (thresholds(found)["loss"] is not None) is known


@pytest.mark.parametrize("side", ["expected", "actual"])
def test_a_control_with_a_failed_call_on_either_side_is_no_noise(side: str) -> None:
    """A loss beside an error is what was left of a call that failed."""
    made = controls(trials(MOVES))[0]
    spoilt = [replace(each, **{side: Completion(text="x", loss=9.0, error="it broke")}) for each in made[:5]]
    found = calibrate_plan(plan_of(), [[*made, *spoilt]], embed=no_embeddings)
    assert found == calibrate_plan(plan_of(), [made], embed=no_embeddings)


def test_all_else_that_was_set_stays_beside_the_band() -> None:
    plan = plan_of()
    found = calibrate_plan(plan, controls(trials(MOVES)), embed=no_embeddings)
    assert {**found.settings, "threshold": None} == {**plan.settings, "threshold": None}
    assert set(thresholds(found)) == {"choice", "embedding", "loss", "langtest_loss"}


@pytest.mark.parametrize("most", [0.0, 0.5e-6])
def test_a_band_of_hardly_any_noise_holds_round_off(most: float) -> None:
    assert compute_band("choice", [0.0, most]) == (0.0, ROUNDING)
    assert compute_band("loss", [-most, most]) == (-ROUNDING, ROUNDING)


def test_a_band_of_more_noise_than_round_off_is_the_noise() -> None:
    assert compute_band("embedding", [0.5] * 20) == (0.0, 0.5)
    assert compute_band("loss", [-0.5] * 10 + [0.75] * 10) == (-0.5, 0.75)
    assert compute_band("loss", [0.5] * 20) == (-ROUNDING, 0.5)
    assert compute_band("loss", [-0.5] * 20) == (-0.5, ROUNDING)


def test_repeats_of_a_control_count_once() -> None:
    few = controls(trials([0.1] * 10))
    found = calibrate_plan(plan_of(), few * 3, embed=no_embeddings)
    assert thresholds(found)["loss"] is None


def test_a_plan_with_a_threshold_stays_and_reads_no_control() -> None:
    plan = plan_of(threshold=[-0.1, 0.1])
    assert calibrate_plan(plan, iter(["never read"]), embed=no_embeddings) is plan  # type: ignore[list-item]


def test_controls_are_found_in_stored_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORAGE", str(tmp_path))
    made = trials(MOVES)
    tables = [write(made[:30], Trial), write([], Trial), write(made[30:], Trial), write(made[:1], Trial)]
    assert [trial for part in read_controls(tables) for trial in part] == controls(made)[0]


def outcome(made: list[Trial]) -> Any:
    """The outcome of trials whose threshold comes from their controls."""
    plan = calibrate_plan(plan_of(), controls(made), embed=no_embeddings)
    rows = score_trials(made, plan, model="mock", embed=no_embeddings).to_pandas()
    rules = Rules(min_pass_rate=0.5, max_error_share=0.02, gate="rate")
    return summarise(rows, NONE_SKIPPED, plan, data=DATA, rules=rules)  # type: ignore[arg-type]


def test_the_band_judges_the_rows_and_stands_in_the_figures() -> None:
    inside, outside = outcome(trials(MOVES)), outcome(trials(MOVES, loss=0.5))
    assert (inside["passed"], outside["passed"]) == (0, len(MOVES))
    assert outside["figures"]["threshold_low_loss"] == pytest.approx(-0.185)
    assert outside["figures"]["threshold_high_loss"] == pytest.approx(0.385)
    assert outside["control"]["changed"] == 4


def test_too_few_controls_leave_the_test_unscored() -> None:
    found = outcome(trials(MOVES[:19]))
    assert (found["scored"], found["unscored"], found["verdict"]) == (0, 19, "inconclusive")


def test_auto_without_controls_is_refused_before_a_model_is_asked() -> None:
    with pytest.raises(ConfigError, match="threshold: auto without controls") as caught:
        validate_run(config(control=False))
    assert caught.value.where == "tests.sensitivity.add_negation.threshold"
    assert validate_run(config(control=True, limit=20))


def test_auto_with_a_limit_that_allows_too_few_controls_is_refused_too() -> None:
    with pytest.raises(
        ConfigError, match="threshold: auto with a limit of 19; expected controls of at least 20 samples"
    ):
        validate_run(config(control=True, limit=19))


def test_the_setting_is_one_of_three_kinds_in_the_form() -> None:
    schema = RunConfig.model_json_schema()
    kinds = schema["$defs"]["AddNegationSettings"]["properties"]["threshold"]["anyOf"]
    assert [kind.get("type") or kind.get("$ref") for kind in kinds] == ["array", "#/$defs/Thresholds", "string"]
    assert schema["$defs"]["Thresholds"]["title"] == "Thresholds"


@pytest.mark.parametrize("wrong", ["wide", 0.2, [0.1], {"embeding": [0, 1]}, {"loss": [1, 0]}])
def test_a_threshold_of_no_kind_is_told_once(wrong: object) -> None:
    with pytest.raises(ValueError, match="1 validation error"):
        config(threshold=wrong)
