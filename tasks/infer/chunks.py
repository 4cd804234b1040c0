"""Cases in portions that one task run takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from math import ceil

from contrapose.tasks.core.records import Case
from contrapose.tasks.tables.table import Table, iterate, read_arrow, write

MOST_CHUNKS = 200
"""Chunks of one test, so that Prefect keeps pace: its server takes in about 50 task runs a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some asked cases of one test."""

    test: str
    """Name of the probe."""
    label: str
    """For people: which cases of the test."""
    table: Table
    """The cases."""


def chunks(test: str, cases: Table, size: int) -> Iterator[Chunk]:
    """The cases that are not skipped, in order, in portions of `size`, or larger ones where these would be too many.

    The cases of one sample stay together, so that the prompt they share is sent once; a sample with
    more than `size` of them is a portion of its own.
    """
    total = read_arrow(cases, columns=["skip_reason"])["skip_reason"].null_count
    asked = (case for case in iterate(cases, Case) if case.skip_reason is None)
    start = 0
    for portion in portions(asked, max(size, ceil(total / MOST_CHUNKS))):
        end = start + len(portion)
        yield Chunk(test=test, label=f"{test} {start + 1}-{end} of {total}", table=write(portion, Case))
        start = end


def portions(cases: Iterable[Case], size: int) -> Iterator[list[Case]]:
    """Neighbours in portions of `size`, which never part the cases of one sample."""
    portion: list[Case] = []
    for _, group in groupby(cases, key=lambda case: case.sample_id):
        same = list(group)
        if portion and len(portion) + len(same) > size:
            yield portion
            portion = []
        portion += same
    if portion:
        yield portion


def questions_in(cases: Table) -> int:
    """How many questions the cases that are not skipped have, shared ones counted each time."""
    import pyarrow.compute as pc

    rows = read_arrow(cases, columns=["skip_reason", "loss_of", "also_in_words"])
    asked = pc.is_null(rows["skip_reason"])
    with_loss = pc.and_(asked, pc.is_valid(rows["loss_of"]))
    pairs = int(pc.sum(asked).as_py() or 0) + int(pc.sum(with_loss).as_py() or 0)
    return 2 * pairs + int(pc.sum(rows["also_in_words"]).as_py() or 0)
