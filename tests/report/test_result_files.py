"""Files of results: CSV that is safe in spreadsheets, Parquet that says what it holds."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import frame, outcome, report, row, summary
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.core.records import Case
from contrapose.tasks.core.registry import names, probe
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.csv import disarm, render, undo_disarming
from contrapose.tasks.report.publish import (
    StoredResults,
    describe_cases,
    describe_results,
    describe_schema,
    write_files,
)
from contrapose.tasks.tables.columnar import schema_of
from contrapose.tasks.tables.results import COMMON, make_result_schema
from contrapose.tasks.tables.table import write, write_arrow


def whole(of: Report) -> bytes:
    return b"".join(render(of))


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
@pytest.mark.parametrize("before", ["", " ", "\t", "\r", "\n", '"', "' ", "\u200b", "\u00a0"])
def test_no_text_starts_a_formula(before: str, sign: str) -> None:
    assert disarm(f"{before}{sign}1+1").startswith("'")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        *((text, text) for text in ("plain", "a=b", "1-2", "", "A. one\nB. two", "a; b - c")),
        # Some programs part columns at semicolons.
        *(("a;=1", "a;'=1"), ("a\n=1", "a\n'=1"), ("a\tb; @x", "a\tb;' @x"), ('a;"=1', "a;'\"=1")),
    ],
)
def test_harmless_texts_stay_what_they_are_and_no_column_starts_a_formula(text: str, safe: str) -> None:
    assert disarm(text) == safe


@given(st.text(alphabet="=-+@'\"; \n\ta\u200b", max_size=12))
def test_any_text_can_be_restored(text: str) -> None:
    assert undo_disarming(disarm(text)) == text


def test_pandas_reads_what_was_written() -> None:
    texts = ["=1+1", "'=1+1", "a;=1", "- one\n- two", 'say "no", then', "plain", "NA"]
    rows = [row(case_id=str(number), original=text) for number, text in enumerate(texts)]
    found = pd.read_csv(io.BytesIO(whole(report(results=frame(rows)))), keep_default_na=False)
    assert [undo_disarming(text) for text in found["original"]] == texts


def test_numbers_stay_numbers_and_missing_values_are_empty() -> None:
    (found,) = read(whole(report(results=frame([row(eval_score=-0.25, **{"pass": None})]))))
    assert (found["eval_score"], found["pass"]) == ("-0.25", "")


def test_toxic_words_are_raw() -> None:
    assert "what the fuck is this shit?" in whole(report()).decode()


def test_no_rows_leave_the_header() -> None:
    assert whole(report(results=pd.DataFrame())).decode() == ",".join(COMMON) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a run of one test."""
    monkeypatch.setenv("CONTRAPOSE_STORAGE", str(tmp_path / "tables"))
    monkeypatch.setattr("contrapose.tasks.report.publish.names", lambda kind: {} if kind == "reports" else names(kind))
    schema = make_result_schema(probe("add_negation"))
    rows = next(report().results.parts()).query("test_type == 'add_negation'").reindex(columns=schema.names)
    results = write_arrow([pa.Table.from_pandas(rows, schema=schema, preserve_index=False)], schema)
    told = report(summary=summary(tests=[outcome()]))
    write_files(tmp_path, told, cases=[write([], Case)], results=StoredResults([results]), manifest={})
    return tmp_path


@pytest.mark.parametrize("name", names("probes"))
def test_every_column_of_every_test_is_described(name: str) -> None:
    found = describe_results([name])
    assert list(found) == make_result_schema(probe(name)).names
    assert all(column["description"] for column in found.values())


def test_columns_of_passages_are_described_too() -> None:
    columns = describe_results(["typo"], passages=True)
    assert list(columns) == make_result_schema(probe("typo"), passages=True).names
    assert all(column["description"] for column in columns.values())


def test_every_field_of_a_case_is_described() -> None:
    columns = describe_cases()
    assert list(columns) == schema_of(Case).names
    assert all(column["description"] for column in columns.values())


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
    assert describe_schema(schema, describe_results(["add_negation"]), summary()).field("theirs").metadata == {}
