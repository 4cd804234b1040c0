"""Both gates of the corridor: cases before the model, results before publication."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa

from contrapose.tasks.columnar import schema_of
from contrapose.tasks.errors import GateError
from contrapose.tasks.records import Case
from contrapose.tasks.registry import probe
from contrapose.tasks.results import schema_for
from contrapose.tasks.validate.expectations import check_cases, check_results, check_table
from contrapose.tasks.validate.schema import type_violations
from contrapose.tasks.validate.violations import Violation, merged, told


def refuse_bad_cases(parts: Iterable[pa.Table], *, test: str) -> None:
    """Raise GateError unless the cases of a test are sound; nothing has been spent on a model yet.

    Args:
        parts: the cases, in tables of any size; one without rows where there are none.
        test: name of the probe.
    """
    seen = _Seen(key="id", what="cases", schema=schema_of(Case))
    found = [bad for part, first in seen.taking(parts, test) for bad in check_cases(part.to_pandas(), first=first)]
    _refuse([*check_table(seen.ids()), *merged(found)], test, "cases")


def refuse_bad_results(parts: Iterable[pa.Table], *, test: str, asked: int) -> None:
    """Raise GateError unless the results of a test are sound; nothing has been published yet.

    Args:
        parts: the result rows, in tables of any size; one without rows where there are none.
        test: name of the probe.
        asked: number of cases that were put to the model; as many rows must have come out.
    """
    seen = _Seen(key="case_id", what="results", schema=schema_for(probe(test)))
    found = [bad for part, first in seen.taking(parts, test) for bad in check_results(part.to_pandas(), first=first)]
    _refuse([*check_table(seen.ids(), rows=asked), *merged(found)], test, "results")


@dataclass(slots=True, kw_only=True)
class _Seen:
    """What is kept of a table of which only a part is in memory: its ids."""

    key: str
    what: str
    schema: pa.Schema
    columns: list[pa.ChunkedArray] = field(default_factory=list)

    def taking(self, parts: Iterable[pa.Table], test: str) -> Iterator[tuple[pa.Table, int]]:
        """Each part with the number of its first row, once its types are found right."""
        first = 1
        for part in parts:
            _refuse_types(type_violations(part.schema, self.schema), test, self.what)
            self.columns.append(part[self.key])
            yield part, first
            first += part.num_rows

    def ids(self) -> pd.Series:
        ids = pa.concat_tables(pa.table({self.key: column}) for column in self.columns)
        return pd.Series(ids[self.key].to_pandas(), name=self.key)


def _refuse_types(wrong: Sequence[str], test: str, what: str) -> None:
    if wrong:
        raise _error(test, what, "; ".join(wrong))


def _refuse(violations: Sequence[Violation], test: str, what: str) -> None:
    if violations:
        raise _error(test, what, "; ".join(told(violation) for violation in violations))


def _error(test: str, what: str, found: str) -> GateError:
    return GateError(
        found,
        expected=f"{what} that keep their schema",
        remedy="Nothing was published. Mend the rows named here, or the probe that made them.",
        where=f"{test} {what}",
    )
