"""Parquet files that say what they hold, to whoever reads them."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import outcome, report, summary

from contrapose.tasks.core.records import Case
from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.report.publish import StoredResults, describe_schema, of_cases, of_results, write_files
from contrapose.tasks.tables.columnar import schema_of
from contrapose.tasks.tables.results import schema_for
from contrapose.tasks.tables.table import write, write_arrow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a run of one test."""
    monkeypatch.setenv("CONTRAPOSE_STORAGE", str(tmp_path / "tables"))
    monkeypatch.setattr("contrapose.tasks.report.publish.names", lambda kind: {} if kind == "reports" else names(kind))
    schema = schema_for(probe("add_negation"))
    rows = next(report().results.parts()).query("test_type == 'add_negation'").reindex(columns=schema.names)
    results = write_arrow([pa.Table.from_pandas(rows, schema=schema, preserve_index=False)], schema)
    told = report(summary=summary(tests=[outcome()]))
    write_files(tmp_path, told, cases=[write([], Case)], results=StoredResults([results]), manifest={})
    return tmp_path


@pytest.mark.parametrize("name", names("probes"))
def test_every_column_of_every_test_is_described(name: str) -> None:
    found = of_results([name])
    assert list(found) == schema_for(probe(name)).names
    assert all(column.description for column in found.values())


def test_columns_of_passages_are_described_too() -> None:
    columns = of_results(["typo"], passages=True)
    assert list(columns) == schema_for(probe("typo"), passages=True).names
    assert all(column.description for column in columns.values())


def test_every_field_of_a_case_is_described() -> None:
    columns = of_cases()
    assert list(columns) == schema_of(Case).names
    assert all(column.description for column in columns.values())


def test_arrow_reads_what_a_column_holds(folder: Path) -> None:
    field = pq.read_schema(folder / "results.parquet").field("js_divergence")
    assert field.metadata[b"unit"] == b"bit"
    assert field.metadata[b"description"].startswith(b"Jensen-Shannon divergence")


def test_arrow_reads_which_run_it_was(folder: Path) -> None:
    for name in ("results.parquet", "cases.parquet"):
        found = pq.read_schema(folder / name).metadata
        assert found[b"contrapose.suite"].decode() == summary()["suite"]
        assert b"contrapose.run_id" not in found
        assert json.loads(found[b"contrapose.probe_versions"]) == {"add_negation": "1"}
        assert json.loads(found[b"contrapose.data_sha256"]) == {"add_negation": "3f" * 32}


def test_duckdb_reads_it_all_without_arrow(folder: Path) -> None:
    query = "SELECT decode(key), decode(value) FROM parquet_kv_metadata(?)"
    found = dict(duckdb.execute(query, [str(folder / "results.parquet")]).fetchall())
    assert found["contrapose.version"] == summary()["contrapose"]
    assert json.loads(found["contrapose.columns"])["eval_score"]["unit"] == "depends on scorer"


def test_a_column_that_no_probe_describes_stays_without_words() -> None:
    schema = pa.schema([pa.field("theirs", pa.int64())])
    assert describe_schema(schema, of_results(["add_negation"]), summary()).field("theirs").metadata == {}
