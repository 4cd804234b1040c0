"""Tables: what is read is what was written, or an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from contrapose.tasks.errors import ContraposeError
from contrapose.tasks.records import Case, Completion, SummaryPair, TextSample, Trial, Usage
from contrapose.tasks.tables import intact, read, write

CASE = Case(
    id="p/1",
    sample_id="1",
    probe="p",
    version="1",
    original="It is.",
    perturbed=None,
    original_prompt="It is.",
    perturbed_prompt=None,
    scorer="s",
    asks="choose",
    labels=("A", "B"),
    options=("x", "y"),
    skip_reason="empty",
    details={"word": "überall\n\t\"'", "other": ""},
)
TRIAL = Trial(
    case=CASE,
    expected=Completion(text="A", option_loglikelihoods=(-0.5, -2.25), usage=Usage(calls=1, prompt_tokens=3)),
    actual=Completion(error="it broke"),
)


@pytest.mark.parametrize(
    "record",
    [
        TextSample(id="1", text="It is.", options=("x", "y")),
        SummaryPair(id="1", article_sentence="a", correct_sentence="b", incorrect_sentence="c"),
        CASE,
        TRIAL,
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_record_comes_back_as_it_was(record: object) -> None:
    assert read(write([record], type(record)), type(record)) == [record]


def test_no_records_keep_their_columns() -> None:
    assert read(write([], Case), Case) == []


def test_the_same_rows_have_the_same_reference() -> None:
    assert write([CASE], Case) == write([CASE], Case)


def test_a_changed_file_is_refused() -> None:
    table = write([CASE, CASE], Case)
    path = Path(table["uri"])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ContraposeError, match="changed since it was written"):
        read(table, Case)
    path.unlink()


def test_a_missing_file_is_told_with_its_remedy() -> None:
    table = write([CASE, CASE, CASE], Case)
    Path(table["uri"]).unlink()
    assert not intact(table)
    with pytest.raises(ContraposeError, match="--refresh"):
        read(table, Case)
