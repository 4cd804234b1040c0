"""Divide cases into portions for task runs, and choose the looks: when a run checks whether it can stop early."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from operator import itemgetter
from typing import NamedTuple

from contrapose.tasks.tables.table import Table, batches, read_arrow

MOST_CHUNKS = 200
"""Most chunks of one test, because Prefect's server accepts only about 50 task runs a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Neighbouring rows of a test's cases for one task run; skipped cases in it are not asked."""

    label: str
    """For people: which cases of the test."""
    first: int
    """Place of the first row, from 0."""
    end: int
    """Place after the last one."""


def yield_chunks(test: str, cases: Table, size: int, *, ends: Sequence[int] = ()) -> Iterator[Chunk]:
    """Yield portions of `size` cases that are not skipped; larger ones if there would be too many portions.

    The cases of one sample stay together, so that the prompt they share is sent once; a sample with
    more than `size` of them is a portion of its own. No portion reaches across `ends`, ascending places of rows.
    """
    total = read_arrow(cases, columns=["skip_reason"])["skip_reason"].null_count
    number, size = 1, max(size, ceil(total / MOST_CHUNKS))

    def places() -> Iterator[tuple[str, int]]:
        start = 0
        for part in batches(cases, columns=["sample_id", "skip_reason"]):
            samples, reasons = part["sample_id"].to_pylist(), part["skip_reason"].to_pylist()
            yield from ((samples[row], start + row) for row, reason in enumerate(reasons) if reason is None)
            start += len(part)

    for _, group in groupby(places(), key=lambda place: bisect_right(ends, place[1])):
        for portion in group_rows(group, size):
            last = number + len(portion) - 1
            yield Chunk(label=f"{test} {number}-{last} of {total}", first=portion[0], end=portion[-1] + 1)
            number = last + 1


def group_rows(places: Iterable[tuple[str, int]], size: int) -> Iterator[list[int]]:
    """Yield rows of (sample, row) pairs in portions of `size` neighbours; rows of one sample stay together."""
    portion: list[int] = []
    for _, group in groupby(places, key=itemgetter(0)):
        same = [row for _, row in group]
        if portion and len(portion) + len(same) > size:
            yield portion
            portion = []
        portion += same
    if portion:
        yield portion


def count_questions(cases: Table, *, first: int = 0) -> int:
    """Return the number of questions of the cases from row `first` on; a shared question counts for each case."""
    import pyarrow.compute as pc

    further = {"also_in_words": 1, "also_again": 2}
    rows = read_arrow(cases, columns=["skip_reason", "loss_of", *further]).slice(first)
    asked = pc.is_null(rows["skip_reason"])
    with_loss = pc.and_(asked, pc.is_valid(rows["loss_of"]))
    pairs = int(pc.sum(asked).as_py() or 0) + int(pc.sum(with_loss).as_py() or 0)
    return 2 * pairs + sum(times * int(pc.sum(rows[name]).as_py() or 0) for name, times in further.items())


LEAST = 32
"""Cases between two looks, unless you set another number: fewer at a time would be slow."""
MOST_LOOKS = 50
"""More looks decide hardly anything earlier."""


class Look(NamedTuple):
    """A place in the order of a test's cases where the run checks its results."""

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


def list_looks(cases: Table, *, size: int | None) -> list[Look]:
    """Return a look after each portion of at least `size` cases, and after the last; none if no case is judged.

    Cases that depend on each other stay together, because a portion ends at the end of a cluster. The places of
    looks do not depend on replies.
    """

    def rows() -> Iterator[tuple[tuple[str, bool], bool]]:
        # A cluster may have the name of a sample.
        for part in batches(cases, columns=["cluster", "sample_id", "skip_reason", "control"]):
            for cluster, sample, skip_reason, control in zip(*(column.to_pylist() for column in part), strict=True):
                yield (cluster or sample, cluster is None), skip_reason is None and not control

    groups = [[judged for _, judged in group] for _, group in groupby(rows(), key=itemgetter(0))]
    return place_looks([ClusterRows(len(group), sum(group)) for group in groups], size=size)


def place_looks(clusters: Sequence[ClusterRows], *, size: int | None) -> list[Look]:
    """Return the looks of `list_looks` from the number of cases in each cluster, in the order of asking."""
    total = sum(cluster.judged for cluster in clusters)
    size = size or max(LEAST, ceil(total / MOST_LOOKS))
    chosen, end, judged, before = [], 0, 0, 0
    for cluster in clusters:
        end, judged = end + cluster.rows, judged + cluster.judged
        if judged - before >= size and judged < total:
            chosen.append(Look(end, judged))
            before = judged
    return [*chosen, Look(end, total)] if total else []
