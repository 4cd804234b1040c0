"""Whether answers changed with other passages or with the same ones: counts and rates apart, cases and controls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np
import pandas as pd

from contrapose.tasks.core.passages import Alike, PassageCounts, PassageGroup, PassageSummary
from contrapose.tasks.probes.base import Probe, TellsChange
from contrapose.tasks.probes.values import numbers
from contrapose.tasks.statistics.means import mean
from contrapose.tasks.statistics.shares import clustered, unequal, wilson
from contrapose.tasks.tables.results import settled


def passage_summary(results: pd.DataFrame, cluster: np.ndarray, probe: Probe) -> PassageSummary:
    """Count a test by the passages of its replies.

    Args:
        results: cases and controls, with the columns `passages` and `passages_kept`.
        cluster: (rows,) of labels; rows that share one are not independent.
        probe: of the test; it may know which answers changed.
    """
    control = results["control"].to_numpy(dtype=bool)
    # A control passes when the answer stayed as it was, and a case when it is as the test wants it.
    missed = np.where(settled(results), 1 - numbers(results["pass"]), np.nan)
    column = probe.change_column if isinstance(probe, TellsChange) else ""
    changed = np.where(np.isnan(missed), np.nan, numbers(results[column])) if column in results else missed
    return PassageSummary(
        hit="changed" if column in results else "failed",
        cases=_counts(results[~control], changed[~control], cluster[~control]),
        control=_counts(results[control], missed[control], cluster[control]) if control.any() else None,
    )


def _counts(rows: pd.DataFrame, hit: np.ndarray, cluster: np.ndarray) -> PassageCounts:
    """Groups of rows, of which `hit` is 1 or 0, or NaN where that is open."""
    alike = rows["passages"].to_numpy(dtype=object)
    answered, known = rows["error"].isna().to_numpy(), rows["passages"].notna().to_numpy()
    counted, kept = known & ~np.isnan(hit), mean(numbers(rows["passages_kept"]), cluster, bounds=(0, 1))
    return PassageCounts(
        groups=list(_groups(alike[counted], hit[counted].astype(bool), cluster[counted])),
        kept=kept.value if kept else None,
        kept_interval=kept.interval if kept else None,
        unknown=int((answered & ~known).sum()),
        open=int((answered & known & np.isnan(hit)).sum()),
        p=_unequal(alike[counted] == "other", hit[counted].astype(bool), cluster[counted]),
    )


def _groups(alike: np.ndarray, hit: np.ndarray, cluster: np.ndarray) -> Iterator[PassageGroup]:
    for name in get_args(Alike):
        own = alike == name
        if not own.any():
            continue
        rate = clustered(hit[own], cluster[own])
        share = clustered(own[hit], cluster[hit]) if hit.any() else None
        yield PassageGroup(
            passages=name,
            cases=rate.rows,
            hits=rate.true,
            rate=rate.rate,
            interval=wilson(rate),
            share=share.rate if share else None,
            share_interval=wilson(share) if share else None,
        )


def _unequal(other: np.ndarray, hit: np.ndarray, cluster: np.ndarray) -> float | None:
    if other.all() or not other.any():
        return None
    first, second = (clustered(hit[part], cluster[part]) for part in (other, ~other))
    return unequal(first, second)
