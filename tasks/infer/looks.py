"""Places at which a run that may stop early looks at its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from operator import itemgetter
from typing import NamedTuple

from contrapose.tasks.tables.table import Table, batches

LEAST = 32
"""Cases between two looks, unless set otherwise: a model that is asked fewer at a time is asked slowly."""
MOST_LOOKS = 50
"""With more of them hardly anything is decided earlier."""


class Look(NamedTuple):
    """A place in the order of a test's cases."""

    end: int
    """Number of rows before it, those of skipped cases and of controls too."""
    judged: int
    """Number of judged cases before it: neither skipped nor controls."""


class ClusterRows(NamedTuple):
    """The cases of a cluster, which are asked together."""

    rows: int
    """All of them."""
    judged: int
    """Those that are neither skipped nor controls."""


def looks(cases: Table, *, size: int | None) -> list[Look]:
    """Return a look after each portion of at least `size` cases, and one after the last; none without judged cases.

    Cases that are not independent of each other stay together: a portion ends where a cluster does. The places of
    looks depend on no reply.
    """

    def rows() -> Iterator[tuple[tuple[str, bool], bool]]:
        # A cluster may have the name of a sample.
        for part in batches(cases, columns=["cluster", "sample_id", "skip_reason", "control"]):
            for cluster, sample, skip_reason, control in zip(*(column.to_pylist() for column in part), strict=True):
                yield (cluster or sample, cluster is None), skip_reason is None and not control

    groups = [[judged for _, judged in group] for _, group in groupby(rows(), key=itemgetter(0))]
    return looks_between([ClusterRows(len(group), sum(group)) for group in groups], size=size)


def looks_between(clusters: Sequence[ClusterRows], *, size: int | None) -> list[Look]:
    """Return the same looks, by the cases of each cluster, in the order in which they are asked."""
    total = sum(cluster.judged for cluster in clusters)
    size = size or max(LEAST, ceil(total / MOST_LOOKS))
    chosen, end, judged, before = [], 0, 0, 0
    for cluster in clusters:
        end, judged = end + cluster.rows, judged + cluster.judged
        if judged - before >= size and judged < total:
            chosen.append(Look(end, judged))
            before = judged
    return [*chosen, Look(end, total)] if total else []
