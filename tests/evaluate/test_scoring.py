"""Trials into rows, rows into an outcome: counts are conserved, errors are never answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mocked import mocked

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.outcome import Outcome, decide_run_verdict
from contrapose.tasks.core.records import Completion, FollowUp, Trial
from contrapose.tasks.core.registry import PROBES, probe
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases

NONE_SKIPPED = pd.DataFrame({"sample_id": [], "skip_reason": []})
DATA = {"source": "x", "sha256": "0", "rows": 10}
RULES = Rules(min_pass_rate=0.65, max_error_share=0.02, gate="interval")


def no_embeddings(texts: object) -> np.ndarray:
    raise AssertionError("nothing needs embeddings here")


def plan_of(test: str) -> Plan:
    (plan,) = plans(RunConfig.model_validate({"tests": {probe(test).category: {test: {}}}}))
    return plan


def trials_of(test: str, count: int = 10) -> list[Trial]:
    plan = plan_of(test)
    samples = load_samples(plan.data, probe(test).sample_type, limit=count, seed=1).samples
    cases = build_cases(samples, plan, seed=1, likelihoods="all")
    return [trial for trial in mocked(cases) if not trial.case.control]


def outcome_of(test: str, trials: list[Trial]) -> Outcome:
    results = score_trials(trials, plan_of(test), model="mock", embed=no_embeddings).to_pandas()
    return summarise(results, NONE_SKIPPED, plan_of(test), data=DATA, rules=RULES)  # type: ignore[arg-type]


def test_a_failed_call_is_a_row_with_its_error_and_no_verdict() -> None:
    trials = trials_of("order_bias")
    trials[3] = replace(trials[3], actual=Completion(error="it broke"))
    row = score_trials(trials, plan_of("order_bias"), model="mock", embed=no_embeddings).to_pylist()[3]
    assert (row["pass"], row["eval_score"], row["error"]) == (None, None, "it broke")
    assert "it broke" in row["reason"]


def test_rows_keep_the_order_of_the_trials() -> None:
    trials = trials_of("add_toxic_words")
    rows = score_trials(trials, plan_of("add_toxic_words"), model="mock", embed=no_embeddings)
    assert rows["case_id"].to_pylist() == [trial.case.id for trial in trials]


def test_errors_count_as_errors_and_nothing_else() -> None:
    trials = trials_of("order_bias")
    clean = outcome_of("order_bias", trials)
    trials[0] = replace(trials[0], expected=Completion(error="it broke"))
    outcome = outcome_of("order_bias", trials)
    assert outcome["errors"] == 1
    assert outcome["scored"] == clean["scored"] - 1
    assert outcome["cases"] == outcome["skipped"] + outcome["scored"] + outcome["unscored"] + outcome["errors"]
    assert outcome["verdict"] == "incomplete"


def test_only_errors_end_incomplete_without_figures_that_break() -> None:
    trials = [replace(trial, expected=Completion(error="it broke")) for trial in trials_of("add_negation")]
    outcome = outcome_of("add_negation", trials)
    assert outcome["verdict"] == "incomplete"
    assert outcome["pass_rate"] is None
    assert outcome["interval"] is None


def test_slices_are_counted_each_for_itself() -> None:
    trials = [
        replace(trial, case=replace(trial.case, slice="even" if index % 2 else "odd"))
        for index, trial in enumerate(trials_of("order_bias"))
    ]
    outcome = outcome_of("order_bias", trials)
    assert [each["name"] for each in outcome["slices"]] == ["even", "odd"]
    assert sum(each["scored"] for each in outcome["slices"]) == outcome["scored"]
    assert sum(each["passed"] for each in outcome["slices"]) == outcome["passed"]


def with_controls(test: str) -> tuple[list[Trial], list[Trial]]:
    """The trials of a test, and those of its controls."""
    plan = plan_of(test).model_copy(update={"control": True})
    samples = load_samples(plan.data, probe(test).sample_type, limit=60, seed=1).samples
    cases = build_cases(samples, plan, seed=1, likelihoods="all")
    trials = mocked(cases)
    return [trial for trial in trials if not trial.case.control], [trial for trial in trials if trial.case.control]


@pytest.mark.parametrize("test", PROBES)
def test_controls_change_nothing_but_the_noise_which_is_the_share_of_them_that_changed(test: str) -> None:
    trials, controls = with_controls(test)
    assert trials == trials_of(test, 60)
    alone, beside = outcome_of(test, trials), outcome_of(test, [*trials, *controls])
    assert alone["control"] is None
    found = beside["control"]
    assert found is not None
    assert beside["gates"][:1] == alone["gates"][:1] or not alone["gates"]
    judged = ("control", "effects", "gates", "verdict", "reason", "reached", "missed")
    assert {**beside, **{name: alone[name] for name in judged}} == alone  # type: ignore[literal-required]
    rows = score_trials(controls, plan_of(test), model="mock", embed=no_embeddings).to_pylist()
    assert all(row["control"] for row in rows)
    changed = sum(row["pass"] is False for row in rows)
    # The replies here call no tool, so that tests of tools score none of them.
    scored = 0 if test.startswith("tool_") else len(controls)
    assert (found["cases"], found["scored"], found["changed"]) == (len(controls), scored, changed)
    if scored:
        assert found["noise"] == changed / scored
        assert found["interval"][0] <= found["noise"] <= found["interval"][1]


def test_a_failed_control_is_no_error_of_the_test() -> None:
    trials, controls = with_controls("order_bias")
    controls[0] = replace(controls[0], actual=Completion(error="it broke"))
    outcome = outcome_of("order_bias", [*trials, *controls])
    assert outcome["errors"] == 0
    assert outcome["verdict"] != "incomplete"
    assert (outcome["control"]["errors"], outcome["control"]["scored"]) == (1, len(controls) - 1)


def test_the_run_is_as_bad_as_its_worst_test() -> None:
    outcome = outcome_of("order_bias", trials_of("order_bias"))
    verdicts = ("pass", "inconclusive", "fail", "incomplete")
    for index, verdict in enumerate(verdicts):
        tests = [Outcome({**outcome, "verdict": each}) for each in verdicts[: index + 1]]  # type: ignore[typeddict-item, misc]
        assert decide_run_verdict(tests)[0] == verdict


def known(number: int, case: str = "case") -> FollowUp:
    return FollowUp(case_id=case, side="expected", prompt=f"prompt {number}", known="A")
