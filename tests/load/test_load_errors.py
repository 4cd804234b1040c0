"""Bad sources are refused in one line that says where, what, and what to do."""

from __future__ import annotations

import gzip
import json
import socket
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import pytest
from load.sources import refusal, stored

from contrapose.tasks.core.records import SummaryPair


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl", b"\n\n", "there are no rows"),
        ("a.json", b"[]", "there are no rows"),
        ("a.jsonl", b'{"text": "x"}\n{"text": "caf\xe9"}\n', "row 2: byte 27 is not UTF-8 (0xe9)"),
        ("a.csv", b"text\nx\ncaf\xe9\n", "line 3: byte 10 is not UTF-8 (0xe9)"),
        ("a.jsonl", b'["x"]\n', "row 1: ['x'] is no object"),
        ("a.jsonl", b"[" * 100_000 + b"\n", "row 1: invalid JSON (RecursionError)"),
        ("a.json", b'[{"text": "x"},]', "line 1, column"),
        ("a.json", b'{"text": "x"}', "expected a list of objects"),
        ("a.json", b'[{"text": "x"}, 7]', "row 2: 7 is no object"),
        ("a.jsonl", lines({"txet": "x"}), "expected one of the columns 'txet' (such as x). Name the column"),
        ("a.jsonl", lines({"txet": "x"}), "columns: {text: txet}"),
        ("a.jsonl", lines({"txet": "x"}), "--set data.columns.text=txet, or"),
        ("a.jsonl", lines({"the text": "x"}), "--set 'data.columns.text=the text', or"),
        ("a.jsonl", lines({"n": 7}), "--set data.columns.text=COLUMN, or"),
        ("a.csv", b"text,options\nx,hot|cold\n", """'hot|cold' is one text without marks; expected a list as JSON"""),
        (
            "a.jsonl",
            lines({"text": "x", "options": ["x", "y"], "answer": "\0"}),
            "column 'answer': '\\x00' holds a NUL",
        ),
        ("a.jsonl", lines({"text": "x", "options": ["x", "y"], "answer": "\ud800"}), "half a surrogate pair"),
        ("a.jsonl", lines({"": "x", "n": 7}), "no column can be the question"),
        (
            "a.jsonl",
            b'{"conversation_a": [], "conversation_b": [], "winner": "a", "turn": 1e999, "judge": "x"}\n',
            "row 1: the row has another form than those of mt_bench",
        ),
        ("a.csv", b"id,text\n1,x\n2,\n", "row 3: column 'text': null"),
        ("a.jsonl", lines({"text": True}), "column 'text': True is a truth value"),
        ("a.jsonl", lines({"text": "x"}, {"id": "y"}), "row 2: column 'text' is missing"),
        ("a.jsonl", lines({"text": "a\0b"}), r"'a\x00b' holds a NUL byte"),
        ("a.csv", b"text\nx\na\0b\n", "line 3: the file holds a NUL byte"),
        ("a.jsonl", b'{"text": "a\\ud800b"}\n', r"'a\ud800b' holds half a surrogate pair"),
        ("a.csv", b'a,text\n"1\n2",x\n3,y,z\n', "row 3: 3 fields; expected 2 fields"),
        ("a.csv", b'text\nx\n"y\n', "row 3: a quote is never closed"),
        ("a.csv", b"text,text\nx,y\n", "two columns are called 'text'"),
        ("a.csv", b",\nx,y\n", "row 1: the header holds no column names"),
        ("a.parquet", b"PAR1 or not", "expected Parquet"),
        ("a.xlsx", b"no workbook", "expected an .xlsx file"),
        ("a.jsonl.gz", b"no gzip", "the file cannot be read (BadGzipFile"),
        ("a.csv.gz", gzip.compress(b"text\n" + b"x" * 999, mtime=0)[:-9], "the file cannot be read"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    line = refusal(tmp_path / name)
    assert says in line
    assert line.startswith(str(tmp_path / name))


def test_many_bad_rows_are_told_at_once(tmp_path: Path) -> None:
    line = refusal(stored(tmp_path, [{}, "no JSON", "no JSON", {"text": "x"}, *[{"text": 5}] * 14]))
    assert "17 rows cannot be used; expected all 18 to be usable. Correct these rows, or leave out" in line
    assert "rows.jsonl, row 1: column 'text' is missing; expected every row to have it. Correct that row." in line
    assert "rows.jsonl, row 2: invalid JSON" in line
    assert "rows.jsonl, row 18: column 'text': 5 is a number; expected a text. Correct that row." in line


def test_all_columns_that_are_missing_are_told(tmp_path: Path) -> None:
    problems = refusal(stored(tmp_path, [{"article": "x"}]), SummaryPair, slice_by="topic").split("\n")
    assert len(problems) == 3
    told = refusal(stored(tmp_path, [{"text": "x"}]), SummaryPair)
    assert "no column 'article_sentence' or 'article_sent' or" in told


def test_a_long_value_is_shortened_and_escaped(tmp_path: Path) -> None:
    value = "\x1b[31m" + "x" * 500
    line = refusal(stored(tmp_path, [{"text": "x", "options": ["a", "b"], "answer": value}]))
    assert r"'\x1b[31mxxx" in line
    assert "x" * 80 not in line


@pytest.mark.parametrize("settings", [{"slice_by": "topci"}, {"cluster_by": "topci"}, {"columns": {"answer": "topci"}}])
def test_a_named_column_must_be_there(settings: dict[str, Any], tmp_path: Path) -> None:
    line = refusal(stored(tmp_path, [{"text": "x", "topic": "y"}]), **settings)
    assert "names column 'topci', which is not there" in line
    assert "Did you mean 'topic'?" in line


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("no.jsonl", "no.jsonl: there is no such file"),
        ("nope://a/b.jsonl", "Protocol not known: nope"),
        ("negatoin", "one of item_lists, judge_pairs, negation, stories, summary_pairs, tool_calls, toxic_words"),
        ("negatoin", "Did you mean 'negation'?"),
        ("folder.jsonl", "folder.jsonl: this is a folder; expected a file"),
        ("./folder", "folder: this is a folder; expected a file"),
        *(
            (name, f"{name}: this is a folder; expected a file. Name a file in it, or write hf/<folder>")
            for name in (".", "..", "folder")
        ),
    ],
)
def test_a_source_that_is_no_file_is_refused(
    source: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("folder", "folder.jsonl"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert says in refusal(source)


def test_a_package_that_an_address_needs_is_named() -> None:
    # A file system whose package is not installed with this project, whatever else is.
    fsspec.register_implementation("absent", "no_such_package.Files", clobber=True, errtxt="Install it")
    line = refusal("absent://bucket/a.csv")
    assert "the package no_such_package is not installed" in line
    assert "Install it with pip install no_such_package." in line


def test_an_address_that_does_not_answer_is_refused() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        source = f"http://127.0.0.1:{free.getsockname()[1]}/rows.jsonl"
        assert "the address cannot be read" in refusal(source)


@pytest.mark.slow
def test_a_wrong_byte_far_into_a_file_is_told_with_its_place(tmp_path: Path) -> None:
    before = "text\n" + "é\n" * 200_000
    (tmp_path / "a.csv").write_bytes(before.encode() + b"caf\xe9\n")
    assert f"line 200002: byte {len(before.encode()) + 3} is not UTF-8 (0xe9)" in refusal(tmp_path / "a.csv")


def test_an_entry_of_an_archive_that_is_a_bomb_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"text\n" + b"x\n" * 10_000_000)
    assert "expected at most 100 times as many. If you trust the file" in refusal(f"zip://a.csv::{tmp_path}/a.zip")


def test_a_column_of_options_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,A,B\nWhich is hot?,sun,moon\n")
    assert "columns.options names column 'C', which is not there" in refusal(
        tmp_path / "a.csv", columns={"options": "A,B,C"}
    )


def test_lists_among_texts_of_a_column_without_a_known_name_are_a_bad_row(tmp_path: Path) -> None:
    rows = [{"frage": f"Is the lake {number} deep?"} for number in range(20)]
    told = refusal(stored(tmp_path, [*rows, {"frage": [["x"], 1]}]))
    assert "row 21: column 'frage': [['x'], 1] is a list; expected a text" in told
