"""Cases in portions that one task run takes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from operator import itemgetter

from contrapose.tasks.tables.table import Table, batches, read_arrow

MOST_CHUNKS = 200
"""Chunks of one test, so that Prefect keeps pace: its server takes in about 50 task runs a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Neighbouring rows of a test's cases; the skipped ones among them are not asked."""

    label: str
    """For people: which cases of the test."""
    first: int
    """Place of the first row, from 0."""
    end: int
    """Place after the last one."""


def chunks(test: str, cases: Table, size: int, *, ends: Sequence[int] = ()) -> Iterator[Chunk]:
    """Yield the cases that are not skipped, in portions of `size`, or larger ones where these would be too many.

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
        for portion in portions(group, size):
            last = number + len(portion) - 1
            yield Chunk(label=f"{test} {number}-{last} of {total}", first=portion[0], end=portion[-1] + 1)
            number = last + 1


def portions(places: Iterable[tuple[str, int]], size: int) -> Iterator[list[int]]:
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


def questions_in(cases: Table, *, first: int = 0) -> int:
    """Return the number of questions of the cases from a row on that are not skipped, shared ones counted each time."""
    import pyarrow.compute as pc

    further = ("also_in_words", "also_again")
    rows = read_arrow(cases, columns=["skip_reason", "loss_of", *further]).slice(first)
    asked = pc.is_null(rows["skip_reason"])
    with_loss = pc.and_(asked, pc.is_valid(rows["loss_of"]))
    pairs = int(pc.sum(asked).as_py() or 0) + int(pc.sum(with_loss).as_py() or 0)
    return 2 * pairs + sum(int(pc.sum(rows[name]).as_py() or 0) for name in further)
