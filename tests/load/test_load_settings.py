"""Data settings: what they accept, and the format that they imply."""

from __future__ import annotations

import pytest

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.source_reader import detect_format, shorten_source_name


def test_a_plain_string_is_the_source() -> None:
    assert DataSettings.model_validate("negation") == DataSettings(source="negation")


def test_settings_survive_json() -> None:
    data = DataSettings(source="a.csv", columns={"text": "stem"}, slice_by="topic")
    assert DataSettings.model_validate_json(data.model_dump_json()) == data


@pytest.mark.parametrize(
    ("source", "name", "stem"),
    [
        ("negation", "bundled", "negation"), ("a/rows.JSONL", "jsonl", "rows"), ("rows.v2.csv.gz", "csv", "rows.v2"),
        ("https://example.org/rows.parquet?download=true", "parquet", "rows"),
        ("zip://rows.tsv::archive.zip", "tsv", "rows"), ("hf/org/name.v2", "hf", "name.v2"),
        ("C:\\data\\rows.xlsx", "xlsx", "rows"),
    ],
)  # fmt: skip
def test_the_name_tells_format_and_stem(source: str, name: str, stem: str) -> None:
    data = DataSettings(source=source)
    assert (detect_format(data), shorten_source_name(data)) == (name, stem)


def test_a_set_format_wins_over_the_suffix() -> None:
    assert detect_format(DataSettings(source="rows.txt", format="jsonl")) == "jsonl"


def test_an_unknown_suffix_names_the_closest_format() -> None:
    with pytest.raises(DataError, match=r"unknown suffix '\.jsnl'.*Did you mean \.json"):
        detect_format(DataSettings(source="rows.jsnl"))
