"""Workbooks: which sheet is read, and what people see of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from load.sources import loaded

from contrapose.flows.cli import main
from contrapose.tasks.core.errors import DataError

TABLE = [["text", "answer"], ["Water is wet.", "yes"], ["The hill is steep.", "no"]]
OTHER = [["text"], ["The sky is blue."]]
CHOICES = [[f"Which is the right one of case {n}?", "this one", "that one", "B"] for n in range(3)]


def book(folder: Path, sheets: Mapping[str, Sequence[Sequence[Any]]], hidden: Sequence[str] = ()) -> str:
    workbook = openpyxl.Workbook()
    assert workbook.active is not None
    workbook.remove(workbook.active)
    for title, cells in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in cells:
            sheet.append(row)
        if title in hidden:
            sheet.sheet_state = "hidden"
    path = folder / "book.xlsx"
    workbook.save(path)
    return str(path)


def test_first_sheet_with_rows_is_read_and_named(tmp_path: Path) -> None:
    source = book(tmp_path, {"Cover": [], "Old": OTHER, "Data": TABLE, "More": OTHER}, hidden=["Old"])
    read = loaded(source)
    assert [sample.text for sample in read.samples] == ["Water is wet.", "The hill is steep."]
    assert read.warnings == (
        f"{source}: sheet 'Data' is read; the workbook also has 'Cover' (empty), 'Old' (hidden), 'More'",
    )


def test_only_sheet_needs_no_warning(tmp_path: Path) -> None:
    assert loaded(book(tmp_path, {"Data": TABLE})).warnings == ()


@pytest.mark.parametrize("hidden", [[], ["More"]])
def test_sheet_that_is_set_is_read_without_a_warning(hidden: list[str], tmp_path: Path) -> None:
    read = loaded(book(tmp_path, {"Data": TABLE, "More": OTHER}, hidden), sheet="More")
    assert [sample.text for sample in read.samples] == ["The sky is blue."]
    assert read.warnings == ()


def test_unknown_sheet_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no sheet 'Dta'; expected one of 'Data', 'More'\. Did you mean 'Data'\?"):
        loaded(book(tmp_path, {"Data": TABLE, "More": OTHER}), sheet="Dta")


def test_rows_in_hidden_sheets_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="only hidden sheets hold something: 'Data'"):
        loaded(book(tmp_path, {"Cover": [], "Data": TABLE}, hidden=["Data"]))


def test_empty_workbook_has_no_rows(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there are no rows"):
        loaded(book(tmp_path, {"Cover": [], "Data": []}))


def test_sheet_without_a_header_keeps_its_first_row(tmp_path: Path) -> None:
    read = loaded(book(tmp_path, {"Data": CHOICES}))
    assert [sample.answers for sample in read.samples] == [("that one",)] * 3
    assert "no header: its columns are read as question, A, B, answer" in read.warnings[0]


def test_empty_rows_above_the_header_are_counted(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row 6: column 'text': null"):
        loaded(book(tmp_path, {"Data": [[], [None, None], *TABLE, [None, "yes"]]}))


@pytest.mark.parametrize("command", ["preview", "validate"])
def test_commands_say_which_sheet_is_read(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = book(tmp_path, {"Data": TABLE, "More": OTHER})
    assert main([command, "--data", source, "--test", "add_negation"]) == 0
    assert "sheet 'Data' is read; the workbook also has 'More'" in " ".join("".join(capsys.readouterr()).split())
