"""Rows of JSON files: below a key, on lines; and what no rows are taken from."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from load.sources import is_read_or_refused, refusal, rows_of, values_of, written

ROWS = [
    {"question": "Is the lake deep?", "answer": "yes"},
    {"question": "Is the hill steep?", "answer": "no"},
    {"question": "Is the road long?", "answer": "no"},
]
FRAME = pd.DataFrame(ROWS)
NAMED = FRAME.set_axis(["lake", "hill", "road"])
CHOICES = [{"label": "A", "text": "yes"}, {"label": "B", "text": "no"}]
MESSAGES = [{"role": "user", "content": "Is the lake deep?"}, {"role": "assistant", "content": "yes"}]


def refused(source: str, **settings: Any) -> str:
    line = refusal(source, read=rows_of, **settings)
    assert line.startswith(source)
    return line


@pytest.mark.parametrize(
    "document",
    [
        {"version": "1", "data": ROWS},
        {"data": ROWS},
        {"Data": ROWS, "Domain": "web", "Version": 1.0},
        {"examples": ROWS, "canary": "x", "keywords": ["a", "b"], "metrics": ["c", "d", "e"]},
        {"name": "lakes", "description": "Say whether it is so.", "examples": ROWS},
        {"result": {"items": ROWS, "count": 3}, "ok": True},
        {"meta": {"authors": ["x", "y"], "year": 2020}, "anything": ROWS},
        {"data": ROWS, "errors": [], "next": None},
        {"labels": ["yes", "no", "maybe"], "data": ROWS},
        {"context": "A passage about a lake and a hill.", "questions": ROWS},
        {"prompt": "Answer the question.", "data": ROWS},
        {"fragen": {"zeilen": ROWS}},
    ],
    ids=lambda document: " ".join(document),
)
def test_only_list_of_objects_is_read(document: dict[str, Any], tmp_path: Path) -> None:
    read = rows_of(written(tmp_path / "a.json", document))
    assert [(row.number, row.values) for row in read] == [*enumerate(ROWS, start=1)]


def test_outermost_list_is_read(tmp_path: Path) -> None:
    articles = [{"title": "Lake", "paragraphs": [{"context": "It is deep.", "qas": [{"question": "Is it deep?"}]}]}]
    assert values_of(written(tmp_path / "a.json", {"version": "v2.0", "data": articles})) == articles


def test_several_lists_are_named_with_their_rows(tmp_path: Path) -> None:
    line = refused(written(tmp_path / "a.json", {"train": ROWS, "test": ROWS[:2], "name": "lakes"}))
    assert "'train' (3 rows), 'test' (2 rows)" in line
    assert "--set data.record_path=train" in line
    assert "record_path: train next to the source" in line


@pytest.mark.parametrize(
    "document",
    [
        {"train": ROWS, "test": ROWS},
        {"train": {"data": ROWS}, "test": {"data": ROWS}},
        {"en": {"questions": ROWS}, "de": {"questions": ROWS}},
        {"part1": {"rows": ROWS}, "part2": {"rows": ROWS}},
        {"train": {"name": "a", "data": ROWS}, "test": {"name": "b", "data": ROWS}},
        {"questions": ROWS, "answers2": ROWS},
        {"data": [{"frage": "x"}], "authors": [{"name": "x"}]},
    ],
    ids=lambda document: " ".join(document),
)
def test_lists_of_which_any_may_be_meant_are_refused(document: dict[str, Any], tmp_path: Path) -> None:
    line = refused(written(tmp_path / "a.json", document))
    assert "several lists may be the rows" in line
    assert "--set data.record_path=" in line


@pytest.mark.parametrize(
    "document",
    [
        {"info": {"authors": [{"name": "x"}]}, "data": ROWS},
        {"licenses": [{"name": "x", "url": "y"}], "entries": ROWS},
        {"images": [{"id": 1}], "annotations": [{"id": 1}], "lakes": ROWS},
    ],
    ids=lambda document: " ".join(document),
)
def test_only_list_with_questions_is_read_and_people_are_informed(document: dict[str, Any], tmp_path: Path) -> None:
    source = written(tmp_path / "a.json", document)
    assert values_of(source) == ROWS
    *others, chosen = document
    assert [row.notes for row in rows_of(source)][1:] == [(), ()]
    (note,) = rows_of(source)[0].notes
    assert note.startswith(f"the rows below {chosen!r} are read; the file also has lists below ")
    assert all(name in note for name in others)


@pytest.mark.parametrize("path", ["train", "sets.test", "sets.deep.er.rows", "sets.a.b", "sets"])
def test_record_path_names_the_list(path: str, tmp_path: Path) -> None:
    document = {"train": ROWS, "sets": {"test": ROWS[:1], "deep": {"er": {"rows": ROWS}}, "a.b": ROWS[1:]}}
    expected = {"sets.test": ROWS[:1], "sets.a.b": ROWS[1:]}
    source = written(tmp_path / "a.json", document)
    if path == "sets":
        assert "'sets.test' (1 rows), 'sets.a.b' (2 rows)" in refused(source, record_path=path)
    else:
        assert values_of(source, record_path=path) == expected.get(path, ROWS)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("date", "there is no key 'date'; expected one of the keys 'data', 'meta'"),
        ("data.items", "a list of 3 below 'data' has no keys; expected an object with keys. Set record_path to 'data'"),
        ("meta.itmes", "there is no key 'itmes' below 'meta'; expected one of the keys 'year'"),
        ("meta.year", "there are no rows but 2020; expected a list of objects"),
        ("meta.year.x", "2020 below 'meta.year' has no keys"),
        (".", "there is no key"),
        ("data.0", "has no keys"),
    ],
)
def test_wrong_record_path_is_refused_with_the_keys(path: str, says: str, tmp_path: Path) -> None:
    line = refused(written(tmp_path / "a.json", {"data": ROWS, "meta": {"year": 2020}}), record_path=path)
    assert f"record_path {path!r}: " in line
    assert says in line


def test_record_path_of_a_list_or_of_lines_is_refused(tmp_path: Path) -> None:
    assert "has no keys" in refused(written(tmp_path / "a.json", ROWS), record_path="data")
    lines = "\n".join(map(json.dumps, ROWS))
    assert "Leave record_path out" in refused(written(tmp_path / "a.jsonl", lines), record_path="data")


def test_record_path_may_lead_to_a_form_of_pandas(tmp_path: Path) -> None:
    document = {"a": json.loads(NAMED.to_json(orient="index")), "b": {"c": FRAME.to_dict("list")}}
    source = written(tmp_path / "a.json", document)
    assert values_of(source, record_path="a")[0] == {"id": "lake", **ROWS[0]}
    assert values_of(source, record_path="b.c") == ROWS


def test_row_of_a_list_that_is_no_object_is_named_by_its_place(tmp_path: Path) -> None:
    read = rows_of(written(tmp_path / "a.json", {"data": [ROWS[0], 7, ROWS[1]]}))
    assert [(row.number, row.problem is None) for row in read] == [(1, True), (2, False), (3, True)]


@pytest.mark.parametrize("document", [{"data": []}, {"data": [], "n": []}, []], ids=str)
def test_empty_list_has_no_rows(document: Any, tmp_path: Path) -> None:
    assert rows_of(written(tmp_path / "a.json", document)) == []


@pytest.mark.parametrize(
    "document",
    [
        {"question": "Is the lake deep, or not?", "choices": CHOICES},
        {"question": "Is the lake deep, or not?", "facts": [{"text": "It is."}]},
        {"messages": MESSAGES},
        {"conversations": [{"from": "human", "value": "Is the lake deep?"}]},
        {"question": "Is the lake deep?", "answer": "yes"},
        {"version": "1", "data": {"deep": {"er": {"rows": ROWS}}}},
        {"data": [], "n": 0},
        {},
        "text",
        7,
        None,
        True,
    ],
    ids=str,
)
def test_value_without_a_list_of_rows_is_refused(document: Any, tmp_path: Path) -> None:
    line = refused(written(tmp_path / "a.json", json.dumps(document)))
    assert "expected a list of objects" in line
    assert "record_path" in line


@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz"])
@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        ("\n".join(map(json.dumps, ROWS)), [1, 2, 3]),
        ("\ufeff" + "\r\n".join(map(json.dumps, ROWS)) + "\r\n\r\n", [1, 2, 3]),
        ("\n\n" + "\n\n".join(map(json.dumps, ROWS)), [3, 5, 7]),
        (json.dumps(ROWS), [1, 2, 3]),
        ("\ufeff\n" + json.dumps(ROWS, indent=2), [1, 2, 3]),
        ("[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n", [1, 2, 3]),
        ("[" + "\n,".join(map(json.dumps, ROWS)) + "]", [1, 2, 3]),
        (json.dumps({"version": "1", "data": ROWS}), [1, 2, 3]),
        (json.dumps({"version": "1", "data": ROWS}, indent=4), [1, 2, 3]),
    ],
    ids=[
        "lines", "windows", "blank lines", "list", "indented", "list of lines", "commas first", "object",
        "indented object",
    ],
)  # fmt: skip
def test_content_says_whether_rows_are_lines(content: str, numbers: list[int], name: str, tmp_path: Path) -> None:
    data = content.encode()
    read = rows_of(written(tmp_path / name, gzip.compress(data) if name.endswith(".gz") else data))
    assert [(row.number, row.values) for row in read] == [*zip(numbers, ROWS, strict=True)]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("indent", [None, 1])
def test_utf_16_with_a_mark_is_read(name: str, encoding: str, indent: int | None, tmp_path: Path) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    content = (mark + json.dumps([{"question": "Är sjön djup?"}], indent=indent, ensure_ascii=False)).encode(encoding)
    assert values_of(written(tmp_path / name, content)) == [{"question": "Är sjön djup?"}]


@pytest.mark.parametrize(
    "row",
    [
        {"messages": MESSAGES},
        {"question": "Is the lake deep, or not?", "choices": CHOICES},
        {"question": {"stem": "Is it deep?", "choices": CHOICES}, "id": "x"},
        {"text": "x", "items": [{"title": "y"}, {"title": "z"}]},
        {"story": "A lake is deep.", "questions": [{"input_text": "Is it?"}], "answers": [{"input_text": "yes"}]},
        {"title": "Lake", "paragraphs": [{"context": "It is deep.", "qas": []}]},
        {"question": ["Is it deep?"], "answer": ["yes"]},
        {"text": "x"},
    ],
    ids=lambda row: " ".join(row),
)
def test_only_line_of_a_file_of_lines_is_a_row(row: dict[str, Any], tmp_path: Path) -> None:
    assert values_of(written(tmp_path / "a.jsonl", row)) == [row]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_lines_that_hold_lists_are_refused(name: str, tmp_path: Path) -> None:
    line = refused(written(tmp_path / name, '["Is it deep?", "yes"]\n["Is it steep?", "no"]\n'))
    assert "each line is a list, such as ['Is it deep?', 'yes']" in line
    assert "to_json(orient='records', lines=True)" in line


def test_bad_line_among_lines_is_named_by_its_number(tmp_path: Path) -> None:
    for name in ("a.json", "a.jsonl"):
        read = rows_of(written(tmp_path / name, '{"text": "x"}\n{"text": \n{"text": "y"}\n'))
        assert [(row.number, row.problem is None) for row in read] == [(1, True), (2, False), (3, True)]


def test_bad_first_line_of_a_file_of_lines_is_a_bad_row(tmp_path: Path) -> None:
    for first in ('{"text": "x"', '{"text": x}', "{", "["):
        read = rows_of(written(tmp_path / "a.jsonl", f'{first}\n{{"text": "y"}}\n{{"text": "z"}}\n'))
        assert [(row.number, row.problem is None) for row in read] == [(1, False), (2, True), (3, True)]


def test_objects_one_after_the_other_are_refused_with_what_to_do(tmp_path: Path) -> None:
    content = "\n".join(json.dumps(row, indent=2) for row in ROWS)
    assert "invalid JSON (Extra data)" in (line := refused(written(tmp_path / "a.json", content)))
    assert "Put the values into one list, or one on each line" in line


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("depth", [50, 995, 100_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ('{"a":', "}"), ('{"data":[', "]}"), ('[{"a":', "}]"), ('{"question":{"0":', "}}"), ("[\n", "]\n")],
)
def test_nested_file_is_refused_without_a_traceback(
    opening: str, closing: str, depth: int, name: str, tmp_path: Path
) -> None:
    if name == "a.jsonl" and opening == "[\n":
        depth = min(depth, 995)  # each line is a row of its own
    for content in (opening * depth + "1" + closing * depth, opening * depth, closing * depth):
        assert is_read_or_refused(written(tmp_path / name, content))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize(
    "content",
    ["\ufeff", " ", "\n\n", "nul", "NaN", "1e999", "9" * 5_000, "[" + "9" * 5_000 + "]", '"\\ud800"', '{"\\ud800": 1}',
     '[{"a": 1}, {"a": 1}', '{"data": [{"a": "\\ud800"}]}', '{"": {"": 1}, " ": {"": 1}}', '{"": [{}]}', "[{}]", "[[]]",
     "[[], {}]", "[{}, []]", '{"a": {}}', '{"columns": [], "data": [[]]}', '{"columns": [null], "data": [[1]]}',
     '{"columns": [["a", "b"], ["a", "b"]], "data": [[1, 2]]}', '{"schema": {"fields": []}, "data": [7, {"a": 1}]}',
     '{"schema": {"fields": [], "primaryKey": [["a"]]}, "data": [{"a": 1}]}', "\0", "[\0]", "{}\n{}", "[]\n[]", "1\n2",
     '{"schema": {"fields": [], "primaryKey": [{}]}, "data": [{"a": 1}]}',
     '{"columns": ["a"], "data": [[1]], "index": {}}'],
)  # fmt: skip
def test_odd_file_is_read_or_refused_without_a_traceback(content: str, name: str, tmp_path: Path) -> None:
    source = written(tmp_path / name, content.encode("utf-8", "surrogatepass"))
    for path in (None, "data", "a.b", ".."):
        assert is_read_or_refused(source, record_path=path)
