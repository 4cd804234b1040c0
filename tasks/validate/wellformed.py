"""Whether a user's suite can be checked at all, found out before anything is spent."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.registry import names
from contrapose.tasks.core.validation import Kind, Suite
from contrapose.tasks.validate.expectations import ROW, known_types, problem, run, suite_of
from contrapose.tasks.validate.kinds import PARAMETERS, columns
from contrapose.tasks.validate.suites import named_columns, named_parameters, read_suites, refuse

ELSEWHERE = {
    **dict.fromkeys(
        (
            *("expect_column_values_to_be_of_type", "expect_column_values_to_be_in_type_list"),
            *("expect_column_type_to_be", "expect_column_to_exist", "expect_table_columns_to_match_set"),
            *("expect_table_columns_to_match_ordered_list", "expect_table_column_count_to_equal"),
            "expect_table_column_count_to_be_between",
        ),
        "an expectation about values: columns and their types are checked for every table",
    ),
    **dict.fromkeys(
        (
            *("unexpected_rows_expectation", "expect_query_results_to_match_comparison"),
            "expect_table_row_count_to_equal_other_table",
        ),
        "an expectation about one table without a query",
    ),
}
"""Types that Great Expectations has and that say nothing here, with what would."""

CONDITIONS = ("comparison", "nullity", "and", "or")
"""Kinds of conditions in Great Expectations' structured form, without that which passes a text on."""

EXAMPLES: Mapping[pa.DataType, list[Any]] = {
    pa.string(): ["a", "b"],
    pa.int64(): [1, 2],
    pa.float64(): [0.5, 1.5],
    pa.bool_(): [True, False],
}
"""Two values of each type; those of lists are lists of them."""


def own_suites(paths: Sequence[str], plans: Sequence[Plan]) -> list[Suite]:
    """The suites of a user's files, once it is known that they can be checked for all tests, or those that they name.

    Raises:
        ConfigError: what is wrong, with file and place.
    """
    suites = read_suites(paths)
    for path, suite in zip(paths, suites, strict=True):
        _refuse_tests(path, suite["tests"])
        for plan in plans:
            if not suite["tests"] or plan.test in suite["tests"]:
                _refuse_unfit(path, suite, plan.test)
    return suites


def _refuse_tests(path: str, tests: Sequence[str]) -> None:
    """A suite about a test that there is not would never be looked at."""
    for test in tests:
        if test not in names("probes"):
            close = difflib.get_close_matches(test, names("probes"), n=1)
            meant = f"perhaps {close[0]!r}?" if close else f"one of {', '.join(names('probes'))}"
            refuse(f"{path}, tests", f"unknown test {test!r}"[:120], f"names of tests, {meant}")


def _refuse_unfit(path: str, suite: Suite, test: str) -> None:
    known = columns(suite["table"], test)
    for place, expectation in enumerate(suite["expectations"], 1):
        where = f"{path}, expectation {place}"
        _refuse_type(where, expectation)
        _refuse_condition(where, expectation["kwargs"])
        for name in named_columns(expectation):
            if name not in known.names:
                _refuse_column(where, str(name), known.names, suite["table"], test)
        for name in named_parameters(expectation["kwargs"]):
            if name not in PARAMETERS[suite["table"]]:
                refuse(f"{where}, kwargs", f"$PARAMETER {name!r}", f"one of {', '.join(PARAMETERS[suite['table']])}")
        if reason := problem(expectation) or _tried(expectation, known, suite["table"]):
            refuse(f"{where}, {expectation['type']}", reason[:300], "arguments that Great Expectations takes")


def _refuse_type(where: str, expectation: Mapping[str, Any]) -> None:
    kind, known = expectation["type"], known_types()
    if kind in ELSEWHERE:
        refuse(f"{where}, type", kind, ELSEWHERE[kind])
    if kind not in known:
        close = difflib.get_close_matches(kind, known, n=1)
        refuse(f"{where}, type", f"unknown expectation {kind!r}"[:120], f"such as {close[0] if close else known[0]}")


def _refuse_condition(where: str, kwargs: Mapping[str, Any]) -> None:
    """A condition as a text would be run as code; so would a value in a condition that ends the quotes around it."""
    condition = kwargs.get("row_condition")
    if condition is not None and not _structured(condition):
        refuse(
            f"{where}, row_condition",
            f"{condition!r}"[:120],
            "{type: comparison, column: {name: …}, operator: ==, parameter: …} with a number or a word",
        )


def _structured(condition: Any) -> bool:
    """Whether a condition is made of comparisons with plain values."""
    if not isinstance(condition, Mapping) or condition.get("type") not in CONDITIONS:
        return False
    parameter = condition.get("parameter")
    values = parameter if isinstance(parameter, list) else [parameter]
    inner = condition.get("conditions") or []
    return all(map(_plain, values)) and isinstance(inner, list) and all(map(_structured, inner))


def _plain(value: Any) -> bool:
    """Whether a value cannot be read as code when it stands between quotes."""
    if isinstance(value, str):
        return not set(value) & set("\"'`\\\n@")
    return value is None or isinstance(value, int | float)


def _refuse_column(where: str, name: str, known: Sequence[str], table: Kind, test: str) -> NoReturn:
    close = difflib.get_close_matches(name, known, n=1)
    meant = f"{close[0]!r}?" if close else f"one of {', '.join(known)}"
    refuse(f"{where}, kwargs", f"unknown column {name!r}"[:120], f"a column of the {table} of {test}, perhaps {meant}")


def _tried(expectation: Mapping[str, Any], known: pa.Schema, table: Kind) -> str:
    """Why an expectation cannot be checked on two rows of the right types; empty when it can."""
    examples = {name: _examples(known.field(name).type) for name in named_columns(expectation)}
    parameters = {name: ["a"] if name == "test" else 2 for name in PARAMETERS[table]}
    frame = pd.DataFrame({**examples, ROW: [1, 2]})
    return run(suite_of([expectation]), frame, parameters=parameters)[0].error


def _examples(kind: pa.DataType) -> list[Any]:
    if pa.types.is_list(kind):
        return [np.array([value]) for value in _examples(kind.value_type)]
    return EXAMPLES.get(kind, [None, None])
