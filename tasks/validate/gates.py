"""Both gates of the corridor: cases before the model, results before publication."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from contrapose.tasks.errors import GateError
from contrapose.tasks.records import Case
from contrapose.tasks.registry import probe
from contrapose.tasks.results import schema_for
from contrapose.tasks.tables import schema_of
from contrapose.tasks.validate.expectations import Violation, check_cases, check_results
from contrapose.tasks.validate.schema import type_violations


def refuse_bad_cases(cases: pa.Table, *, test: str) -> None:
    """Raise GateError unless the cases of a test are sound; nothing has been spent on a model yet."""
    _refuse_types(type_violations(cases.schema, schema_of(Case)), test, "cases")
    _refuse(check_cases(cases.to_pandas()), test, "cases")


def refuse_bad_results(results: pa.Table, *, test: str, asked: int) -> None:
    """Raise GateError unless the results of a test are sound; nothing has been published yet."""
    _refuse_types(type_violations(results.schema, schema_for(probe(test))), test, "results")
    _refuse(check_results(results.to_pandas(), asked=asked), test, "results")


def _refuse_types(wrong: Sequence[str], test: str, what: str) -> None:
    if wrong:
        raise _error(test, what, "; ".join(wrong))


def _refuse(violations: Sequence[Violation], test: str, what: str) -> None:
    if violations:
        raise _error(test, what, "; ".join(_told(violation) for violation in violations))


def _told(violation: Violation) -> str:
    rows = ", ".join(violation["rows"][:5])
    more = violation["count"] - min(len(violation["rows"]), 5)
    where = f" broken by {rows}{f' and {more} more' if more > 0 else ''}" if rows else " does not hold"
    return f"{violation['expectation']}{where}"


def _error(test: str, what: str, found: str) -> GateError:
    return GateError(
        found,
        expected=f"{what} that keep their schema",
        remedy="Nothing was published. Mend the rows named here, or the probe that made them.",
        where=f"{test} {what}",
    )
