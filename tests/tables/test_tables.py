"""Tables: what is read is what was written, or an error."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Case, Completion, SummaryPair, TextSample, Trial, Usage
from contrapose.tasks.tables import table as tables
from contrapose.tasks.tables.columnar import to_arrow
from contrapose.tasks.tables.table import batches, is_intact, read, read_rows, take, write, write_arrow

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


@pytest.mark.parametrize("enabled", [True, False])
def test_reading_leaves_garbage_collection_as_it_was(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        assert read(write([TRIAL], Trial), Trial) == [TRIAL]
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


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
    assert not is_intact(table)
    with pytest.raises(ContraposeError, match="--refresh"):
        read(table, Case)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Some fields of a case."""

    id: str
    skip_reason: str | None


def samples(count: int) -> Iterator[TextSample]:
    return (TextSample(id=str(number), text="It is.", options=("x",) * (number % 3)) for number in range(count))


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 4)


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("count", [0, 1, 4, 11])
def test_rows_are_the_same_bytes_however_they_come(count: int) -> None:
    whole = to_arrow(samples(count), TextSample)
    expected = write(samples(count), TextSample)
    assert expected["rows"] == count
    for size in (1, 3, 100):
        parts = [whole.slice(start, size) for start in range(0, count, size)]
        assert write_arrow(parts, whole.schema) == expected


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("rows", [1, 4, 6, 100])
def test_parts_hold_every_row_once_in_order(rows: int) -> None:
    table = write(samples(11), TextSample)
    parts = list(batches(table, rows=rows))
    assert all(part.num_rows == rows for part in parts[:-1])
    assert pa.concat_tables(parts).equals(to_arrow(samples(11), TextSample))


def test_a_table_without_rows_is_one_part_with_its_columns() -> None:
    (part,) = batches(write([], Case), columns=["id"])
    assert (part.num_rows, part.column_names) == (0, ["id"])


@pytest.mark.usefixtures("small_groups")
def test_some_rows_are_taken_by_their_places() -> None:
    table = write(samples(11), TextSample)
    assert take(table, [0, 3, 4, 10])["id"].to_pylist() == ["0", "3", "4", "10"]
    assert take(table, []).num_rows == 0


def test_a_record_with_fewer_fields_reads_those_alone() -> None:
    assert read(write([CASE], Case), Part) == [Part(id="p/1", skip_reason="empty")]


def test_rows_that_break_off_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORAGE", str(tmp_path))

    def broken() -> Iterator[TextSample]:
        yield from samples(3)
        raise ValueError("the source broke")

    with pytest.raises(ValueError, match="broke"):
        write(broken(), TextSample)
    assert list(tmp_path.iterdir()) == []


def test_a_remote_table_is_read_and_checked_as_a_local_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    local = write([CASE], Case)
    monkeypatch.setenv("CONTRAPOSE_STORAGE", "memory://contrapose-tables")
    table = write([CASE], Case)
    assert table["sha256"] == local["sha256"]
    assert is_intact(table)
    Path(local["uri"]).unlink()
    assert read(table, Case) == [CASE]
    with fsspec.open(table["uri"], "wb") as file:
        file.write(b"something else")
    # What was fetched is kept under the name of its content, and is read from there.
    assert read(table, Case) == [CASE]
    Path(local["uri"]).unlink()
    with pytest.raises(ContraposeError, match="changed since it was written"):
        read(table, Case)
    assert not Path(local["uri"]).exists()


@pytest.mark.parametrize(("first", "end"), [(0, 0), (0, 1), (0, 4), (3, 5), (4, 8), (2, 10), (10, 10), (9, 10)])
@pytest.mark.usefixtures("small_groups")
def test_neighbouring_rows_are_read_alone(first: int, end: int) -> None:
    records = list(samples(10))
    assert read_rows(write(records, TextSample), TextSample, first=first, end=end) == records[first:end]
