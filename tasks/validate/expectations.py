"""Great Expectations: suites held against frames. The only module that imports great_expectations."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import metadata
from threading import RLock
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from contrapose.tasks.tables.columnar import uncollected
from contrapose.tasks.tables.memo import remembered

if TYPE_CHECKING:
    from great_expectations import ExpectationSuite as ExpectationSuite
    from great_expectations.core.batch_definition import BatchDefinition

ROW = "row"
"""Column with the number of a row, beside those that are looked at."""

SMALL = 20_000
"""Rows of a frame that may stay in memory when it was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRows:
    """What is said of one expectation on one frame."""

    holds: bool
    looked_at: int
    """Rows."""
    observed: Any
    """What was measured, where it is one value."""
    broken: Sequence[int]
    """Numbers of the rows that break it."""
    count: int
    """How many break it."""
    error: str
    """Why it could not be checked; empty when it could."""


def import_library() -> None:
    """Import Great Expectations, which takes seconds, at a moment when there is time for it."""
    with _unwarned():
        import great_expectations.data_context.types.base
        import great_expectations.expectations.core  # noqa: F401


def is_imported() -> bool:
    """Whether that is done."""
    return "great_expectations.expectations.core" in sys.modules


def suite_of(expectations: Sequence[Mapping[str, Any]]) -> ExpectationSuite:
    """Expectations in Great Expectations' own format, to be held against a frame by `run`.

    Raises:
        ValueError: an expectation is of no known type, or its arguments are wrong.
    """
    import_library()
    with _unwarned():
        import great_expectations as gx

        # What is said of each is found by its id: the library tells of a column's expectations together.
        numbered = [{**expectation, "id": str(place)} for place, expectation in enumerate(expectations)]
        return gx.ExpectationSuite(name="suite", expectations=numbered)


@lru_cache(maxsize=64)
def suite_made_once(expectations: str) -> ExpectationSuite:
    """The same of expectations as JSON, made once a process: many small tables are held against one suite."""
    return suite_of(json.loads(expectations))


def _frames() -> BatchDefinition[Any]:
    """Where the library takes frames from; it keeps the last one that it was given."""
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    # This module sets its own level when it is imported, and tells about its temporary folders.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return (
        context.data_sources.add_pandas("frames")
        .add_dataframe_asset("rows")
        .add_batch_definition_whole_dataframe("all")
    )


_frames_of_this_process = lru_cache(maxsize=1)(_frames)


def known_types() -> list[str]:
    """Types of expectations that Great Expectations has."""
    import_library()
    from great_expectations.expectations.registry import list_registered_expectation_implementations

    return sorted(list_registered_expectation_implementations())


def problem(expectation: Mapping[str, Any]) -> str | None:
    """What Great Expectations says against one expectation; None when it takes it."""
    try:
        suite_of([expectation])
    except Exception as error:
        return _first_line(error)
    return None


def run(suite: ExpectationSuite, frame: pd.DataFrame, *, parameters: Mapping[str, object]) -> list[SeenRows]:
    """What is said of a frame, in the order of the expectations.

    To collect the rows that break one takes most of the time; it is done where there are any. Expectations that look
    at every row are first asked only whether they hold.

    Args:
        suite: the expectations.
        frame: with the columns that they name, and `row`.
        parameters: what expectations may refer to as `$PARAMETER`.
    """

    def results(result_format: Any) -> list[Any]:
        return list(batch.validate(suite, result_format=result_format, expectation_parameters=dict(parameters)).results)

    small = len(frame) <= SMALL
    with _unwarned(), uncollected() if small else nullcontext():
        frames = _frames_of_this_process() if small else _frames()
        batch = frames.get_batch(batch_parameters={"dataframe": frame})
        every = all(every_row({"type": one.type, "kwargs": one.kwargs}) for one in suite.expectation_configurations)
        seen = results("BOOLEAN_ONLY" if every else "BASIC")
        if not all(result.success and not (result.result or {}).get("unexpected_count") for result in seen):
            seen = results({"result_format": "COMPLETE", "unexpected_index_column_names": [ROW]})
    order = {expectation.id: place for place, expectation in enumerate(suite.expectations)}
    return [_seen(result, rows=len(frame)) for result in sorted(seen, key=lambda one: order[one.expectation_config.id])]


def look_at(
    expectations: Sequence[Mapping[str, Any]],
    table: pa.Table,
    *,
    numbers: tuple[int, int],
    parameters: Mapping[str, object],
) -> list[SeenRows]:
    """What is said of rows.

    Args:
        expectations: in the library's own format.
        table: the columns that these look at; there may be none.
        numbers: of the first row, and of what comes after the last.
        parameters: what expectations may refer to as `$PARAMETER`.
    """
    columns = {name: table[name].to_pandas() for name in table.column_names}
    columns[ROW] = pd.Series(range(*numbers))
    frame = pd.DataFrame(columns, copy=False)
    return run(suite_made_once(json.dumps(expectations)), frame, parameters=parameters)


def sound_before(table: pa.Table, terms: Any, look: Callable[[], list[SeenRows]]) -> list[SeenRows]:
    """What is said of a table; where it was found sound before, as it was then, without the library.

    Args:
        table: all that is looked at.
        terms: all else that the outcome hangs on, in plain values.
        look: asks the library.
    """
    digest = hashlib.sha256(repr([KEPT, metadata.version("great-expectations"), pd.__version__, terms]).encode())
    digest.update(streamed(table))
    plain = remembered(
        "checked.json", digest.hexdigest(), lambda: [asdict(seen) for seen in look()], sound=is_all_sound
    )
    return [SeenRows(**seen) for seen in plain]


def streamed(table: pa.Table) -> pa.Buffer:
    """All of a table, as Arrow sends it."""
    content = pa.BufferOutputStream()
    with pa.ipc.new_stream(content, table.schema) as writer:
        writer.write_table(table)
    return content.getvalue()


def is_all_sound(value: object) -> bool:
    """Whether every expectation held on every row, so that no row has to be named; and all of it is plain."""
    return isinstance(value, list) and all(
        isinstance(seen, dict)
        and set(seen) == set(SOUND) | {"looked_at", "observed"}
        and {name: seen[name] for name in SOUND} == SOUND
        and type(seen["looked_at"]) is int
        and type(seen["observed"]) in (type(None), bool, int, float, str)
        for seen in value
    )


KEPT = 2
"""Raised whenever the same outcome would be told in another way."""
SOUND: Mapping[str, object] = {"holds": True, "broken": [], "count": 0, "error": ""}


def row_by_row(expectation: Mapping[str, Any]) -> bool:
    """Whether a part of a table can be checked without the rest."""
    return expectation["type"] in ROW_BY_ROW and expectation["kwargs"].get("mostly", 1) == 1


def every_row(expectation: Mapping[str, Any]) -> bool:
    """Whether it looks at each row by itself, and at every one: where it holds, there is no more to tell."""
    return row_by_row(expectation) and "row_condition" not in expectation["kwargs"]


ROW_BY_ROW = frozenset(
    f"expect_{name}"
    for name in (
        *("column_values_to_not_be_null", "column_values_to_be_null"),
        *("column_values_to_be_in_set", "column_values_to_not_be_in_set", "column_values_to_be_between"),
        *("column_values_to_match_regex", "column_values_to_not_match_regex"),
        *("column_values_to_match_regex_list", "column_values_to_not_match_regex_list"),
        *("column_value_lengths_to_be_between", "column_value_lengths_to_equal"),
        *("column_values_to_be_json_parseable", "column_values_to_match_json_schema"),
        *("column_pair_values_a_to_be_greater_than_b", "column_pair_values_to_be_equal"),
        *("column_pair_values_to_be_in_set", "select_column_values_to_be_unique_within_record"),
        *("multicolumn_values_to_be_equal", "multicolumn_sum_to_equal"),
    )
)
"""Expectations that look at each row by itself."""


@contextmanager
def _unwarned() -> Iterator[None]:
    """Great Expectations warns about its own future, and while it works; none of it concerns these expectations."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_ONE_AT_A_TIME = RLock()
"""Held while the library works: a validation keeps the frame it was given last, and the library the context made last.

Runs that go side by side in threads of a process would otherwise look at each other's rows.
"""


def _seen(result: Any, *, rows: int) -> SeenRows:
    details = result.result or {}
    broken = [int(row[ROW]) for row in details.get("unexpected_index_list") or []]
    error = (result.exception_info or {}).get("exception_message") or _nested(result.exception_info)
    return SeenRows(
        holds=bool(result.success),
        looked_at=int(details.get("element_count", rows)),
        observed=details.get("observed_value"),
        broken=broken,
        count=int(details.get("unexpected_count") or len(broken)),
        error=str(error or ""),
    )


def _nested(outcome: Any) -> str:
    """The first message of exceptions that are told by the metric in which they were raised."""
    inner = [part for part in (outcome or {}).values() if isinstance(part, dict)]
    return next((str(part["exception_message"]) for part in inner if part.get("exception_message")), "")


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "; ".join(lines[1:3] if len(lines) > 1 else lines) or type(error).__name__
