"""What the columns of results.parquet and cases.parquet hold, told in the files themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
from pydantic import ConfigDict, TypeAdapter

from contrapose.tasks.outcome import Summary
from contrapose.tasks.records import Case
from contrapose.tasks.registry import names, probe
from contrapose.tasks.report.cleaning import valid
from contrapose.tasks.results import columns_of

PREFIX = "contrapose."
"""Before every key about the whole file, since other programs add keys of their own."""


class Described(NamedTuple):
    """What a column holds, as files tell it."""

    description: str
    """In a sentence."""
    unit: str = ""
    """Of a number; empty where it has none."""


def of_results(tests: Iterable[str]) -> dict[str, Described]:
    """Of results.parquet, as each test's probe describes its columns."""
    known = names("probes")
    columns = {name: each for test in tests if test in known for name, each in columns_of(probe(test)).items()}
    return {name: Described(each.description, each.unit) for name, each in columns.items()}


def of_cases() -> dict[str, Described]:
    """Of cases.parquet, as the record describes its fields."""
    # Only through a list are fields of a plain dataclass described by what is written beneath them.
    adapter = TypeAdapter(list[Case], config=ConfigDict(use_attribute_docstrings=True))
    fields: dict[str, Any] = adapter.json_schema()["$defs"]["Case"]["properties"]
    return {name: Described(field.get("description", "")) for name, field in fields.items()}


def described(schema: pa.Schema, columns: Mapping[str, Described], summary: Summary) -> pa.Schema:
    """The schema with its columns described, each in its field, and all in one key that needs no Arrow to be read."""
    told = {name: columns[name]._asdict() for name in schema.names if name in columns}
    fields = [each.with_metadata(told.get(each.name)) for each in schema]
    facts = {**_facts(summary), "columns": _json(told)}
    return pa.schema(fields, {f"{PREFIX}{name}": valid(text) for name, text in facts.items()})


def _facts(summary: Summary) -> dict[str, str]:
    """What the rows depend on; neither the run's name nor its time, since two runs of the same have the same files."""
    tests = summary["tests"]
    return {
        "suite": summary["suite"],
        "model": summary["model"]["id"],
        "revision": summary["model"]["revision"],
        "version": summary["contrapose"],
        "schema_version": str(summary["schema_version"]),
        "probe_versions": _json({test["test_type"]: test["probe_version"] for test in tests}),
        "data_sha256": _json({test["test_type"]: test["data"]["sha256"] for test in tests}),
    }


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)
