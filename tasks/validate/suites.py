"""Read suites of expectations: the project's own, and files that a user adds to a run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

import yaml

from contrapose.tasks.core import bounds
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.validation import KINDS, Kind, Suite, SuiteFile

KEYS = ("name", "table", "tests", "expectations", "meta", "id", "notes", "suite_parameters")
"""Keys of a suite: those of Great Expectations, `table` and `tests`."""
EXPECTATION_KEYS = ("type", "kwargs", "meta", "severity", "description", "notes", "id", "rendered_content")
SEVERITIES = ("critical", "warning", "info")
COLUMN_KEYS = ("column", "column_A", "column_B")
"""Arguments that name a column; `column_list` names several."""


@cache
def load_bundled_suite(table: Kind) -> Suite:
    """Return the project's own suite for a table."""
    content = files("contrapose.data").joinpath("expectations", f"{table}.yaml").read_bytes()
    return parse_suite(f"{table}.yaml", content, own=False)


def read_suites(paths: Iterable[str]) -> list[Suite]:
    """Read the suites of a user's files, or raise ConfigError; their expectations are checked later."""
    suites = []
    for path in paths:
        try:
            content = bounds.read_bytes(Path(path).expanduser())
        except yaml.YAMLError as error:
            refuse(*bounds.describe_yaml_problem(error, path, expected=""))
        except OSError as error:
            raise ConfigError(
                f"cannot read the file ({error.strerror})",
                expected="a suite of expectations, as YAML or JSON",
                remedy="Correct the path.",
                where=path,
            ) from error
        suites.append(parse_suite(path, content, own=True))
    return suites


def select_suites(suites: Sequence[Suite], table: Kind, test: str) -> list[Suite]:
    """Return the project's suite for a table, then those of the user that are about it."""
    chosen = [suite for suite in suites if suite["table"] == table and (not suite["tests"] or test in suite["tests"])]
    return [load_bundled_suite(table), *chosen]


def list_named_columns(expectation: Mapping[str, Any]) -> list[str]:
    """Return the columns that an expectation uses, also in its condition."""
    kwargs = expectation["kwargs"]
    named = [kwargs[key] for key in COLUMN_KEYS if key in kwargs]
    return list(dict.fromkeys([*named, *(kwargs.get("column_list") or []), *_walk(kwargs.get("row_condition"))]))


def _walk(condition: Any) -> Iterator[str]:
    """Yield the columns of a condition in Great Expectations' structured form."""
    if isinstance(condition, Mapping):
        if isinstance(column := condition.get("column"), Mapping):
            yield str(column.get("name"))
        for inner in condition.get("conditions") or []:
            yield from _walk(inner)


def list_parameters(value: Any) -> Iterator[str]:
    """Yield the names of parameters that arguments refer to."""
    if isinstance(value, Mapping):
        if "$PARAMETER" in value:
            yield str(value["$PARAMETER"])
        for inner in value.values():
            yield from list_parameters(inner)


def parse_suite(path: str, content: bytes, *, own: bool) -> Suite:
    """Parse a suite from YAML or JSON; a key or a word in the file's name says which table it checks."""
    try:
        values = bounds.parse_yaml(content)
    except yaml.YAMLError as error:
        refuse(*bounds.describe_yaml_problem(error, path, expected="keys and values in YAML or JSON"))
    if not isinstance(values, dict):
        refuse(path, f"a {type(values).__name__}", "a mapping with the key expectations")
    _refuse_unknown(path, values, KEYS)
    expectations = values.get("expectations")
    if not isinstance(expectations, list) or not expectations:
        refuse(path, "no expectations", "a list of them under the key expectations")
    named = values.get("table")
    words = [named] if named is not None else re.split(r"[-_. ]", Path(path).stem)
    kinds = [kind for kind in KINDS if kind in words]
    if len(kinds) != 1:
        met = "no table" if named is None else f"table {named!r}"
        refuse(path, met, f"one of {', '.join(KINDS)}, under the key table or in the name of the file")
    tests = values.get("tests") or []
    if not isinstance(tests, list) or not all(isinstance(name, str) for name in tests):
        refuse(f"{path}, tests", f"{tests!r}"[:120], "a list of names of tests")
    return Suite(
        source=SuiteFile(file=Path(path).name, sha256=hashlib.sha256(content).hexdigest(), own=own),
        table=kinds[0],
        tests=tests,
        expectations=[
            _parse_expectation(f"{path}, expectation {place}", expectation)
            for place, expectation in enumerate(expectations, 1)
        ],
    )


def _parse_expectation(where: str, values: Any) -> dict[str, Any]:
    """Return an expectation in the expected form, without Great Expectations' metadata, or raise ConfigError."""
    if not isinstance(values, dict):
        refuse(where, f"a {type(values).__name__}", "a mapping with the keys type and kwargs")
    _refuse_unknown(where, values, EXPECTATION_KEYS)
    kind, kwargs, meta = values.get("type"), values.get("kwargs") or {}, values.get("meta") or {}
    if not isinstance(kind, str) or not isinstance(kwargs, dict) or not isinstance(meta, dict):
        refuse(where, f"type {kind!r}"[:120], "a type, and mappings under kwargs and meta")
    try:
        json.dumps(kwargs, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        expected = "texts, numbers, truth values, lists, mappings"
        refuse(f"{where}, kwargs", "a value that JSON has not, such as a date", expected)
    listed = kwargs.get("column_list") or []
    columns = [
        *(kwargs[key] for key in COLUMN_KEYS if key in kwargs),
        *(listed if isinstance(listed, list) else [None]),
    ]
    if not all(isinstance(name, str) for name in columns):
        refuse(f"{where}, kwargs", "a column that is no text", "names of columns, and a list of them as column_list")
    severity = values.get("severity", "critical")
    if severity not in SEVERITIES:
        refuse(f"{where}, severity", f"{severity!r}"[:120], f"one of {', '.join(SEVERITIES)}")
    return {
        "type": kind,
        "kwargs": {str(name): argument for name, argument in kwargs.items()},
        "severity": severity,
        "meta": {
            "what": str(meta.get("what") or values.get("description") or ""),
            "why": str(meta.get("why") or ""),
        },
    }


def _refuse_unknown(where: str, values: Mapping[str, Any], known: Sequence[str]) -> None:
    for key in values:
        if key not in known:
            refuse(where, f"unknown key {key!r}", f"one of {', '.join(known)}")


def refuse(where: str, observed: str, expected: str) -> NoReturn:
    """Raise ConfigError for an invalid part of a suite file."""
    raise ConfigError(
        observed, expected=expected, remedy="Correct the file, or take it out of expectations.", where=where
    )
