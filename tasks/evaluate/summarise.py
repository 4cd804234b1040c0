"""Result rows into the outcome of one test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import pandas as pd

from contrapose.tasks.config import Plan
from contrapose.tasks.evaluate.gate import Counts, Gate, decide
from contrapose.tasks.evaluate.statistics import wilson
from contrapose.tasks.outcome import ControlSummary, DataSummary, Outcome, Slice
from contrapose.tasks.registry import probe

REFUSED = ("equal_sentences", "equal_options")
"""Skip reasons that mean a faulty row: such rows are named one by one."""


def summarise(
    results: pd.DataFrame,
    skipped: pd.DataFrame,
    plan: Plan,
    *,
    data: DataSummary,
    max_error_share: float,
    gate: Gate,
) -> Outcome:
    """Count, rate and judge one test; its controls are counted apart.

    Args:
        results: its result rows; their texts may be left out.
        skipped: `sample_id` and `skip_reason` of its cases that were not asked.
        plan: the selected test.
        data: where its samples came from.
        max_error_share: above it the test is incomplete.
        gate: how the pass rate is held against `min_pass_rate`.
    """
    control = results["control"].astype(bool)
    controls, results = results[control], results[~control]
    counts = count(results)
    verdict, reason = decide(counts, min_pass_rate=plan.min_pass_rate, max_error_share=max_error_share, gate=gate)
    chosen = probe(plan.test)
    return Outcome(
        test_type=plan.test,
        category=chosen.category,
        probe_version=chosen.version,
        verdict=verdict,
        reason=reason,
        min_pass_rate=plan.min_pass_rate,
        cases=counts.asked + len(skipped),
        skipped=len(skipped),
        skip_reasons=dict(Counter(skipped["skip_reason"]).most_common()),
        refused=list(skipped.loc[skipped["skip_reason"].isin(REFUSED), "sample_id"]),
        scored=counts.scored,
        passed=counts.passed,
        unscored=counts.unscored,
        errors=counts.errors,
        pass_rate=counts.passed / counts.scored if counts.scored else None,
        interval=wilson(counts.passed, counts.scored) if counts.scored else None,
        chance=chosen.chance,
        settings=plan.settings,
        scorers=dict(Counter(results["scorer"]).most_common()),
        figures=plain(chosen.summarise(results[results["error"].isna()])),
        slices=slices(results),
        control=noise(controls) if len(controls) else None,
        data=data,
    )


def count(results: pd.DataFrame) -> Counts:
    """What became of the asked cases."""
    failed = results["error"].notna()
    scored = results["pass"].notna() & ~failed
    return Counts(
        asked=len(results),
        scored=int(scored.sum()),
        passed=int(results.loc[scored, "pass"].astype(bool).sum()),
        errors=int(failed.sum()),
    )


def noise(controls: pd.DataFrame) -> ControlSummary:
    """How many answers changed although the meaning had not."""
    counts = count(controls)
    changed = counts.scored - counts.passed
    return ControlSummary(
        cases=counts.asked,
        scored=counts.scored,
        changed=changed,
        unscored=counts.unscored,
        errors=counts.errors,
        noise=changed / counts.scored if counts.scored else None,
        interval=wilson(changed, counts.scored) if counts.scored else None,
    )


def slices(results: pd.DataFrame) -> list[Slice]:
    """Pass rate of every slice, in the order of their names; none without a tag column."""
    found = []
    for name, rows in results.groupby("slice", sort=True):
        counts = count(rows)
        rate = counts.passed / counts.scored if counts.scored else None
        found.append(Slice(name=str(name), scored=counts.scored, passed=counts.passed, pass_rate=rate))
    return found


def plain(figures: Mapping[str, float | int | None]) -> dict[str, float | int | None]:
    """Python numbers only, with None for what is not finite."""
    return {name: None if value is None or not math.isfinite(value) else value for name, value in figures.items()}
