"""Great Expectations suites for cases and results. The only module that imports great_expectations."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from contrapose.tasks.validate.violations import MOST_ROWS, Violation

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation


RANGES = {"choice": (0, 1), "embedding": (-1e-6, 2 + 1e-6), "likelihood": (0, 1), "reply": (0, 1)}
"""Where a scorer's eval_score must lie; a cosine has the round-off of single precision."""


def check_table(ids: pd.Series, *, rows: int | None = None) -> list[Violation]:
    """Check what only a whole table can tell.

    Args:
        ids: of all its rows, named as their column.
        rows: how many there must be; None: at least one.

    Returns:
        What does not hold; empty when all is well.
    """
    from great_expectations.expectations import core as gxe

    key = str(ids.name)
    count = (
        gxe.ExpectTableRowCountToBeBetween(min_value=1) if rows is None else gxe.ExpectTableRowCountToEqual(value=rows)
    )
    return _violations(ids.to_frame(), [count, gxe.ExpectColumnValuesToBeUnique(column=key)], key=key, first=1)


def check_cases(frame: pd.DataFrame, *, first: int = 1) -> list[Violation]:
    """Check cases, each for itself, before any model is called.

    Args:
        frame: cases of one test, columns as in `Case`.
        first: number of the first row.

    Returns:
        What does not hold; empty when all is well.
    """
    from great_expectations.expectations import core as gxe

    known = ("id", "sample_id", "probe", "version", "control")
    asked = _where(frame["skip_reason"].isna())
    return _violations(
        frame[[*known, "asks", "confidence"]].assign(
            unchanged=(frame["original_prompt"] == frame["perturbed_prompt"]) & asked,
            half_skipped=frame["perturbed_prompt"].isna() & asked,
            skipped_control=_where(frame["control"]) & ~asked,
        ),
        [
            *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in known),
            gxe.ExpectColumnValuesToBeInSet(column="asks", value_set=["generate", "choose"]),
            gxe.ExpectColumnValuesToBeInSet(column="confidence", value_set=["high", "medium"]),
            gxe.ExpectColumnValuesToBeInSet(column="unchanged", value_set=[False]),
            gxe.ExpectColumnValuesToBeInSet(column="half_skipped", value_set=[False]),
            gxe.ExpectColumnValuesToBeInSet(column="skipped_control", value_set=[False]),
        ],
        key="id",
        first=first,
    )


def check_results(frame: pd.DataFrame, *, first: int = 1) -> list[Violation]:
    """Check results, each for itself, before anything is published.

    Args:
        frame: result rows of one test.
        first: number of the first row.

    Returns:
        What does not hold; empty when all is well.
    """
    from great_expectations.expectations import core as gxe
    from great_expectations.expectations.row_conditions import Column

    told = ("test_type", "sample_id", "case_id", "test_case", "reason", "scorer", "model", "probe_version", "control")
    return _violations(
        frame[[*told, "eval_score"]].assign(
            test_case=_present(frame["test_case"]),
            reason=_present(frame["reason"]),
            answered_error=frame["error"].notna() & frame["pass"].notna(),
            passed_unscored=frame["pass"].notna() & frame["eval_score"].isna(),
            silent=frame["error"].isna() & frame["expected_result"].isna(),
        ),
        [
            *(gxe.ExpectColumnValuesToNotBeNull(column=name) for name in told),
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
        first=first,
    )


def _present(texts: pd.Series) -> pd.Series:
    """True where there is a text, None where there is none: the texts themselves are not checked."""
    return texts.notna().astype(object).where(texts.notna(), None)


def _where(mask: pd.Series[bool]) -> pd.Series[bool]:
    return mask.fillna(False).astype(bool)


def import_library() -> None:
    """Import Great Expectations, which takes seconds, at a moment when there is time for it."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    with warnings.catch_warnings():
        # Great Expectations warns about its own future; none of it concerns these expectations.
        warnings.simplefilter("ignore")
        import great_expectations.data_context.types.base
        import great_expectations.expectations.core  # noqa: F401


def _violations(frame: pd.DataFrame, expectations: Sequence[Expectation], *, key: str, first: int) -> list[Violation]:
    import_library()
    with warnings.catch_warnings():
        # It warns while it works, too.
        warnings.simplefilter("ignore")
        import great_expectations as gx
        from great_expectations.data_context.types.base import ProgressBarsConfig

        # This module sets its own level when it is imported, and tells about its temporary folders.
        logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = ProgressBarsConfig(globally=False)
        asset = context.data_sources.add_pandas("frames").add_dataframe_asset("rows")
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch(
            {"dataframe": frame.assign(row=range(first, first + len(frame)))}
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
        rows=rows[:MOST_ROWS],
        count=int(result.result.get("unexpected_count") or len(rows)),
    )


def _named(row: Mapping[str, Any], key: str) -> str:
    """A row by its key, or by its number where the key itself is missing."""
    return row[key] if isinstance(row[key], str) else f"row {row['row']}"
