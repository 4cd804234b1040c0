"""The same rows load from every format, and are numbered as a person counts."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from load.sources import loaded, refusal, rows_of, written

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.load.rows import Row
from contrapose.tasks.load.samples import hash_source

ROWS = [
    {"id": "a", "text": "The sky is", "options": '["blue", "green"]', "answer": "B", "topic": "NA"},
    {"id": "b", "text": 'She said "no",\nand left', "options": "A. x\nB. y", "answer": "x", "topic": "é"},
]
FRAME = pd.DataFrame(ROWS)


def jsonl() -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS).encode()


def binary(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


CONTENTS: dict[str, Callable[[], bytes]] = {
    "rows.jsonl": jsonl,
    "rows.jsonl.gz": lambda: gzip.compress(jsonl()),
    "rows.json": lambda: json.dumps(ROWS, indent=1).encode("utf-8-sig"),
    "rows.csv": lambda: FRAME.to_csv(index=False).encode("utf-8-sig"),
    "rows.csv.gz": lambda: gzip.compress(FRAME.to_csv(index=False).encode()),
    "rows.tsv": lambda: FRAME.to_csv(index=False, sep="\t").encode(),
    "rows.parquet": lambda: binary(lambda buffer: FRAME.to_parquet(buffer)),
    "rows.xlsx": lambda: binary(lambda buffer: FRAME.to_excel(buffer, index=False, sheet_name="One")),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_gives_the_same_samples(name: str, tmp_path: Path) -> None:
    assert loaded(written(tmp_path / name, CONTENTS[name]()), slice_by="topic").samples == [
        TextSample(id="a", text="The sky is", options=("blue", "green"), answers=("green",), slice="NA"),
        TextSample(id="b", text='She said "no",\nand left', options=("x", "y"), answers=("x",), slice="é"),
    ]


def test_a_csv_row_is_numbered_with_its_header(tmp_path: Path) -> None:
    rows = rows_of(written(tmp_path / "a.csv", 'text,b\n"x\ny",1\n\nNA,\n'))
    assert rows == [Row(number=2, values={"text": "x\ny", "b": "1"}), Row(number=4, values={"text": "NA", "b": None})]


def test_a_number_in_excel_is_text(tmp_path: Path) -> None:
    pd.DataFrame({"text": [42, 1.5]}).to_excel(tmp_path / "a.xlsx", index=False)
    assert [row.values["text"] for row in rows_of(tmp_path / "a.xlsx")] == ["42", "1.5"]


def test_a_url_loads_as_a_path_does() -> None:
    with fsspec.open("memory://contrapose/rows.parquet", "wb") as file:
        FRAME.to_parquet(file)
    assert [each.id for each in loaded("memory://contrapose/rows.parquet").samples] == ["a", "b"]


def test_the_hash_is_that_of_the_stored_bytes(tmp_path: Path) -> None:
    content = b'{"text": "x"}\n'
    data = DataSettings(source=written(tmp_path / "rows.jsonl", content))
    assert hash_source(data) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    "odd",
    [
        pa.array([4_000_000], pa.date32()),
        pa.array([2**62], pa.timestamp("us")),
        pa.array([0], pa.timestamp("us", tz="Mars/Olympus")),
        pa.array([[2**62]], pa.list_(pa.timestamp("us"))),
    ],
    ids=["date", "moment", "zone", "list"],
)
def test_a_column_that_no_sample_has_may_hold_what_cannot_be_read(odd: pa.Array, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x"], "when": odd}), path)
    assert [each.text for each in loaded(path).samples] == ["x"]
    line = refusal(path, slice_by="when")
    assert "the file cannot be read (" in line
    assert "; expected Parquet" in line


def test_a_column_with_a_point_in_its_name_is_rows_of(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a.b": ["x"], "a": [{"b": 1}]}), path)
    assert [each.text for each in loaded(path, columns={"text": "a.b"}).samples] == ["x"]
