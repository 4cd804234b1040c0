"""Cases in portions that one task run takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from contrapose.tasks.records import Case
from contrapose.tasks.tables import Table, read, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some asked cases of one test."""

    test: str
    """Name of the probe."""
    label: str
    """For people: which cases of the test."""
    table: Table
    """The cases."""


def chunks(test: str, cases: Table, size: int) -> list[Chunk]:
    """The cases that are not skipped, in order, in portions of `size`.

    The cases of one sample stay together, so that the prompt they share is sent once; a sample with
    more than `size` of them is a portion of its own.
    """
    asked = [case for case in read(cases, Case) if case.skip_reason is None]
    found, start = [], 0
    for portion in portions(asked, size):
        end = start + len(portion)
        found.append(Chunk(test=test, label=f"{test} {start + 1}-{end} of {len(asked)}", table=write(portion, Case)))
        start = end
    return found


def portions(cases: Sequence[Case], size: int) -> Iterator[list[Case]]:
    """Neighbours in portions of `size`, which never part the cases of one sample."""
    portion: list[Case] = []
    for _, group in groupby(cases, key=lambda case: case.sample_id):
        same = list(group)
        if portion and len(portion) + len(same) > size:
            yield portion
            portion = []
        portion = [*portion, *same]
    if portion:
        yield portion
