"""The expectations of one suite that are checked together, by what they must see at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.validate.derived import DERIVED
from contrapose.tasks.validate.expectations import ROW, checkpoint, remembered, row_by_row, run
from contrapose.tasks.validate.findings import Tally
from contrapose.tasks.validate.kinds import KEYS, LEFT_OUT, UNKNOWN, Handed
from contrapose.tasks.validate.suites import named_columns, named_parameters
from contrapose.tasks.validation import Kind, Suite

if TYPE_CHECKING:
    from contrapose.tasks.validate.expectations import Checkpoint

Scope = Literal["part", "whole", "handed"]
"""What an expectation must see at once."""

SMALL = 20_000
"""Rows of a frame that may stay in memory when it was looked at."""

NOT_NULL = "expect_column_values_to_not_be_null"


@dataclass(frozen=True, kw_only=True)
class Group:
    """Expectations of one suite and one scope."""

    suite: Suite
    scope: Scope
    kind: Kind
    tallies: list[Tally]
    """What was found of each so far."""

    @cached_property
    def columns(self) -> list[str]:
        """The columns that they look at, without the key."""
        named = dict.fromkeys(name for each in self.tallies for name in named_columns(each.expectation))
        return [name for name in named if name != KEYS[self.kind]]

    @cached_property
    def present(self) -> frozenset[str]:
        """The columns of which it matters only whether there is a value: texts need not be copied for that."""
        used = [(name, each.expectation["type"]) for each in self.tallies for name in named_columns(each.expectation)]
        return frozenset(name for name, _ in used) - {name for name, kind in used if kind != NOT_NULL}

    def check(self, rows: pa.Table, *, first: int, parameters: Mapping[str, object]) -> None:
        """Add what the expectations say of some rows.

        Args:
            rows: with the key, and every column that they look at.
            first: number of the first row.
            parameters: what they may refer to.
        """
        frame = pd.DataFrame(
            {
                KEYS[self.kind]: rows[KEYS[self.kind]].to_pandas(),
                **{name: self._column(rows, name).to_pandas() for name in self.columns},
                ROW: range(first, first + rows.num_rows),
            }
        )
        gate = self._gate(small=rows.num_rows <= SMALL)
        for tally, seen in zip(self.tallies, run(gate, frame, parameters=parameters), strict=True):
            tally.add(seen)

    def _column(self, rows: pa.Table, name: str) -> Any:
        return pc.if_else(pc.is_valid(rows[name]), True, None) if name in self.present else rows[name]

    def _gate(self, *, small: bool) -> Checkpoint:
        expectations = [each.expectation for each in self.tallies]
        if small:
            return remembered(json.dumps(expectations), key=KEYS[self.kind])
        return checkpoint(expectations, key=KEYS[self.kind])


def groups_of(suites: Sequence[Suite], kind: Kind, handed: Handed) -> list[Group]:
    """The expectations of some suites in groups; those that need what is not known of the rows before are left out."""
    return [
        Group(suite=suite, scope=scope, kind=kind, tallies=tallies)
        for suite in suites
        for scope in ("part", "whole", "handed")
        if (tallies := [each for each in _tallies(suite, kind, handed) if _scope(each.expectation) == scope])
    ]


def _tallies(suite: Suite, kind: Kind, handed: Handed) -> Iterator[Tally]:
    flags = frozenset((*DERIVED[kind], UNKNOWN, LEFT_OUT))
    for place, each in enumerate(suite["expectations"], 1):
        linked = {UNKNOWN, LEFT_OUT} & set(named_columns(each))
        known = set(named_parameters(each["kwargs"])) <= set(handed.parameters)
        if known and (handed.ids is not None or not linked):
            yield Tally(expectation=each, place=place, key=KEYS[kind], flags=flags)


def _scope(expectation: Mapping[str, Any]) -> Scope:
    columns = named_columns(expectation)
    if LEFT_OUT in columns:
        return "handed"
    return "part" if row_by_row(expectation) and UNKNOWN not in columns else "whole"
