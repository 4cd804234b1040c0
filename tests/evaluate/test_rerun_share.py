"""The share of reruns with the same verdict: the bootstrap over clusters, with the rule that judges the test."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.evaluate import reruns
from contrapose.tasks.evaluate.gate import Rules, decide
from contrapose.tasks.evaluate.gated_rates import compute_gated_rates
from contrapose.tasks.evaluate.reruns import Reruns, add_rerun_shares, simulate_reruns
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.statistics.families import find_holm_divisor, holm
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.statistics.shares import LEVEL
from tests.evaluate.test_scoring import no_embeddings, plan_of, trials_of

PLAN = plan_of("order_bias")
RULES = Rules(min_pass_rate=PLAN.min_pass_rate, max_error_share=0.1, gate="interval", min_coverage=0.5)


@cache
def scored() -> pd.DataFrame:
    return score_trials(trials_of("order_bias"), PLAN, model="mock", embed=no_embeddings).to_pandas()


def rows(rate: float, *, clusters: int = 40, sizes: tuple[int, ...] = (1,), opened: float = 0.0) -> pd.DataFrame:
    """Scored rows in clusters of these sizes, of which about this share passes."""
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(clusters), np.resize(sizes, clusters))
    results = scored().iloc[np.zeros(len(labels), dtype=int)].reset_index(drop=True)
    own = rng.beta(4 * rate, 4 * (1 - rate), clusters)[labels] if max(sizes) > 1 else rate
    passed = pd.Series(rng.random(len(labels)) < own, dtype=object)
    passed[rng.random(len(labels)) < opened] = None
    return results.assign(
        **{"sample_id": [f"s{place}" for place in range(len(labels))], "pass": passed, "undecided": False},
        cluster=[f"c{label}" for label in labels],
        error=None,
    )


def verdicts_of(found: Reruns | None, step: int = 0) -> dict[str, int]:
    counts = {"incomplete": found["incomplete"], "pass": found["passes"][step], "fail": found["fails"][step]}
    return {**counts, "inconclusive": found["draws"] - sum(counts.values())}


@pytest.mark.parametrize(
    ("gate", "looks"), [("interval", ONE_LOOK), ("interval", Looks((0.4, 1.0))), ("rate", ONE_LOOK)]
)
@pytest.mark.parametrize("sizes", [(1,), (1, 2, 5)])
@pytest.mark.parametrize(("rate", "opened"), [(0.7, 0.1), (0.97, 0.0)])
def test_each_draw_is_judged_as_a_run_of_its_own(
    monkeypatch: pytest.MonkeyPatch, rate: float, opened: float, sizes: tuple[int, ...], looks: Looks, gate: Any
) -> None:
    monkeypatch.setattr(reruns, "DRAWS", 12)
    results, rules = rows(rate, sizes=sizes, opened=opened), RULES._replace(looks=looks, gate=gate)
    patterns = []
    find = reruns._find_patterns
    monkeypatch.setattr(reruns, "_find_patterns", lambda *of: patterns.append(find(*of)) or patterns[-1])
    found = verdicts_of(simulate_reruns(results, PLAN, rules))
    # The same draws, put together row by row: one cluster stands for all that are alike.
    columns = results.assign(open=results["pass"].isna(), yes=results["pass"].eq(True))
    alike = columns.groupby("cluster").agg(size=("yes", "size"), open=("open", "sum"), yes=("yes", "sum"))
    own = patterns[0].rates[0]
    names = [
        alike.index[(alike["size"] == size) & (alike["yes"] == yes) & (alike["yes"] + alike["open"] == best)][0]
        for size, yes, best in own.astype(int)
    ]
    weights = patterns[0].clusters
    drawn = np.random.default_rng(reruns.SEED).multinomial(weights.sum(), weights / weights.sum(), size=12)
    counted = {"pass": 0, "fail": 0, "inconclusive": 0, "incomplete": 0}
    places = {name: np.flatnonzero(results["cluster"] == name) for name in names}
    for draw in drawn:
        copies = [(name, copy) for name, count in zip(names, draw, strict=True) for copy in range(count)]
        labels = [f"{name}-{copy}" for name, copy in copies for _ in places[name]]
        together = results.iloc[np.concatenate([places[name] for name, _ in copies])].reset_index(drop=True)
        samples = [f"{label}-{number}" for number, label in enumerate(labels)]
        counts, rates, _, too_few = compute_gated_rates(together.assign(cluster=labels, sample_id=samples), PLAN, rules)
        counted[decide(counts, rates, rules, too_few=too_few).verdict] += 1
    assert found == counted


def test_the_same_results_have_the_same_reruns_in_any_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = rows(0.7, sizes=(1, 3))
    first = simulate_reruns(results, PLAN, RULES)
    monkeypatch.setattr(reruns, "MOST_DRAWN", 100)
    assert simulate_reruns(results, PLAN, RULES) == first


def test_a_rate_far_from_its_gate_is_repeated_and_one_at_the_edge_is_not_always() -> None:
    assert verdicts_of(simulate_reruns(rows(0.02, clusters=100), PLAN, RULES))["fail"] == reruns.DRAWS
    edge = verdicts_of(simulate_reruns(rows(0.78, clusters=100), PLAN, RULES))
    assert 50 < edge["pass"] < 950


def test_errors_and_too_few_scores_are_no_verdict() -> None:
    failed = rows(0.9).assign(error="timeout", **{"pass": None})
    assert verdicts_of(simulate_reruns(failed, PLAN, RULES))["incomplete"] == reruns.DRAWS
    unread = rows(0.9, opened=0.9)
    assert verdicts_of(simulate_reruns(unread, PLAN, RULES))["inconclusive"] == reruns.DRAWS
    assert simulate_reruns(rows(0.9).iloc[:0], PLAN, RULES) is None


def test_among_several_tests_a_claim_needs_more() -> None:
    found = simulate_reruns(rows(0.78, clusters=100), PLAN, RULES._replace(tests=3))
    one, _, three = found["passes"]
    assert one > three


@pytest.mark.parametrize("seed", range(20))
def test_the_step_of_a_test_decides_as_holms_correction_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    others = list(rng.choice([0.0, 0.001, 0.012, 0.02, 0.03, 0.2, 1.0], size=seed % 4))
    for p in (0.001, 0.0126, 0.0167, 0.024, 0.026, 0.049, 0.051):
        assert (holm([p, *others])[0] <= LEVEL) == (p <= LEVEL / find_holm_divisor(others))


def outcome(test: str, verdict: str, reached: float | None) -> Outcome:
    return cast(Outcome, {"test_type": test, "verdict": verdict, "reached": reached, "missed": 1.0})


def test_the_share_is_that_of_the_verdict_of_the_run_after_the_correction() -> None:
    own = Reruns(draws=100, incomplete=4, passes=[80, 30], fails=[10, 1])
    alone = add_rerun_shares([outcome("a", "pass", 0.01)], [outcome("a", "pass", 0.01)], {"a": own})
    assert alone[0]["rerun_share"] == 0.8
    both = [outcome("a", "pass", 0.04), outcome("b", "inconclusive", 0.4)]
    corrected = [outcome("a", "inconclusive", 0.08), outcome("b", "inconclusive", 0.4)]
    first, second = add_rerun_shares(both, corrected, {"a": own})
    assert first["rerun_share"] == 0.65
    assert "rerun_share" not in second
