"""Rows of JSON files in the forms that pandas writes."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from load.sources import rows_of, values_of, written
from load.test_read_json import CHOICES, FRAME, NAMED, ROWS, refused


@pytest.mark.parametrize("orient", ["records", "split", "index", "columns", "table"])
def test_every_orient_of_pandas_with_names_is_read(orient: Any, tmp_path: Path) -> None:
    assert values_of(written(tmp_path / "a.json", FRAME.to_json(orient=orient))) == ROWS


@pytest.mark.parametrize("name", ["a.jsonl", "a.json.gz"])
@pytest.mark.parametrize("orient", ["records", "split", "columns", "table"])
def test_orients_are_read_whatever_the_name_of_the_file(orient: Any, name: str, tmp_path: Path) -> None:
    content = FRAME.to_json(orient=orient).encode()
    assert values_of(written(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)) == ROWS


@pytest.mark.parametrize("orient", ["split", "index", "columns"])
def test_label_of_a_row_is_its_id(orient: Any, tmp_path: Path) -> None:
    read = values_of(written(tmp_path / "a.json", NAMED.to_json(orient=orient)))
    assert [row["id"] for row in read] == ["lake", "hill", "road"]


@pytest.mark.parametrize("orient", ["split", "index", "columns"])
def test_label_of_a_row_replaces_no_id(orient: Any, tmp_path: Path) -> None:
    read = values_of(written(tmp_path / "a.json", NAMED.assign(ID=["x", "y", "z"]).to_json(orient=orient)))
    assert [row["ID"] for row in read] == ["x", "y", "z"]
    assert "id" not in read[0]


@pytest.mark.parametrize("orient", ["split", "index", "columns", "table"])
@pytest.mark.parametrize("labels", [[0, 1, 2], [1, 2, 3]])
def test_labels_that_only_count_are_left_out(orient: Any, labels: list[int], tmp_path: Path) -> None:
    assert values_of(written(tmp_path / "a.json", FRAME.set_axis(labels).to_json(orient=orient))) == ROWS


def test_numbers_of_rows_that_were_chosen_are_kept(tmp_path: Path) -> None:
    read = values_of(written(tmp_path / "a.json", FRAME.set_axis([12, 7, 30]).to_json(orient="index")))
    assert [row["id"] for row in read] == ["12", "7", "30"]


def test_index_of_the_orient_table_is_kept_where_it_says_something(tmp_path: Path) -> None:
    read = values_of(written(tmp_path / "a.json", NAMED.to_json(orient="table")))
    assert read[0] == {"index": "lake", **ROWS[0]}


def test_dict_of_lists_is_read(tmp_path: Path) -> None:
    frame = FRAME.assign(options=[["yes", "no"], ["no", "yes"], ["yes", "no"]], choices=[CHOICES] * 3)
    assert values_of(written(tmp_path / "a.json", frame.to_dict("list"))) == frame.to_dict("records")


def test_column_of_objects_makes_no_list_of_rows(tmp_path: Path) -> None:
    table = {"question": ["Is it deep?", "Is it steep?"], "facts": [{"text": "x"}, {"text": "y"}]}
    assert [row["question"] for row in values_of(written(tmp_path / "a.json", table))] == table["question"]


def test_lists_of_different_length_are_refused(tmp_path: Path) -> None:
    line = refused(written(tmp_path / "a.json", {"question": ["a", "b"], "answer": ["c"]}))
    assert "'question' 2, 'answer' 1" in line


@pytest.mark.parametrize("content", [FRAME.to_json(orient="values"), '{"data": [["a", "b"]]}'], ids=["list", "key"])
def test_rows_without_names_of_columns_are_refused(content: str, tmp_path: Path) -> None:
    line = refused(written(tmp_path / "a.json", content))
    assert "lists without column names" in line
    assert "to_json(orient='records')" in line


@pytest.mark.parametrize(
    "document",
    [
        {"30990001": {"QUESTION": "Is it so?", "YEAR": "2011"}, "30990002": {"QUESTION": "Is it not?", "final": "no"}},
        {"nfl_1": {"passage": "x", "qa_pairs": [{"question": "y"}]}, "nfl_2": {"passage": "z", "qa_pairs": [{}]}},
        {"nfl_1": {"passage": "x", "qa_pairs": [{"question": "y"}]}},
        {"lake": {"question": "x", "answer": "y"}},
        {"lake": {"question": "x", "answer": "y"}, "hill": {"question": "z"}},
        {"q1": {"frage": "x", "antwort": "y"}, "q2": {"frage": "z", "antwort": "w"}},
        {"a1": {"frage": "x", "optionen": [{"t": 1}]}, "a2": {"frage": "z", "optionen": [{"t": 1}]}},
    ],
    ids=lambda document: " ".join(document),
)
def test_objects_below_names_of_rows_are_rows(document: dict[str, Any], tmp_path: Path) -> None:
    assert values_of(written(tmp_path / "a.json", document)) == [{"id": name, **row} for name, row in document.items()]


@pytest.mark.parametrize(
    "document",
    [
        {"frage": {"0": "x", "1": "y"}, "antwort": {"0": "a", "1": "b"}},
        {"frage": {"row-1": "x", "row-2": "y"}},
        {"question": {"0": "x"}},
        {"question": {"lake": "x", "hill": "y"}, "answer": {"lake": "a", "hill": None}},
    ],
    ids=lambda document: " ".join(document),
)
def test_objects_below_names_of_columns_are_columns(document: dict[str, Any], tmp_path: Path) -> None:
    read = values_of(written(tmp_path / "a.json", document))
    names = [*document]
    assert [[row[name] for name in names] for row in read] == [
        *map(list, zip(*map(dict.values, document.values()), strict=True))
    ]


@pytest.mark.parametrize(
    "document",
    [
        {"lake": {"tief": "x", "lang": "y"}, "berg": {"tief": "x", "lang": "y"}},
        {"0": {"0": "x", "1": "y"}, "1": {"0": "x", "1": "y"}},
    ],
    ids=str,
)
def test_objects_that_may_be_rows_or_columns_are_refused(document: dict[str, Any], tmp_path: Path) -> None:
    line = refused(written(tmp_path / "a.json", document))
    assert "may be rows or columns" in line
    assert "to_json(orient='records')" in line


@pytest.mark.parametrize(
    ("cells", "says"),
    [(["x"], "['x']; expected a list of 2"), ("x", "'x'; expected a list of 2"), ([1, 2, 3], "[1, 2, 3]")],
)
def test_cells_that_do_not_fit_their_names_are_a_bad_row(cells: Any, says: str, tmp_path: Path) -> None:
    first, second = rows_of(written(tmp_path / "a.json", {"columns": ["a", "b"], "data": [["x", "y"], cells]}))
    assert first.problem is None
    assert says in f"{second.problem.observed}; expected {second.problem.expected}"


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    assert "two columns are called 'a'" in refused(
        written(tmp_path / "a.json", {"columns": ["a", "a"], "data": [["x", "y"]]})
    )
