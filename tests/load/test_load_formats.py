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

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.core.registry import find
from contrapose.tasks.load.rows import Row
from contrapose.tasks.load.samples import content_sha256, load_samples

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


def read(path: Path, **settings: str) -> list[Row]:
    data = DataSettings.model_validate({"source": str(path), **settings})
    return list(find("sources", path.suffix[1:])(data))


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_gives_the_same_samples(name: str, tmp_path: Path) -> None:
    source = str(written(tmp_path / name, CONTENTS[name]()))
    loaded = load_samples(DataSettings(source=source, slice_by="topic"), TextSample, limit=None, seed=0)
    assert loaded.samples == [
        TextSample(id="a", text="The sky is", options=("blue", "green"), answers=("green",), slice="NA"),
        TextSample(id="b", text='She said "no",\nand left', options=("x", "y"), answers=("x",), slice="é"),
    ]


def test_a_jsonl_row_is_numbered_by_its_line(tmp_path: Path) -> None:
    rows = read(written(tmp_path / "a.jsonl", '\ufeff{"text": "x"}\r\n\n{"text": "y"}\n'))
    assert [(row.number, row.values["text"]) for row in rows] == [(1, "x"), (3, "y")]


def test_a_csv_row_is_numbered_with_its_header(tmp_path: Path) -> None:
    rows = read(written(tmp_path / "a.csv", 'text,b\n"x\ny",1\n\nNA,\n'))
    assert rows == [Row(number=2, values={"text": "x\ny", "b": "1"}), Row(number=4, values={"text": "NA", "b": None})]


def test_a_csv_index_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", FRAME.to_csv())
    assert set(read(path)[0].values) == set(FRAME.columns)


def test_a_long_csv_cell_is_read_whole(tmp_path: Path) -> None:
    long = "word " * 100_000
    assert read(written(tmp_path / "a.csv", f"text,b\n{long},1\n"))[0].values["text"] == long


def test_a_number_in_excel_is_text(tmp_path: Path) -> None:
    pd.DataFrame({"text": [42, 1.5]}).to_excel(tmp_path / "a.xlsx", index=False)
    assert [row.values["text"] for row in read(tmp_path / "a.xlsx")] == ["42", "1.5"]


def test_a_url_loads_as_a_path_does() -> None:
    with fsspec.open("memory://contrapose/rows.parquet", "wb") as file:
        FRAME.to_parquet(file)
    data = DataSettings(source="memory://contrapose/rows.parquet")
    assert [each.id for each in load_samples(data, TextSample, limit=None, seed=0).samples] == ["a", "b"]


def test_the_hash_is_that_of_the_stored_bytes(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.jsonl", b'{"text": "x"}\n')
    assert content_sha256(DataSettings(source=str(path))) == hashlib.sha256(path.read_bytes()).hexdigest()


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
    loaded = load_samples(DataSettings(source=str(path)), TextSample, limit=None, seed=0)
    assert [each.text for each in loaded.samples] == ["x"]
    with pytest.raises(DataError, match=r"the file cannot be read \(.*; expected Parquet") as caught:
        load_samples(DataSettings(source=str(path), slice_by="when"), TextSample, limit=None, seed=0)
    assert str(caught.value).isprintable()


def test_a_column_with_a_point_in_its_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a.b": ["x"], "a": [{"b": 1}]}), path)
    data = DataSettings.model_validate({"source": str(path), "columns": {"text": "a.b"}})
    assert [each.text for each in load_samples(data, TextSample, limit=None, seed=0).samples] == ["x"]
