"""What parts the fields of a file: the usual separator, or the one that its header tells."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.load.samples import load_samples


def texts(folder: Path, name: str, content: str) -> list[str]:
    (folder / name).write_bytes(content.encode())
    data = DataSettings(source=str(folder / name))
    return [sample.text for sample in load_samples(data, TextSample, limit=None, seed=0).samples]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "\ufefftext;id\nThe box is, heavy;1\n"),
        ("a.csv", '"text";"id"\r\n"The box is, heavy";"1"\r\n'),
        ("a.csv", "text\tid\nThe box is, heavy\t1\n"),
        ("a.tsv", 'text,id\n"The box is, heavy",1\n'),
        ("a.tsv", "text\tid; or key\nThe box is, heavy\t1\n"),
        ("a.csv", 'text,"id; or key"\n"The box is, heavy",1\n'),
        ("a.csv", 'text\n"The box is, heavy"\n'),
    ],
)
def test_the_header_tells_the_separator(name: str, content: str, tmp_path: Path) -> None:
    assert texts(tmp_path, name, content) == ["The box is, heavy"]


def test_a_name_in_quotes_is_one_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="one of the columns 'text;id'"):
        texts(tmp_path, "a.csv", '"text;id"\nx\n')


def test_a_file_of_nothing_but_a_byte_order_mark_has_no_rows(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there are no rows"):
        texts(tmp_path, "a.csv", "\ufeff")


@pytest.mark.parametrize(
    "content",
    ["text\nx\n", "text,b\nx\nThe box is, heavy, too\n", 'text\nx\n"y\n', "text\nx\na\0b\n", "text,text\nx,y\n"],
)
@pytest.mark.usefixtures("nothing_left_behind")
def test_a_file_leaves_nothing_to_complain_about_later(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    with suppress(DataError):
        texts(tmp_path, "a.csv", content)
    gc.collect()
    assert complaints == []
