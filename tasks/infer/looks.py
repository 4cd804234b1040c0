"""After which cases a run looks that may stop early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa

from contrapose.tasks.tables.table import Table, batches

LEAST = 32
"""Cases between two looks, unless told otherwise: a model that is asked fewer at a time is asked slowly."""
MOST_LOOKS = 50
"""With more of them hardly anything is decided earlier."""
COLUMNS = ["cluster", "sample_id", "skip_reason", "control"]


class Look(NamedTuple):
    """A place in the order of a test's cases."""

    end: int
    """How many rows come before it, those of skipped cases and of controls too."""
    judged: int
    """How many cases come before it that are judged: neither skipped nor controls."""


class ClusterRows(NamedTuple):
    """The cases of a cluster, which are asked together."""

    rows: int
    """All of them."""
    judged: int
    """Those that are neither skipped nor controls."""


def looks(cases: Table, *, size: int | None) -> list[Look]:
    """A look after each portion of at least `size` cases, and one after the last; none where no case is judged.

    Cases that are not independent of each other are never parted: a portion ends where a cluster does. Where the looks
    are depends on no reply.
    """
    groups = [[judged for _, judged in group] for _, group in groupby(_rows(cases), key=itemgetter(0))]
    return looks_between([ClusterRows(len(group), sum(group)) for group in groups], size=size)


def looks_between(clusters: Sequence[ClusterRows], *, size: int | None) -> list[Look]:
    """The same looks, from what each cluster has, in the order in which they are asked."""
    total = sum(cluster.judged for cluster in clusters)
    size = size or max(LEAST, ceil(total / MOST_LOOKS))
    chosen, end, judged, before = [], 0, 0, 0
    for cluster in clusters:
        end, judged = end + cluster.rows, judged + cluster.judged
        if judged - before >= size and judged < total:
            chosen.append(Look(end, judged))
            before = judged
    return [*chosen, Look(end, total)] if total else []


def _rows(cases: Table) -> Iterator[tuple[tuple[str, bool], bool]]:
    """To which cluster each case belongs, which may be named as a sample is, and whether it is judged."""
    for part in batches(cases, columns=COLUMNS):
        yield from map(_row, *_lists(part))


def _row(cluster: str | None, sample: str, skip_reason: str | None, control: bool) -> tuple[tuple[str, bool], bool]:
    return (cluster or sample, cluster is None), skip_reason is None and not control


def _lists(part: pa.Table) -> Iterator[list[object]]:
    return (part[name].to_pylist() for name in COLUMNS)
