"""Cases in portions that one task run takes."""

from __future__ import annotations

from dataclasses import dataclass

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
    """The cases that are not skipped, in portions of `size`, in order."""
    asked = [case for case in read(cases, Case) if case.skip_reason is None]
    return [
        Chunk(
            test=test,
            label=f"{test} {start + 1}-{min(start + size, len(asked))} of {len(asked)}",
            table=write(asked[start : start + size], Case),
        )
        for start in range(0, len(asked), size)
    ]
