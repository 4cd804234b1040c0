"""Measure the noise in a test's results, and check whether noise could explain its verdict."""

from __future__ import annotations

import numpy as np
import pandas as pd

from contrapose.tasks.core.noise import ACROSS, AGAIN, LEAN, NET
from contrapose.tasks.core.outcome import Estimate
from contrapose.tasks.evaluate.scoring import PAIR_COLUMNS
from contrapose.tasks.probes.base import Probe
from contrapose.tasks.probes.values import numbers
from contrapose.tasks.statistics.means import Mean
from contrapose.tasks.statistics.noise import AskingPairs, Noise, estimate_lean, estimate_noise
from contrapose.tasks.statistics.shares import CONFIDENCE, LEVEL
from contrapose.tasks.tables.results import clusters_of
from contrapose.tasks.text.wording import distinct_percentages


def compute_noise(results: pd.DataFrame, *, confidence: float = CONFIDENCE) -> Noise | None:
    """Return noise and net change over the cases that were asked more than once, or None if none was."""
    if "across_pairs" not in results:
        return None
    rows = results[results["across_pairs"].notna() & results["error"].isna()]
    pairs = AskingPairs(*(np.nan_to_num(numbers(rows[name])) for name in PAIR_COLUMNS))
    return estimate_noise(pairs, clusters_of(rows), confidence=confidence) if len(rows) else None


def make_noise_estimates(results: pd.DataFrame, chosen: Probe) -> dict[str, Estimate]:
    """Return the known estimates among noise, change, net change and lean to a position."""
    noise, cases = compute_noise(results), results[~results["control"].to_numpy(dtype=bool)]
    means = dict(zip((AGAIN, ACROSS, NET), noise, strict=True)) if noise else dict[str, Mean]()
    lean = chosen.position_lean(cases)
    leaning = None if lean is None else estimate_lean(lean, clusters_of(cases))
    means |= {LEAN: leaning} if leaning else {}
    return {
        name: Estimate(value=mean.value, interval=mean.interval, rows=mean.rows, clusters=mean.clusters, among="")
        for name, mean in means.items()
    }


def explain_doubt(results: pd.DataFrame, chosen: Probe, *, level: float = LEVEL) -> str:
    """Return a sentence if noise may explain the changed answers; "" if it does not or is unknown.

    It does not where the net change is shown to be above 0 at this level, nor where a lean to one position is shown,
    which noise cannot create; where both are looked at, each has half the level.
    """
    if "across_pairs" not in results or not results["across_pairs"].any():
        return ""
    cases = results[~results["control"].to_numpy(dtype=bool)]
    lean = chosen.position_lean(cases)
    level = level if lean is None else level / 2
    noise = compute_noise(results, confidence=1 - 2 * level)
    if noise is None or (noise.net.interval is not None and noise.net.interval.low > 0):
        return ""
    leaning = None if lean is None else estimate_lean(lean, clusters_of(cases), confidence=1 - level)
    if leaning and leaning.interval and not leaning.interval.low <= 0 <= leaning.interval.high:
        return ""
    again, across = distinct_percentages(noise.again.value, noise.across.value)
    return (
        f"The answers change in {across} of the pairs under the change, and in {again} when the same prompt is asked "
        f"again ({noise.net.rows:,} samples): noise may explain the result. Set noise or repeats higher."
    )
