"""Bad rows that are to be left out: what is kept, what is told, and what is still refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest
from load import sources
from load.sources import refusal, stored

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.records import SummaryPair, TextSample
from contrapose.tasks.load import bundled
from contrapose.tasks.load.samples import Drawing, LoadedSamples
from contrapose.tasks.load.source_reader import KEPT_ROWS


def loaded(path: Path | str, **options: Any) -> LoadedSamples:
    return sources.loaded(path, skip_bad_rows=True, **options)


def jsonl(folder: Path, *rows: object) -> str:
    return stored(folder, rows)


def test_good_rows_are_kept_and_bad_ones_told_with_row_column_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,x\n2,\n3,y,z\n4,v\n")
    found = loaded(path)
    assert [each.id for each in found.samples] == ["1", "4"]
    assert found.rows == 2
    assert found.left_out == {
        "count": 2,
        "rows": [
            {"row": 3, "column": "text", "why": "column 'text': null; expected a text"},
            {"row": 4, "column": None, "why": "3 fields; expected 2 fields, as in the header"},
        ],
    }


def test_a_blank_cell_of_a_sheet_is_left_out(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["question"], ["x"], ["  "], ["y"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    found = loaded(tmp_path / "a.xlsx")
    assert ([each.text for each in found.samples], found.left_out["rows"][0]["row"]) == (["x", "y"], 3)


def test_rows_that_are_no_json_no_object_or_no_text_are_left_out(tmp_path: Path) -> None:
    options = {"text": "q", "options": ["a", "b"], "answer": "c"}
    found = loaded(jsonl(tmp_path, {"text": "x"}, "{no", [1], {"text": 5}, {"other": 1}, options, {"text": "y"}))
    assert [each.text for each in found.samples] == ["x", "y"]
    assert [(each["row"], each["column"]) for each in found.left_out["rows"]] == [
        (2, None),
        (3, None),
        (4, "text"),
        (5, "text"),
        (6, "answer"),
    ]


def test_of_rows_that_share_an_id_the_first_good_one_is_kept(tmp_path: Path) -> None:
    rows = [{"id": 1, "text": None}, {"id": 1, "text": "x"}, {"id": 2, "text": "y"}, {"id": 1, "text": "z"}]
    rows += [{"id": number, "text": "w"} for number in (3, 4)]
    found = loaded(jsonl(tmp_path, *rows))
    assert [each.text for each in found.samples] == ["x", "y", "w", "w"]
    assert [each["row"] for each in found.left_out["rows"]] == [1, 4]
    assert "id '1' is that of row 2 too" in found.left_out["rows"][1]["why"]


def test_a_limit_draws_from_the_good_rows(tmp_path: Path) -> None:
    path = jsonl(tmp_path, *({"text": f"text {number}" if number % 3 else " "} for number in range(60)))
    found = loaded(path, limit=30)
    assert (len(found.samples), found.rows, found.left_out["count"]) == (30, 40, 20)
    assert [each.id for each in loaded(path, limit=2, shuffle=False).samples] == ["rows-0002", "rows-0003"]


def test_the_first_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    found = loaded(jsonl(tmp_path, {"text": "x"}, *[{"text": None}] * (KEPT_ROWS + 9)))
    assert (len(found.left_out["rows"]), found.left_out["count"]) == (KEPT_ROWS, KEPT_ROWS + 9)


def test_where_every_row_is_good_nothing_is_left_out(tmp_path: Path) -> None:
    assert loaded(jsonl(tmp_path, {"text": "x"})).left_out is None


@pytest.mark.parametrize("limit", [None, 1])
def test_a_source_of_bad_rows_alone_is_refused(limit: int | None, tmp_path: Path) -> None:
    told = refusal(jsonl(tmp_path, {"text": None}, "{no"), read=loaded, limit=limit)
    assert "2 rows cannot be used; expected all 2" in told
    assert "skip" not in told


def test_a_missing_column_is_no_bad_row(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"text": "x"})
    assert "no column 'article_sentence'" in refusal(path, SummaryPair, skip_bad_rows=True)
    assert "names column 'topci'" in refusal(path, skip_bad_rows=True, slice_by="topci")


@pytest.mark.parametrize("bad", [1, 2])
def test_a_refusal_names_the_option(bad: int, tmp_path: Path) -> None:
    told = refusal(jsonl(tmp_path, {"text": "x"}, *[{"text": None}] * bad))
    assert "--skip-bad-rows (skip_bad_rows: true" in told


def test_rows_after_a_line_that_is_too_long_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "MOST_LINE", 40)
    found = loaded(jsonl(tmp_path, {"text": "x"}, {"text": "y" * 300}, {"text": "z"}, {"text": 5}))
    assert [each.id for each in found.samples] == ["rows-0001", "rows-0003"]
    assert [each["row"] for each in found.left_out["rows"]] == [2, 4]


def test_only_so_many_rows_are_looked_at(tmp_path: Path) -> None:
    found = loaded(jsonl(tmp_path, {"text": "x"}, {"text": None}, {"text": None}), most=2)
    assert (found.rows, found.left_out["count"]) == (1, 1)


def test_what_is_left_out_is_known_after_the_last_sample(tmp_path: Path) -> None:
    data = DataSettings(source=jsonl(tmp_path, {"text": "x"}, {"text": None}), skip_bad_rows=True)
    drawing = Drawing(data=data, sample_type=TextSample, limit=None, seed=0)
    assert len(list(drawing.samples())) == 1
    assert drawing.left_out is not None
