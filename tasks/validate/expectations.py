"""Great Expectations: suites run through checkpoints. The only module that imports great_expectations."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

if TYPE_CHECKING:
    from great_expectations import Checkpoint as Checkpoint
    from great_expectations import ValidationDefinition

ROW = "row"
"""Column with the number of a row, beside those that are checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRows:
    """What a checkpoint says of one expectation on one frame."""

    holds: bool
    looked_at: int
    """Rows."""
    observed: Any
    """What was measured, where it is one value."""
    broken: Sequence[Mapping[str, Any]]
    """The rows that break it: their key, their number, and the columns that it is about."""
    count: int
    """How many break it."""
    error: str
    """Why it could not be checked; empty when it could."""


def import_library() -> None:
    """Import Great Expectations, which takes seconds, at a moment when there is time for it."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with _unwarned():
        import great_expectations.data_context.types.base
        import great_expectations.expectations.core  # noqa: F401


def checkpoint(expectations: Sequence[Mapping[str, Any]], *, key: str) -> Checkpoint:
    """A checkpoint of expectations in Great Expectations' own format over a frame that is given when it runs.

    The frame has the key, a column that names a row, and the column `row`.

    Raises:
        ValueError: an expectation is of no known type, or its arguments are wrong.
    """
    import_library()
    with _unwarned():
        import great_expectations as gx
        from great_expectations.data_context.types.base import ProgressBarsConfig

        # This module sets its own level when it is imported, and tells about its temporary folders.
        logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        suite = context.suites.add(
            gx.ExpectationSuite(name="suite", expectations=[dict(expectation) for expectation in expectations])
        )
        asset = context.data_sources.add_pandas("frames").add_dataframe_asset("rows")
        data = asset.add_batch_definition_whole_dataframe("all")
        definition = context.validation_definitions.add(gx.ValidationDefinition(name="rows", data=data, suite=suite))
        options = {"result_format": "COMPLETE", "unexpected_index_column_names": [key, ROW]}
        made = gx.Checkpoint(name="gate", validation_definitions=[definition], result_format=options)
        return context.checkpoints.add(made)


@lru_cache(maxsize=64)
def remembered(expectations: str, *, key: str) -> Checkpoint:
    """The same of expectations as JSON, made once a process: many small tables are held against one suite.

    A checkpoint keeps the last frame that it has seen, and so this is none for large ones.
    """
    return checkpoint(json.loads(expectations), key=key)


def known_types() -> list[str]:
    """Types of expectations that Great Expectations has."""
    import_library()
    from great_expectations.expectations.registry import list_registered_expectation_implementations

    return sorted(list_registered_expectation_implementations())


def problem(expectation: Mapping[str, Any]) -> str | None:
    """What Great Expectations says against one expectation; None when it takes it."""
    import_library()
    with _unwarned():
        import great_expectations as gx

        try:
            gx.ExpectationSuite(name="suite", expectations=[dict(expectation)])
        except Exception as error:
            return _first_line(error)
    return None


def run(gate: Checkpoint, frame: pd.DataFrame, *, parameters: Mapping[str, object]) -> list[SeenRows]:
    """What a checkpoint finds in a frame, in the order of its suite.

    The frame has the columns that expectations name, the key, and `row`; they may refer to parameters as `$PARAMETER`.
    """
    definition = gate.validation_definitions[0]
    with _unwarned():
        if _all_hold(definition, frame, parameters):
            held = SeenRows(holds=True, looked_at=len(frame), observed=None, broken=[], count=0, error="")
            return [held] * len(definition.suite.expectations)
        checked = gate.run(batch_parameters={"dataframe": frame}, expectation_parameters=dict(parameters))
    (result,) = checked.run_results.values()
    # Results of one validation come in another order than its expectations: those of a column are together.
    order = {validated.id: place for place, validated in enumerate(definition.suite.expectations)}
    results: list[Any] = sorted(result.results, key=lambda validated: order[cast(Any, validated).expectation_config.id])
    return [_seen(validated, rows=len(frame)) for validated in results]


def _all_hold(definition: ValidationDefinition, frame: pd.DataFrame, parameters: Mapping[str, object]) -> bool:
    """Whether no row breaks anything, asked of expectations of which there is then no more to tell.

    It takes half of what the rows that break something take to be found, and nearly every table is sound.
    """
    suite = definition.suite
    if not all(every_row({"type": one.type, "kwargs": one.kwargs}) for one in suite.expectation_configurations):
        return False
    batch = definition.data.get_batch(batch_parameters={"dataframe": frame})
    checked = batch.validate(suite, result_format="BOOLEAN_ONLY", expectation_parameters=dict(parameters))
    return bool(checked.success)


def row_by_row(expectation: Mapping[str, Any]) -> bool:
    """Whether a part of a table can be checked without the rest."""
    return expectation["type"] in ROW_BY_ROW and expectation["kwargs"].get("mostly", 1) == 1


def every_row(expectation: Mapping[str, Any]) -> bool:
    """Whether it looks at each row by itself, and at every one."""
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
"""Held while the library works: a checkpoint keeps the frame it was given last, and the library the context made last.

Runs that go side by side in threads of a process would otherwise look at each other's rows.
"""


def _seen(result: Any, *, rows: int) -> SeenRows:
    details = result.result or {}
    broken = [dict(row) for row in details.get("unexpected_index_list") or []]
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
