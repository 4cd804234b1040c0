"""Outcome of one test from its result rows: counts, and a probe's measures as figures with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple, TypedDict

import numpy as np
import pandas as pd

from contrapose.tasks.config.plan import SET, Plan
from contrapose.tasks.core.outcome import (
    ControlSummary,
    DataSummary,
    Effect,
    Estimate,
    LangTestSummary,
    Outcome,
    ReaderError,
    Slice,
)
from contrapose.tasks.core.questions import TOO_LONG
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.gate import Counts, GateDecision, Rules, decide
from contrapose.tasks.evaluate.passages import passage_summary
from contrapose.tasks.evaluate.rates import Rate, rate_of
from contrapose.tasks.probes.base import Measure, Probe
from contrapose.tasks.probes.choices import mass_figures
from contrapose.tasks.probes.known_errors import READ_BY
from contrapose.tasks.probes.values import gate_above, numbers
from contrapose.tasks.statistics.families import benjamini_hochberg
from contrapose.tasks.statistics.means import difference, mean
from contrapose.tasks.statistics.shares import Interval, Share, clustered_share, unequal, wilson
from contrapose.tasks.tables.passages import tells_of_passages
from contrapose.tasks.tables.results import has_verdict, unread_replies
from contrapose.tasks.text.wording import foreign_text

COUNTED = (
    *("sample_id", "cluster", "slice", "scorer", "pass", "undecided", "chance", "error", "reason", "langtest_pass"),
    "control_kind",
)
"""Columns that counts and rates need: a million rows are copied without the others."""
REFUSED = ("equal_sentences", "equal_options", "equal_items")
"""Skip reasons that mean a faulty row: such rows are named one by one."""
MOST_REASONS = 10
"""Reasons named one by one, since a probe of another package may word one for each row."""


class GatedRates(NamedTuple):
    """Counts of the cases of a test, and rates to compare with its gates."""

    counts: Counts
    rates: list[Rate]
    """Those with a gate: the pass rate first, where it has one."""
    documented: Rate | None
    """The documents' pass rate over all cases; None where none was asked."""
    too_few: str
    """The sentence that says that one of them counts too few cases; empty where none does."""


def gated_rates(results: pd.DataFrame, plan: Plan, rules: Rules) -> GatedRates:
    """Return the counts and rates that the verdict on one test follows from."""
    results, _ = by_length(results)
    cases = _cases_of(results[[name for name in ("control", *COUNTED) if name in results]])
    criteria = probe(plan.test).criteria(results, plan.probe_settings)
    # What says nothing is open. Chance is that over the cases in which something can be guessed.
    met, guessed = np.where(has_verdict(cases), numbers(cases["pass"]), np.nan), cases["chance"].dropna()
    chance = float(guessed.mean()) if len(guessed) else None
    wanted, by_options = plan.min_pass_rate, cases["scorer"].ne("embedding").all()
    if chance is not None and wanted <= chance and plan.gate_basis != SET and by_options:
        # A default gate that a guess among options would reach is raised above it.
        wanted = gate_above(chance)
    documented = rate_of("pass_rate", met, clusters_of(cases), wanted=wanted, chance=chance, looks=rules.looks)
    gated = plan.gate_basis == SET or not any(criterion.knows_answers for criterion in criteria)
    rates = [documented if gated else None]
    for criterion in criteria:
        applies, best = criterion.applies, criterion.at_best
        rates.append(
            rate_of(
                criterion.name,
                criterion.met[applies],
                clusters_of(results[applies]),
                wanted=criterion.wanted,
                chance=criterion.chance,
                at_best=None if best is None else best[applies],
                too_few=bool(criterion.too_few),
                looks=rules.looks,
            )
        )
    too_few = next((criterion.too_few for criterion in criteria if criterion.too_few), "")
    return GatedRates(count(cases), [rate for rate in rates if rate is not None], documented, too_few)


def verdict_now(results: pd.DataFrame, plan: Plan, rules: Rules) -> GateDecision | None:
    """Return the decision on one test before all of it is asked; None where nothing can be claimed yet."""
    counts, rates, _, too_few = gated_rates(results, plan, rules)
    claims = (bool(rates) and all(rate.may_be_reached for rate in rates)) or any(rate.may_be_missed for rate in rates)
    return decide(counts, rates, rules, too_few=too_few) if claims else None


def by_length(results: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows whose prompts the model's context window holds, and the other cases as skipped ones."""
    errors = results["error"].fillna("").astype(str)
    if not errors.any() or not (long := errors.str.startswith(TOO_LONG)).any():
        return results, pd.DataFrame()
    cases = results.loc[long & ~results["control"].astype(bool), ["sample_id"]]
    return results[~long], cases.assign(skip_reason="context_too_long")


def _cases_of(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are no controls; a million rows without any are not copied."""
    control = results["control"].to_numpy(dtype=bool)
    return results[~control] if control.any() else results


def summarise(
    results: pd.DataFrame,
    skipped: pd.DataFrame,
    plan: Plan,
    *,
    data: DataSummary,
    rules: Rules,
    kinds: Mapping[str, tuple[int, int]] = MappingProxyType({}),
) -> Outcome:
    """Count, rate and judge one test; its controls are counted separately.

    Texts of its results may be left out, but for the reasons of those without a score. Where nothing was scored, all
    figures are None. Of the cases that were not asked `sample_id` and `skip_reason` are needed.
    """
    results, too_long = by_length(results)
    skipped = pd.concat([skipped, too_long]) if len(too_long) else skipped
    counted = results[[name for name in ("control", *COUNTED) if name in results]]
    controls, cases = counted[counted["control"].to_numpy(dtype=bool)], _cases_of(counted)
    share, chosen = pass_share(cases), probe(plan.test)
    codes = dict(Counter(skipped["skip_reason"]).most_common())
    samples = int(pd.concat([cases["sample_id"], skipped["sample_id"]]).nunique())
    rules = rules._replace(growth=max(1.0, data["rows"] / samples) if samples else math.inf)
    counts, rates, documented, too_few = gated_rates(results, plan, rules)
    verdict, reason, gates, reached, missed = decide(counts, rates, rules, too_few=too_few)
    unscored = unscored_reasons(cases)
    if not counts.scored and verdict == "inconclusive":
        reason = " ".join([reason, *islice(unscored, 1)])
    if verdict == "inconclusive" and (first := foreign_text(codes, samples)):
        reason = f"{first}. {reason}"
    measured = measure_results(results, chosen, scored=counts.scored)
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
        slices=slices(cases),
        langtest=langtest(cases),
        control=noise(controls) if len(controls) else None,
        data=data,
    )
    if unread := unread_replies(_cases_of(results)):
        outcome["unread_replies"] = unread
    if kinds:
        outcome["kinds"] = dict(kinds)
    if tells_of_passages(results.columns):
        outcome["passages"] = passage_summary(results, clusters_of(results), chosen)
    return outcome


class MeasuredFigures(TypedDict):
    """The part of an outcome that a probe measures."""

    figures: dict[str, float | int | None]
    estimates: dict[str, Estimate]
    effects: list[Effect]
    reader: list[ReaderError]


def measure_results(results: pd.DataFrame, chosen: Probe, *, scored: int) -> MeasuredFigures:
    """Measure the answered rows; a measure is dropped once it is estimated, unless controls are subtracted from it."""
    answered = results if results["error"].isna().all() else results[results["error"].isna()]
    compared, nothing = list[Measure](), dict[str, None]()

    def measures() -> Iterator[Measure]:
        for measure in chosen.measures(answered):
            nothing[measure.name] = None
            if measure.net is not None:
                compared.append(measure)
            yield measure

    estimated = estimates(measures(), answered)
    unscored = {} if scored else nothing
    figures = {**chosen.summarise(_cases_of(answered)), **mass_figures(_cases_of(answered)), **unscored}
    values = {**figures, **{name: estimate["value"] for name, estimate in estimated.items()}}
    return MeasuredFigures(
        figures={name: None if value is None or not math.isfinite(value) else value for name, value in values.items()},
        estimates=estimated,
        effects=effects(compared, answered),
        reader=reader_errors(chosen, figures),
    )


def pass_share(rows: pd.DataFrame) -> Share | None:
    """Return the passed among the settled rows, with the design effect of their clusters; None where there are none."""
    scored = rows.loc[has_verdict(rows), ["pass", "cluster", "sample_id"]]
    true = scored["pass"].to_numpy(dtype=bool)
    return clustered_share(true, clusters_of(scored)) if len(true) else None


def count(results: pd.DataFrame) -> Counts:
    """Count the asked cases."""
    failed, scored = results["error"].notna(), has_verdict(results)
    return Counts(
        asked=len(results),
        scored=int(scored.sum()),
        passed=int(results.loc[scored, "pass"].astype(bool).sum()),
        errors=int(failed.sum()),
    )


def unscored_reasons(cases: pd.DataFrame) -> dict[str, int]:
    """Return why answered cases could not be scored: the most common reasons, and `other` for the rest."""
    counts = count_names(cases.loc[~has_verdict(cases) & cases["error"].isna(), "reason"].fillna("no reason given"))
    commonest = dict(islice(counts.items(), MOST_REASONS))
    others = sum(counts.values()) - sum(commonest.values())
    return {**commonest, "other": commonest.get("other", 0) + others} if others else commonest


def noise(controls: pd.DataFrame) -> ControlSummary:
    """Count the answers that changed although the meaning had not."""
    counts, share = count(controls), pass_share(controls)
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


def slices(results: pd.DataFrame) -> list[Slice]:
    """Pass rate of every slice, in the order of their names; none without a tag column."""
    names = sorted(results["slice"].dropna().unique())
    if not names:
        return []
    scored = results[has_verdict(results)]
    true, cluster = scored["pass"].to_numpy(dtype=bool), clusters_of(scored)
    inside = [scored["slice"].eq(name).to_numpy() for name in names]
    shares = [
        [clustered_share(true[rows], cluster[rows]) if rows.any() else None for rows in (part, ~part)]
        for part in inside
    ]
    compared = [unequal(part, rest) if part and rest else None for part, rest in shares]
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


def count_names(names: pd.Series) -> dict[str, int]:
    """Count each name, the most frequent one first."""
    codes, distinct = pd.factorize(names)
    counts = np.bincount(codes, minlength=len(distinct))
    return dict(Counter(dict(zip(distinct, map(int, counts), strict=True))).most_common())


def reader_errors(chosen: Probe, figures: Mapping[str, float | int | None]) -> list[ReaderError]:
    """Return the known errors of the steps that read some of the replies."""
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


def langtest(cases: pd.DataFrame) -> LangTestSummary | None:
    """Count what LangTest would have said, over the cases that both judge."""
    if "langtest_pass" not in cases:
        return None
    both = cases.loc[cases["langtest_pass"].notna() & cases["pass"].notna(), ["langtest_pass", "pass"]].astype(bool)
    if both.empty:
        return None
    agreed = int((both["langtest_pass"] == both["pass"]).sum())
    return LangTestSummary(judged=len(both), passed=int(both["langtest_pass"].sum()), agreed=agreed)


def clusters_of(results: pd.DataFrame) -> np.ndarray:
    """Return which rows are not independent: those of one cluster, else those of one sample; (rows,) of numbers.

    A cluster may be named as a sample of another one is.
    """
    cluster, sample = (pd.factorize(results[name])[0] for name in ("cluster", "sample_id"))
    return np.where(cluster >= 0, cluster, len(results) + sample)


def estimates(measures: Iterable[Measure], results: pd.DataFrame) -> dict[str, Estimate]:
    """Return the mean of each measure over the cases, by its name; what no row has is left out."""
    case = ~results["control"].to_numpy(dtype=bool)
    cluster = clusters_of(results)
    estimated = {}
    for measure in measures:
        own = mean(measure.values[case], cluster[case], share=measure.share, bounds=measure.bounds)
        if own is not None:
            estimated[measure.name] = Estimate(
                value=own.value, interval=own.interval, rows=own.rows, clusters=own.clusters, among=measure.among
            )
    return estimated


def effects(measures: Iterable[Measure], results: pd.DataFrame) -> list[Effect]:
    """Return cases minus controls of the measures that ask for it, over the samples that have both."""
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
        shown.append(
            Effect(
                name=measure.net,
                measure=measure.name,
                value=net.value,
                interval=net.interval,
                case=float(pairs["case"].mean()),
                control=float(pairs["c"].mean()),
                samples=net.rows,
                clusters=net.clusters,
            )
        )
    return shown
