"""Great Expectations suites for cases and results. The only module that imports great_expectations."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import pandas as pd

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation


RANGES = {"choice": (0, 1), "embedding": (-1e-6, 2 + 1e-6), "likelihood": (0, 1), "reply": (0, 1)}
"""Where a scorer's eval_score must lie; a cosine has the round-off of single precision."""


class Violation(TypedDict):
    """One expectation that does not hold."""

    expectation: str
    """What was expected, in words."""
    rows: list[str]
    """Keys of the rows that break it, at most 20; empty when it is not about single rows."""
    count: int
    """How many rows break it."""


def check_cases(frame: pd.DataFrame) -> list[Violation]:
    """Check cases before any model is called.

    Args:
        frame: cases of one test, columns as in `Case`.

    Returns:
        What does not hold; empty when all is well.
    """
    from great_expectations.expectations import core as gxe

    known = ("id", "sample_id", "probe", "version", "control")
    asked = _where(frame["skip_reason"].isna())
    return _violations(
        frame.assign(
            unchanged=(frame["original_prompt"] == frame["perturbed_prompt"]) & asked,
            half_skipped=frame["perturbed_prompt"].isna() & asked,
            skipped_control=_where(frame["control"]) & ~asked,
        ),
        [
            gxe.ExpectTableRowCountToBeBetween(min_value=1),
            *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in known),
            gxe.ExpectColumnValuesToBeUnique(column="id"),
            gxe.ExpectColumnValuesToBeInSet(column="asks", value_set=["generate", "choose"]),
            gxe.ExpectColumnValuesToBeInSet(column="confidence", value_set=["high", "medium"]),
            gxe.ExpectColumnValuesToBeInSet(column="unchanged", value_set=[False]),
            gxe.ExpectColumnValuesToBeInSet(column="half_skipped", value_set=[False]),
            gxe.ExpectColumnValuesToBeInSet(column="skipped_control", value_set=[False]),
        ],
        key="id",
    )


def check_results(frame: pd.DataFrame, *, asked: int) -> list[Violation]:
    """Check results before anything is published.

    Args:
        frame: result rows of one test.
        asked: number of cases that were put to the model; as many rows must have come out.

    Returns:
        What does not hold; empty when all is well.
    """
    from great_expectations.expectations import core as gxe
    from great_expectations.expectations.row_conditions import Column

    told = ("test_type", "sample_id", "case_id", "test_case", "reason", "scorer", "model", "probe_version", "control")
    return _violations(
        frame.assign(
            answered_error=frame["error"].notna() & frame["pass"].notna(),
            passed_unscored=frame["pass"].notna() & frame["eval_score"].isna(),
            silent=frame["error"].isna() & frame["expected_result"].isna(),
        ),
        [
            gxe.ExpectTableRowCountToEqual(value=asked),
            *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in told),
            gxe.ExpectColumnValuesToBeUnique(column="case_id"),
            gxe.ExpectColumnValuesToBeBetween(column="eval_score", min_value=-1e6, max_value=1e6),
            *(
                gxe.ExpectColumnValuesToBeBetween(
                    column="eval_score", min_value=low, max_value=high, row_condition=Column("scorer") == scorer
                )
                for scorer, (low, high) in RANGES.items()
            ),
            gxe.ExpectColumnValuesToBeInSet(column="answered_error", value_set=[False]),
            gxe.ExpectColumnValuesToBeInSet(column="passed_unscored", value_set=[False]),
            gxe.ExpectColumnValuesToBeInSet(column="silent", value_set=[False]),
        ],
        key="case_id",
    )


def _where(mask: pd.Series[bool]) -> pd.Series[bool]:
    return mask.fillna(False).astype(bool)


def _violations(frame: pd.DataFrame, expectations: Sequence[Expectation], *, key: str) -> list[Violation]:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with warnings.catch_warnings():
        # Great Expectations warns about its own future; none of it concerns these expectations.
        warnings.simplefilter("ignore")
        import great_expectations as gx
        from great_expectations.data_context.types.base import ProgressBarsConfig

        # This module sets its own level when it is imported, and tells about its temporary folders.
        logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        asset = context.data_sources.add_pandas("frames").add_dataframe_asset("rows")
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch(
            {"dataframe": frame.assign(row=range(1, len(frame) + 1))}
        )
        suite = gx.ExpectationSuite(name="gate", expectations=list(expectations))
        found = batch.validate(
            suite, result_format={"result_format": "COMPLETE", "unexpected_index_column_names": [key, "row"]}
        )
    return [_violation(each, key) for each in found.results if not each.success]


def _violation(result: Any, key: str) -> Violation:
    details = result.expectation_config
    about = {name: value for name, value in details.kwargs.items() if name not in ("batch_id", "condition_parser")}
    rows = [_named(row, key) for row in result.result.get("unexpected_index_list") or []]
    words = ", ".join(f"{name}={value}" for name, value in about.items())
    return Violation(
        expectation=f"{details.type.removeprefix('expect_')} ({words})",
        rows=rows[:20],
        count=int(result.result.get("unexpected_count") or len(rows)),
    )


def _named(row: Mapping[str, Any], key: str) -> str:
    """A row by its key, or by its number where the key itself is missing."""
    return row[key] if isinstance(row[key], str) else f"row {row['row']}"
