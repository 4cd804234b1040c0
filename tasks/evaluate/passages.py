"""Count changed answers by whether the retrieved passages changed too, for cases and controls."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pandas as pd

from contrapose.tasks.core.passages import Alike, PassageCounts, PassageGroup, PassageSummary
from contrapose.tasks.probes.base import Probe
from contrapose.tasks.probes.values import numbers
from contrapose.tasks.statistics.means import mean
from contrapose.tasks.statistics.shares import clustered_share, fisher, wilson
from contrapose.tasks.tables.results import has_verdict


def make_passage_summary(results: pd.DataFrame, cluster: np.ndarray, probe: Probe) -> PassageSummary:
    """Count cases and controls by the passages of their replies; rows that share a `cluster` are not independent."""
    control = results["control"].to_numpy(dtype=bool)
    # A control passes when the answer stayed as it was, and a case when it is as the test wants it.
    missed = np.where(has_verdict(results), 1 - numbers(results["pass"]), np.nan)
    column = probe.change_column
    changed = np.where(np.isnan(missed), np.nan, numbers(results[column])) if column in results else missed
    return PassageSummary(
        hit="changed" if column in results else "failed",
        cases=count_by_passages(results[~control], changed[~control], cluster[~control]),
        control=count_by_passages(results[control], missed[control], cluster[control]) if control.any() else None,
    )


def count_by_passages(rows: pd.DataFrame, hit: np.ndarray, cluster: np.ndarray) -> PassageCounts:
    """Count groups of rows, of which `hit` is 1 or 0, or NaN where that is open."""
    answered, known = rows["error"].isna().to_numpy(), rows["passages"].notna().to_numpy()
    kept = mean(numbers(rows["passages_kept"]), cluster, bounds=(0, 1))
    counted = known & ~np.isnan(hit)
    alike, hits, own_cluster = (
        rows["passages"].to_numpy(dtype=object)[counted],
        hit[counted].astype(bool),
        cluster[counted],
    )
    groups = []
    for name in get_args(Alike):
        own = alike == name
        if own.any():
            rate = clustered_share(hits[own], own_cluster[own])
            share = clustered_share(own[hits], own_cluster[hits]) if hits.any() else None
            groups.append(
                PassageGroup(
                    passages=name,
                    cases=rate.rows,
                    hits=rate.true,
                    rate=rate.rate,
                    interval=wilson(rate),
                    share=share.rate if share else None,
                    share_interval=wilson(share) if share else None,
                )
            )
    other = alike == "other"
    both = other.any() and not other.all()
    return PassageCounts(
        groups=groups,
        kept=kept.value if kept else None,
        kept_interval=kept.interval if kept else None,
        unknown=int((answered & ~known).sum()),
        open=int((answered & known & np.isnan(hit)).sum()),
        p=fisher(*(clustered_share(hits[part], own_cluster[part]) for part in (other, ~other))) if both else None,
    )
