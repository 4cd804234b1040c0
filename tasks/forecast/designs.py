"""Find the cheapest design: how many samples and wordings give an interval of a wanted length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from contrapose.tasks.core.slices import WordingVariances
from contrapose.tasks.statistics.components import ASSUMED, LEAST_WORDINGS
from contrapose.tasks.statistics.power import IN_SAMPLE
from contrapose.tasks.statistics.shares import CONFIDENCE

RATE = 0.7
"""Pass rate that is assumed where nothing was measured."""
HALF_WIDTH = 0.05
"""Length of an interval to either side that is aimed at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A test design: the number of samples, of wordings, and of wordings for each sample."""

    samples: int
    wordings: int
    per_sample: int
    """Wordings of each sample."""

    @property
    def cases(self) -> int:
        """Return how many cases are asked, if each sample has one in each of its wordings."""
        return self.samples * self.per_sample

    def half_width(self, variances: WordingVariances) -> float:
        """Return half the length that the 95 % interval of the pass rate is expected to have."""
        rest = variances["askings"] + variances["rest"]
        variance = (variances["samples"] or 0.0) / self.samples + rest / self.cases
        variance += variances["wordings"] / self.wordings
        return float(_quantile(self.wordings) * variance**0.5)


def _quantile(wordings: int) -> float:
    """Return Student's quantile of an interval over so many wordings."""
    from scipy.special import stdtrit

    return float(stdtrit(wordings - 1, (1 + CONFIDENCE) / 2))


def assume_variances() -> WordingVariances:
    """Return the variances assumed without measurements, for a pass rate of 70 %."""
    whole = RATE * (1 - RATE)
    samples, wordings = IN_SAMPLE * whole, ASSUMED * whole
    return WordingVariances(samples=samples, wordings=wordings, askings=0.0, rest=whole - samples - wordings)


def cheapest(variances: WordingVariances, *, half_width: float, most_samples: int, most_wordings: int) -> Design | None:
    """Return the design with the fewest cases whose interval is short enough, or None if no design's is.

    At least six wordings are asked, so that the interval covers their choice. Of equally cheap designs the one with
    the most samples is taken.
    """
    designs = _enough(variances, half_width, most_samples, most_wordings)
    return min(designs, key=lambda design: (design.cases, -design.samples, design.wordings), default=None)


def _enough(variances: WordingVariances, half_width: float, most_samples: int, most_wordings: int) -> Iterator[Design]:
    """Yield for each number of wordings, and each number for a sample, the fewest samples that are enough."""
    rest = variances["askings"] + variances["rest"]
    for wordings in range(LEAST_WORDINGS, most_wordings + 1):
        allowed = (half_width / _quantile(wordings)) ** 2
        left = allowed - variances["wordings"] / wordings
        for per_sample in range(1, wordings + 1) if left > 0 else ():
            samples = max(
                ceil(((variances["samples"] or 0.0) + rest / per_sample) / left), ceil(2 * wordings / per_sample)
            )
            if samples <= most_samples:
                yield Design(samples=samples, wordings=wordings, per_sample=per_sample)
