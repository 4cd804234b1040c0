"""Check that a user's suites fit the tests of a run, before it costs anything."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.registry import is_probe, names
from contrapose.tasks.core.validation import Suite
from contrapose.tasks.validate.expectations import ROW, find_problem, list_known_types, make_suite, run_checks
from contrapose.tasks.validate.kinds import PARAMETERS, list_suite_columns
from contrapose.tasks.validate.suites import list_named_columns, list_parameters, read_suites, refuse

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


def read_own_suites(paths: Sequence[str], plans: Sequence[Plan]) -> list[Suite]:
    """Return the suites of a user's files, or raise ConfigError if one cannot be checked for its tests."""
    suites = read_suites(paths)
    for path, suite in zip(paths, suites, strict=True):
        for test in suite["tests"]:
            # A suite about a test that does not exist would never be looked at.
            if not is_probe(test):
                close = difflib.get_close_matches(test, names("probes"), n=1)
                meant = f"perhaps {close[0]!r}?" if close else f"one of {', '.join(names('probes'))}"
                refuse(f"{path}, tests", f"unknown test {test!r}"[:120], f"names of tests, {meant}")
        for plan in plans:
            if not suite["tests"] or plan.test in suite["tests"]:
                for place, expectation in enumerate(suite["expectations"], 1):
                    _refuse_unfit(f"{path}, expectation {place}", expectation, suite, plan.test)
    return suites


def _refuse_unfit(where: str, expectation: Mapping[str, Any], suite: Suite, test: str) -> None:
    """Raise ConfigError for an expectation that cannot be checked for a test."""
    kind, kwargs, table, types = expectation["type"], expectation["kwargs"], suite["table"], list_known_types()
    if kind in ELSEWHERE:
        refuse(f"{where}, type", kind, ELSEWHERE[kind])
    if kind not in types:
        close = difflib.get_close_matches(kind, types, n=1)
        refuse(f"{where}, type", f"unknown expectation {kind!r}"[:120], f"such as {close[0] if close else types[0]}")
    condition = kwargs.get("row_condition")
    if condition is not None and not _is_plain_condition(condition):
        example = "{type: comparison, column: {name: …}, operator: ==, parameter: …} with a number or a word"
        refuse(f"{where}, row_condition", f"{condition!r}"[:120], example)
    known = list_suite_columns(table, test)
    for name in map(str, list_named_columns(expectation)):
        if name not in known.names:
            close = difflib.get_close_matches(name, known.names, n=1)
            meant = f"{close[0]!r}?" if close else f"one of {', '.join(known.names)}"
            expected = f"a column of the {table} of {test}, perhaps {meant}"
            refuse(f"{where}, kwargs", f"unknown column {name!r}"[:120], expected)
    for name in list_parameters(kwargs):
        if name not in PARAMETERS[table]:
            refuse(f"{where}, kwargs", f"$PARAMETER {name!r}", f"one of {', '.join(PARAMETERS[table])}")
    reason = find_problem(expectation)
    if not reason:
        # It is tried on two rows of the right types.
        examples = {name: _make_examples(known.field(name).type) for name in list_named_columns(expectation)}
        parameters = {name: ["a"] if name == "test" else 2 for name in PARAMETERS[table]}
        frame = pd.DataFrame({**examples, ROW: [1, 2]})
        reason = run_checks(make_suite([expectation]), frame, parameters=parameters)[0].error
    if reason:
        refuse(f"{where}, {kind}", reason[:300], "arguments that Great Expectations takes")


def _is_plain_condition(condition: Any) -> bool:
    """Return true for comparisons with values that cannot end the quotes around them.

    A condition as a text would be run as code; so would a value that ends its quotes.
    """
    if not isinstance(condition, Mapping) or condition.get("type") not in CONDITIONS:
        return False
    parameter = condition.get("parameter")
    for value in parameter if isinstance(parameter, list) else [parameter]:
        if isinstance(value, str) and set(value) & set("\"'`\\\n@"):
            return False
        if not isinstance(value, str | int | float | None):
            return False
    inner = condition.get("conditions") or []
    return isinstance(inner, list) and all(map(_is_plain_condition, inner))


def _make_examples(kind: pa.DataType) -> list[Any]:
    if pa.types.is_list(kind):
        return [np.array([value]) for value in _make_examples(kind.value_type)]
    return EXAMPLES.get(kind, [None, None])
