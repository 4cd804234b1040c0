"""Check suites on data frames with Great Expectations. Only this module imports great_expectations."""

from __future__ import annotations

import hashlib
import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import metadata
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from contrapose.tasks.tables.columnar import garbage_collection_paused
from contrapose.tasks.tables.memo import find_or_remember

if TYPE_CHECKING:
    from great_expectations import ExpectationSuite as ExpectationSuite
    from great_expectations.core.batch_definition import BatchDefinition

ROW = "row"
"""Column with the number of a row, next to those that are looked at."""

SMALL = 20_000
"""Rows of a frame that may stay in memory when it was looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRows:
    """Result of one expectation on one frame."""

    holds: bool
    looked_at: int
    """Rows."""
    observed: Any
    """The measured value, where it is one."""
    broken: Sequence[int]
    """Numbers of the rows that break it."""
    count: int
    """Number of rows that break it."""
    error: str
    """Reason why it could not be checked; else empty."""


def import_library() -> None:
    """Import Great Expectations, which takes seconds."""
    with _lock_library():
        import great_expectations.data_context.types.base
        import great_expectations.expectations.core  # noqa: F401


def import_in_background() -> None:
    """Import Great Expectations in a thread while a model answers; an error appears only when it is used."""

    def import_quietly() -> None:
        with suppress(Exception):
            import_library()

    Thread(target=import_quietly, daemon=True).start()


def make_suite(expectations: Sequence[Mapping[str, Any]]) -> ExpectationSuite:
    """Return expectations in Great Expectations' own format, or raise ValueError for a wrong type or arguments."""
    import_library()
    with _lock_library():
        import great_expectations as gx

        # Results are found by these ids: the library reports a column's expectations together.
        numbered = [{**expectation, "id": str(place)} for place, expectation in enumerate(expectations)]
        return gx.ExpectationSuite(name="suite", expectations=numbered)


@lru_cache(maxsize=64)
def get_suite_once(expectations: str) -> ExpectationSuite:
    """Return the suite of expectations in JSON; cached, because many small tables use it."""
    return make_suite(json.loads(expectations))


def make_frames() -> BatchDefinition[Any]:
    """Return a batch definition through which the library gets frames; it keeps the last one."""
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    # This module sets its own level when it is imported, and logs its temporary folders.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    rows = context.data_sources.add_pandas("frames").add_dataframe_asset("rows")
    return rows.add_batch_definition_whole_dataframe("all")


_frames_of_process = lru_cache(maxsize=1)(make_frames)


def list_known_types() -> list[str]:
    """Return the types of expectations that Great Expectations has."""
    import_library()
    from great_expectations.expectations.registry import list_registered_expectation_implementations

    return sorted(list_registered_expectation_implementations())


def find_problem(expectation: Mapping[str, Any]) -> str | None:
    """Return Great Expectations' error for an expectation, or None if it is valid."""
    try:
        make_suite([expectation])
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return "; ".join(lines[1:3] if len(lines) > 1 else lines) or type(error).__name__
    return None


def run_checks(suite: ExpectationSuite, frame: pd.DataFrame, *, parameters: Mapping[str, object]) -> list[SeenRows]:
    """Check a frame with the columns of the suite and `row`; the results are in the order of the expectations.

    Collecting the rows that break one takes most of the time; it is done where there are any. Expectations that look
    at every row are first asked only whether they hold. Parameters are values for `$PARAMETER`.
    """

    def validate(result_format: Any) -> list[Any]:
        return list(batch.validate(suite, result_format=result_format, expectation_parameters=dict(parameters)).results)

    small = len(frame) <= SMALL
    with _lock_library(), garbage_collection_paused() if small else nullcontext():
        batch = (_frames_of_process() if small else make_frames()).get_batch(batch_parameters={"dataframe": frame})
        every = all(is_every_row({"type": one.type, "kwargs": one.kwargs}) for one in suite.expectation_configurations)
        results = validate("BOOLEAN_ONLY" if every else "BASIC")
        if not all(result.success and not (result.result or {}).get("unexpected_count") for result in results):
            results = validate({"result_format": "COMPLETE", "unexpected_index_column_names": [ROW]})
    by_id = {result.expectation_config.id: result for result in results}
    return [_seen_rows(by_id[expectation.id], rows=len(frame)) for expectation in suite.expectations]


def _seen_rows(result: Any, *, rows: int) -> SeenRows:
    """Read a result of the library; an exception is reported by it, or by the metric in which it was raised."""
    details, outcome = result.result or {}, result.exception_info or {}
    broken = [int(row[ROW]) for row in details.get("unexpected_index_list") or []]
    raised = [outcome, *(part for part in outcome.values() if isinstance(part, dict))]
    return SeenRows(
        holds=bool(result.success),
        looked_at=int(details.get("element_count", rows)),
        observed=details.get("observed_value"),
        broken=broken,
        count=int(details.get("unexpected_count") or len(broken)),
        error=next((str(part["exception_message"]) for part in raised if part.get("exception_message")), ""),
    )


def check_rows(
    expectations: Sequence[Mapping[str, Any]],
    table: pa.Table,
    *,
    numbers: tuple[int, int],
    parameters: Mapping[str, object],
) -> list[SeenRows]:
    """Check the rows of a table against expectations on its columns.

    The numbers are those of the first row, and of what comes after the last. Parameters are values for `$PARAMETER`.
    """
    columns = {name: table[name].to_pandas() for name in table.column_names}
    columns[ROW] = pd.Series(range(*numbers))
    frame = pd.DataFrame(columns, copy=False)
    return run_checks(get_suite_once(json.dumps(expectations)), frame, parameters=parameters)


def reuse_result(table: pa.Table, terms: Any, look: Callable[[], list[SeenRows]]) -> list[SeenRows]:
    """Return the remembered result of a table that met all expectations before, or call `look`.

    The terms are all else that the outcome depends on, in plain values.
    """
    digest = hashlib.sha256(repr([KEPT, metadata.version("great-expectations"), pd.__version__, terms]).encode())
    content = pa.BufferOutputStream()
    with pa.ipc.new_stream(content, table.schema) as writer:
        writer.write_table(table)
    digest.update(content.getvalue())
    plain = find_or_remember(
        "checked.json", digest.hexdigest(), lambda: [asdict(seen) for seen in look()], sound=is_all_sound
    )
    return [SeenRows(**seen) for seen in plain]


KEPT = 3
"""Version of the stored outcomes; raised whenever the same outcome would be stored in another way."""
SOUND: Mapping[str, object] = {"holds": True, "broken": [], "count": 0, "error": ""}


def is_all_sound(value: object) -> bool:
    """Return true if every expectation held on every row, and all values are plain."""
    return isinstance(value, list) and all(
        isinstance(seen, dict)
        and set(seen) == set(SOUND) | {"looked_at", "observed"}
        and {name: seen[name] for name in SOUND} == SOUND
        and type(seen["looked_at"]) is int
        and type(seen["observed"]) in (type(None), bool, int, float, str)
        for seen in value
    )


def is_rowwise(expectation: Mapping[str, Any]) -> bool:
    """Return true if an expectation can be checked on a part of a table without the rest."""
    return expectation["type"] in ROW_BY_ROW and expectation["kwargs"].get("mostly", 1) == 1


def is_every_row(expectation: Mapping[str, Any]) -> bool:
    """Return true if an expectation checks each row separately, and no row is exempt."""
    return is_rowwise(expectation) and "row_condition" not in expectation["kwargs"]


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


_LOCK = RLock()


@contextmanager
def _lock_library() -> Iterator[None]:
    """Let one thread use the library, without its warnings, which are about its own future.

    A validation keeps the frame that it got last, and the library the context made last: runs in threads of a process
    would otherwise look at each other's rows.
    """
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
