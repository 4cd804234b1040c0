"""Compute the rates of a test that have gates, from the cases that each rate counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from contrapose.tasks.config.plan import SET, Plan
from contrapose.tasks.core.questions import TOO_LONG
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.gate import Counts, GateDecision, Rules, decide
from contrapose.tasks.evaluate.noise import explain_doubt
from contrapose.tasks.evaluate.rates import GatedCases, Rate, RowOrigin
from contrapose.tasks.probes.prompt_settings import PromptSettings
from contrapose.tasks.probes.values import compute_gate_above, numbers
from contrapose.tasks.statistics.components import LEAST_WORDINGS
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.tables.results import clusters_of, has_verdict

COUNTED = (
    *("sample_id", "cluster", "slice", "scorer", "pass", "undecided", "chance", "error", "reason", "langtest_pass"),
    *("control_kind", "wording"),
)
"""Columns that counts and rates need: a million rows are copied without the others."""


class GatedRates(NamedTuple):
    """Counts of the cases of a test, and rates to compare with its gates."""

    counts: Counts
    rates: list[Rate]
    """Those with a gate: the pass rate first, where it has one."""
    documented: Rate | None
    """The documents' pass rate over all cases, or None if none was asked."""
    too_few: str
    """The sentence that says that one of them counts too few cases; empty if none does."""


def select_gated(results: pd.DataFrame, plan: Plan, looks: Looks) -> tuple[pd.DataFrame, GatedCases, list[GatedCases]]:
    """Return all cases of a test, the cases of its pass rate, and the cases of each rate with a gate."""
    cases = drop_controls(results[[name for name in ("control", *COUNTED) if name in results]])
    chosen = probe(plan.test)
    criteria = chosen.criteria(results, plan.probe_settings)
    # What says nothing is open. Chance is that over the cases in which something can be guessed.
    met, guessed = np.where(has_verdict(cases), numbers(cases["pass"]), np.nan), cases["chance"].dropna()
    chance = float(guessed.mean()) if len(guessed) else None
    constant = ""
    if (guess := chosen.guessed_rate(results)) is not None and guess.rate > (chance or 0.0):
        chance, constant = guess
    wanted, by_options = plan.min_pass_rate, cases["scorer"].ne("embedding").all()
    if chance is not None and wanted <= chance and plan.gate_basis != SET and by_options:
        # A default gate that a guess among options would reach is raised above it.
        wanted = compute_gate_above(chance)
    documented = GatedCases(
        "pass_rate", wanted, chance, ~results["control"].to_numpy(dtype=bool), met, constant=constant
    )
    gated = [documented] if plan.gate_basis == SET or not any(one.knows_answers for one in criteria) else []
    for one in criteria:
        rows, best = one.applies, one.at_best
        own = GatedCases(one.name, one.wanted, one.chance, rows, one.met[rows], None if best is None else best[rows])
        gated.append(own._replace(constant=one.constant, too_few=one.too_few))
    if doubt := explain_doubt(results, chosen, level=looks.level(LEVEL)):
        changed, stays = numbers(results["changed"]), chosen.keeps_answer(plan.probe_settings)
        gated = [one.excuse_noise(changed, doubt, stays=stays) for one in gated]
        documented = next((one for one in gated if one.name == documented.name), documented)
    return cases, documented, gated


def compute_gated_rates(results: pd.DataFrame, plan: Plan, rules: Rules) -> GatedRates:
    """Return the counts and rates that decide the verdict on one test."""
    results, _ = split_too_long(results)
    cases, documented, gated = select_gated(results, plan, rules.looks)
    cluster, asked = clusters_of(results), number_wordings(results, plan)
    whole = documented.rate(cluster, rules.looks, asked)
    rates = [whole if one is documented else one.rate(cluster, rules.looks, asked) for one in gated]
    too_few = next((one.too_few for one in gated if one.too_few), "")
    return GatedRates(make_counts(cases), [rate for rate in rates if rate is not None], whole, too_few)


def decide_early(results: pd.DataFrame, plan: Plan, rules: Rules) -> GateDecision | None:
    """Return an early decision on a test that is not fully asked, or None if nothing can be claimed yet."""
    counts, rates, _, too_few = compute_gated_rates(results, plan, rules)
    claims = (bool(rates) and all(rate.may_be_reached for rate in rates)) or any(rate.may_be_missed for rate in rates)
    return decide(counts, rates, rules, too_few=too_few) if claims else None


def split_too_long(results: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows whose prompts fit the model's context window, and the others as skipped cases."""
    errors = results["error"].fillna("").astype(str)
    if not errors.any() or not (long := errors.str.startswith(TOO_LONG)).any():
        return results, pd.DataFrame()
    cases = results.loc[long & ~results["control"].astype(bool), ["sample_id"]]
    return results[~long], cases.assign(skip_reason="context_too_long")


def drop_controls(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without controls; a table without controls is not copied."""
    control = results["control"].to_numpy(dtype=bool)
    return results[~control] if control.any() else results


def make_counts(results: pd.DataFrame) -> Counts:
    """Count the asked cases."""
    failed, scored = results["error"].notna(), has_verdict(results)
    return Counts(
        asked=len(results),
        scored=int(scored.sum()),
        passed=int(results.loc[scored, "pass"].astype(bool).sum()),
        errors=int(failed.sum()),
    )


def number_wordings(results: pd.DataFrame, plan: Plan) -> RowOrigin | None:
    """Number each row's sample and wording; return None if there are too few wordings for a sample of all.

    The plan's number of wordings counts: at an early look some may not have been asked yet.
    """
    settings = plan.probe_settings
    if not isinstance(settings, PromptSettings) or settings.wording_count < LEAST_WORDINGS:
        return None
    return RowOrigin(*(pd.factorize(results[name])[0] for name in ("sample_id", "wording")))
