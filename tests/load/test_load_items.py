"""Lists of items in the shapes that data sets give them, and the place of the relevant one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from load.sources import loaded, refusal, stored

from contrapose.tasks.core.records import ItemSample
from contrapose.tasks.load.options import read_items, read_place
from contrapose.tasks.load.rows import CellError
from contrapose.tasks.tables.table import read, write

ROW = {"question": "Which barks?", "items": ["a dog", "a cat"], "options": ["dog", "cat"], "answer": "dog"}


@pytest.mark.parametrize(
    "value",
    [
        ["a dog", "a cat"], '["a dog", "a cat"]', "a dog\na cat\n", "a dog\r\n\r\na cat", "1. a dog\n2. a cat",
        "[1] a dog\n[2] a cat", "(1) a dog\n(2) a cat", "Passage 1: a dog\nPassage 2: a cat",
        ["A. a dog", "B. a cat"], ["Passage 1\na dog", "Passage 2\na cat"], "- a dog\n- a cat",
        ["* a dog", "* a cat"],
    ],
)  # fmt: skip
def test_every_shape_gives_the_items_without_their_numbers(value: Any) -> None:
    assert read_items(value) == ("a dog", "a cat")


def test_a_line_without_a_number_belongs_to_the_item_before() -> None:
    assert read_items("1. a dog\nthat barks\n2. a cat") == ("a dog\nthat barks", "a cat")


@pytest.mark.parametrize(
    "items", [("1. a dog", "3. a cat"), ("2. a dog", "1. a cat"), ("A dog", "B cat"), ("Dog 1: x", "Cat 2: y")]
)
def test_what_does_not_number_all_items_in_order_is_part_of_them(items: tuple[str, ...]) -> None:
    assert read_items(list(items)) == items


@given(st.lists(st.text(st.characters(categories=["L", "P", "Nd"]), min_size=1), min_size=2, max_size=30, unique=True))
def test_numbers_before_all_items_are_left_out_whatever_the_items_are(texts: list[str]) -> None:
    assert read_items([f"Source {number}: x{text}" for number, text in enumerate(texts, start=1)]) == tuple(
        f"x{text}" for text in texts
    )


@pytest.mark.parametrize(
    ("value", "observed"),
    [
        (["a dog"], "1 item"),
        ([], "0 items"),
        ([str(number) + "x" for number in range(201)], "201 items"),
        (["a dog", " "], "an item is blank"),
        ("1. a dog\n2. ", "an item is blank"),
        (["a dog", "a dog "], "'a dog' is there twice"),
        (["a dog", 3], "3 is a number"),
        ("[a dog, a cat]", "is not JSON"),
        (7, "7 is no list"),
        (None, "null"),
    ],
)
def test_unusable_lists_are_refused(value: Any, observed: str) -> None:
    with pytest.raises(CellError) as caught:
        read_items(value)
    assert observed in caught.value.problem.observed


@pytest.mark.parametrize("value", [2, 2.0, "2", " 2 "])
def test_a_place_is_counted_from_one(value: Any) -> None:
    assert read_place(value, among=2) == 2


@pytest.mark.parametrize("value", [0, 3, -1, 1.5, True, "b", "", [1], float("nan"), float("inf"), 10**400])
def test_what_is_the_place_of_no_item_is_refused(value: Any) -> None:
    with pytest.raises(CellError, match="place of no item"):
        read_place(value, among=2)


def test_every_format_gives_the_same_sample(tmp_path: Path) -> None:
    rows = [{**ROW, "relevant": 1, "kind": "pets", "cluster": "c"}]
    cells = {**rows[0], "items": json.dumps(ROW["items"]), "options": json.dumps(ROW["options"])}
    (tmp_path / "rows.jsonl").write_text(json.dumps(rows[0]))
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet")
    pd.DataFrame([cells]).to_csv(tmp_path / "rows.csv", index=False)
    pd.DataFrame([cells]).astype(str).to_excel(tmp_path / "rows.xlsx", index=False)
    sample = ItemSample(
        id="rows-0001",
        text="Which barks?",
        items=("a dog", "a cat"),
        options=("dog", "cat"),
        answers=("dog",),
        relevant=1,
        slice="pets",
        cluster="c",
    )
    for name in ("jsonl", "parquet", "csv", "xlsx"):
        (row,) = loaded(tmp_path / f"rows.{name}", ItemSample, slice_by="kind").samples
        assert (row.items, row.relevant, row.answers) == (sample.items, sample.relevant, sample.answers)
        assert row.slice == "pets"
    assert loaded(tmp_path / "rows.jsonl", ItemSample, slice_by="kind").samples == [sample]
    assert read(write([sample], ItemSample), ItemSample) == [sample]


def test_columns_of_other_names_are_mapped(tmp_path: Path) -> None:
    source = stored(tmp_path, [{"question": "Which?", "contexts": ["x", "y"], "gold": 2}])
    (row,) = loaded(source, ItemSample, columns={"items": "contexts", "relevant": "gold"}).samples
    assert (row.items, row.relevant) == (("x", "y"), 2)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"items": ["a dog"]}, "row 1: column 'items': 1 item; expected 2 to 200 items"),
        ({"relevant": 3}, "row 1: column 'relevant': 3 is the place of no item; expected 1 for the first of them to 2"),
        ({"answer": "cow"}, "row 1: column 'answer': 'cow' is none of the options"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_its_column(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    told = refusal(stored(tmp_path, [{**ROW, **row}]), ItemSample)
    assert says in told
    assert "\n" not in told


def test_a_source_without_items_names_the_column(tmp_path: Path) -> None:
    told = refusal(stored(tmp_path, [{"question": "Which?", "item": ["x", "y"]}]), ItemSample)
    assert "no column 'items'" in told
    assert "data.columns.items=item" in told
