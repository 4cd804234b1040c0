"""A DataFrame is a file like others: every cell as JSON holds it, and what cannot be used is told by row and column."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from load.sources import loaded

from contrapose.tasks.core.errors import ConfigError, DataError
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.load.frame import convert_frame_to_lines, keep_frame


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [json.loads(line) for line in convert_frame_to_lines(frame).decode().splitlines()]


def samples(frame: pd.DataFrame, folder: Path, **settings: Any) -> list[TextSample]:
    return loaded(keep_frame(convert_frame_to_lines(frame), Place(str(folder))), **settings).samples


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a", None, float("nan")], ["a", None, None]),
        ([1, 2, 3], [1, 2, 3]),
        ([1.5, float("nan"), float("inf")], [1.5, None, {"float": "inf"}]),
        ([True, False, True], [True, False, True]),
        ([["hot", "cold"], ("hot", "cold"), np.array(["hot", "cold"])], [["hot", "cold"]] * 3),
        ([np.int64(4), np.float64(0.5), np.bool_(True)], [4, 0.5, True]),
        ([{"label": ["A"], 1: None}, "a", 2], [{"label": ["A"], "1": None}, "a", 2]),
        (pd.array([1, None, 3], dtype="Int64"), [1, None, 3]),
        (pd.array(["a", None, "c"], dtype="category"), ["a", None, "c"]),
        (pd.to_datetime(["2026-01-02", None, None]), [{"Timestamp": "2026-01-02 00:00:00"}, None, None]),
        ([Decimal("1.5"), date(2026, 1, 2), b"x"], [{"Decimal": "1.5"}, {"date": "2026-01-02"}, {"bytes": "b'x'"}]),
    ],
)
def test_a_cell_is_what_json_holds(cells: Any, expected: list[Any]) -> None:
    assert [row["x"] for row in rows(pd.DataFrame({"x": cells}))] == expected


def test_the_index_is_left_out() -> None:
    frame = pd.DataFrame({"text": ["a", "b"]})
    assert convert_frame_to_lines(frame) == convert_frame_to_lines(frame.set_axis([7, 7]))
    assert convert_frame_to_lines(frame.sort_index(ascending=False)) != convert_frame_to_lines(frame)


def test_rows_become_samples(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"prompt": ["Is it hot?", "Is it cold?"], "options": [["yes", "no"]] * 2, "answer": ["A", "no"]}
    )
    read = samples(frame, tmp_path, columns={"text": "prompt"})
    assert [(sample.id, sample.text, sample.options, sample.answers) for sample in read] == [
        ("frame-0001", "Is it hot?", ("yes", "no"), ("yes",)),
        ("frame-0002", "Is it cold?", ("yes", "no"), ("no",)),
    ]


def test_another_row_changes_no_id_of_those_before(tmp_path: Path) -> None:
    first, second = (samples(pd.DataFrame({"text": list(letters)}), tmp_path) for letters in ("ab", "abc"))
    assert first == second[:2]


def test_what_cannot_be_used_is_told_by_row_and_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a", 5, None, pd.Timestamp("2026-01-02")]})
    with pytest.raises(
        DataError, match=r"row 2: column .text.: 5 is a number(?s:.*)row 3: .*null(?s:.*)row 4: .* is an object"
    ):
        samples(frame, tmp_path)


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(DataError, match=r"^the DataFrame: two columns are called '1'"):
        convert_frame_to_lines(pd.DataFrame([["a", "b"]], columns=["1", 1]))


def test_the_same_rows_are_the_same_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a"]})
    first, again = (keep_frame(convert_frame_to_lines(frame), Place(str(tmp_path))) for _ in range(2))
    assert first == again
    assert keep_frame(convert_frame_to_lines(frame.assign(text="b")), Place(str(tmp_path))) != first


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"the rows of the DataFrame cannot be written .* with out\.$"):
        keep_frame(b"{}\n", Place(str(tmp_path / "file")))
