"""Result rows into the outcome of one test."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import islice

import numpy as np
import pandas as pd

from contrapose.tasks.evaluate.estimates import clusters_of, effects, estimates
from contrapose.tasks.evaluate.gate import Counts, Rules, decide
from contrapose.tasks.outcome import ControlSummary, DataSummary, LangTestSummary, Outcome, Slice
from contrapose.tasks.plan import Plan
from contrapose.tasks.registry import probe
from contrapose.tasks.statistics.families import benjamini_hochberg
from contrapose.tasks.statistics.shares import Interval, Share, clustered, unequal, wilson

CHANCE = "chance_pass_rate"
"""Figure of a probe whose chance depends on the samples."""
COUNTED = ("sample_id", "cluster", "slice", "scorer", "pass", "error", "reason", "langtest_pass")
"""Columns that counts and rates need: a million rows are copied without the others."""
REFUSED = ("equal_sentences", "equal_options")
"""Skip reasons that mean a faulty row: such rows are named one by one."""
MOST_REASONS = 10
"""Reasons told one by one, since a probe of another package may word one for each row."""


def summarise(results: pd.DataFrame, skipped: pd.DataFrame, plan: Plan, *, data: DataSummary, rules: Rules) -> Outcome:
    """Count, rate and judge one test; its controls are counted apart.

    Args:
        results: its result rows; their texts may be left out, but for the reasons of those without a score.
        skipped: `sample_id` and `skip_reason` of its cases that were not asked.
        plan: the selected test.
        data: where its samples came from.
        rules: what its pass rate is held against.
    """
    control = results["control"].astype(bool)
    counted = results[[name for name in COUNTED if name in results]]
    controls, cases = counted[control], counted[~control]
    counts, share = count(cases), passed(cases)
    verdict, reason, judged = decide(counts, share, rules)
    chosen = probe(plan.test)
    answered = results if results["error"].isna().all() else results[results["error"].isna()]
    measures = chosen.measures(answered)
    estimated = estimates(measures, answered)
    figures = chosen.summarise(answered[~answered["control"].astype(bool)])
    return Outcome(
        test_type=plan.test,
        category=chosen.category,
        probe_version=chosen.version,
        verdict=verdict,
        reason=reason,
        min_pass_rate=plan.min_pass_rate,
        cases=counts.asked + len(skipped),
        samples=int(pd.concat([cases["sample_id"], skipped["sample_id"]]).nunique()),
        skipped=len(skipped),
        skip_reasons=dict(Counter(skipped["skip_reason"]).most_common()),
        refused=list(skipped.loc[skipped["skip_reason"].isin(REFUSED), "sample_id"]),
        scored=counts.scored,
        passed=counts.passed,
        unscored=counts.unscored,
        unscored_reasons=unscored_reasons(cases),
        errors=counts.errors,
        pass_rate=share.rate if share else None,
        interval=wilson(share) if share else None,
        coverage=counts.coverage,
        extremes=counts.extremes,
        gate=judged,
        chance=chosen.chance if chosen.chance is not None else figures.get(CHANCE),
        settings=plan.settings,
        scorers=_frequent(cases["scorer"]),
        figures=plain({**figures, **{name: each["value"] for name, each in estimated.items()}}),
        estimates=estimated,
        effects=effects(measures, answered),
        slices=slices(cases),
        langtest=langtest(cases),
        control=noise(controls) if len(controls) else None,
        data=data,
    )


def passed(rows: pd.DataFrame) -> Share | None:
    """The passed among the scored rows, with the design effect of their clusters; None where none was scored."""
    scored = rows.loc[rows["pass"].notna() & rows["error"].isna(), ["pass", "cluster", "sample_id"]]
    return _share(scored["pass"].to_numpy(dtype=bool), clusters_of(scored))


def _share(true: np.ndarray, cluster: np.ndarray) -> Share | None:
    return clustered(true, cluster) if len(true) else None


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


def unscored_reasons(cases: pd.DataFrame) -> dict[str, int]:
    """Why answered cases got no score: the most common reasons, and `other` for the rest."""
    counts = _frequent(cases.loc[cases["pass"].isna() & cases["error"].isna(), "reason"].fillna("no reason told"))
    told = dict(islice(counts.items(), MOST_REASONS))
    others = sum(counts.values()) - sum(told.values())
    return {**told, "other": told.get("other", 0) + others} if others else told


def noise(controls: pd.DataFrame) -> ControlSummary:
    """How many answers changed although the meaning had not."""
    counts, share = count(controls), passed(controls)
    changed = counts.scored - counts.passed
    return ControlSummary(
        cases=counts.asked,
        scored=counts.scored,
        changed=changed,
        unscored=counts.unscored,
        errors=counts.errors,
        noise=changed / counts.scored if counts.scored else None,
        interval=_others(wilson(share)) if share else None,
    )


def _others(passed: Interval) -> Interval:
    """The interval of the rows that did not pass: Wilson's is symmetric."""
    return Interval(1 - passed.high, 1 - passed.low)


def slices(results: pd.DataFrame) -> list[Slice]:
    """Pass rate of every slice, in the order of their names; none without a tag column."""
    names = sorted(results["slice"].dropna().unique())
    if not names:
        return []
    scored = results[results["pass"].notna() & results["error"].isna()]
    true, cluster = scored["pass"].to_numpy(dtype=bool), clusters_of(scored)
    inside = [scored["slice"].eq(name).to_numpy() for name in names]
    found = [[_share(true[rows], cluster[rows]) for rows in (part, ~part)] for part in inside]
    compared = [unequal(part, rest) if part and rest else None for part, rest in found]
    known = iter(benjamini_hochberg([p for p in compared if p is not None]))
    return [
        Slice(
            name=str(name),
            scored=share.rows if share else 0,
            passed=share.true if share else 0,
            pass_rate=share.rate if share else None,
            interval=wilson(share) if share else None,
            p=None if p is None else next(known),
        )
        for name, (share, _), p in zip(names, found, compared, strict=True)
    ]


def _frequent(names: pd.Series) -> dict[str, int]:
    """How often each name occurs, the most frequent one first."""
    codes, distinct = pd.factorize(names)
    counts = np.bincount(codes, minlength=len(distinct))
    return dict(Counter(dict(zip(distinct, map(int, counts), strict=True))).most_common())


def langtest(cases: pd.DataFrame) -> LangTestSummary | None:
    """What LangTest would have said, over the cases that both judge."""
    if "langtest_pass" not in cases:
        return None
    both = cases.loc[cases["langtest_pass"].notna() & cases["pass"].notna(), ["langtest_pass", "pass"]].astype(bool)
    if both.empty:
        return None
    agreed = int((both["langtest_pass"] == both["pass"]).sum())
    return LangTestSummary(judged=len(both), passed=int(both["langtest_pass"].sum()), agreed=agreed)


def plain(figures: Mapping[str, float | int | None]) -> dict[str, float | int | None]:
    """Python numbers only, with None for what is not finite."""
    return {name: None if value is None or not math.isfinite(value) else value for name, value in figures.items()}
