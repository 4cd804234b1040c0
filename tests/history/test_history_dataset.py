"""The files of a history: appended whole, kept once, read although others are broken."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from past_runs import past_run, past_test

from contrapose.tasks.core.errors import CutShortError
from contrapose.tasks.history.dataset import MARK, SCHEMA, VERSION, append_run, find_place, make_file_name, to_table
from contrapose.tasks.history.queries import select_runs
from contrapose.tasks.history.reading import read_history


def put(where: str, *days: int) -> None:
    for day in days:
        append_run(where, past_run(day), key=f"run-{day}")


def ids(where: str) -> list[str]:
    return [run["run_id"] for run in select_runs(read_history(where).rows)]


def test_a_run_that_is_published_twice_is_kept_once_as_it_was_last(tmp_path: Path) -> None:
    append_run(str(tmp_path), past_run(verdict="incomplete"), key="a")
    append_run(str(tmp_path), past_run(run_id="again", verdict="pass"), key="a")
    assert [(run["run_id"], run["verdict"]) for run in select_runs(read_history(str(tmp_path)).rows)] == [
        ("again", "pass")
    ]
    assert os.listdir(tmp_path) == [make_file_name("a")]


def test_a_run_can_leave_out_what_it_left_before(tmp_path: Path) -> None:
    put(str(tmp_path), 0, 1)
    assert len(read_history(str(tmp_path), without=make_file_name("run-0")).rows) == 1


@pytest.mark.parametrize("name", ["runs[1]", "runs*", "r?ns", "a{b}", "ü ñ"])
def test_the_name_of_a_folder_is_no_pattern(tmp_path: Path, name: str) -> None:
    put(str(tmp_path / "runs1"), 5)
    put(str(tmp_path / name), 0, 1)
    (tmp_path / name / "odd[1].parquet").write_bytes(b"")
    found = read_history(str(tmp_path / name))
    assert (len(found.rows), list(found.skipped)) == (2, ["odd[1].parquet"])


def test_whatever_a_file_system_raises_is_said_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object) -> bool:
        raise RuntimeError("token=secret")

    monkeypatch.setattr(fsspec.get_filesystem_class("memory"), "isdir", fails)
    monkeypatch.setattr("contrapose.tasks.core.file_servers.PATIENCE_SECONDS", 0)
    with pytest.raises(CutShortError, match=r"no answer within 0 s \(RuntimeError\)") as caught:
        read_history("memory://history")
    assert "secret" not in str(caught.value)


def test_runs_of_several_processes_are_all_there_and_readers_see_whole_ones_only(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as processes:
        waiting = [processes.submit(put, str(tmp_path), *range(start, start + 60)) for start in (0, 100)]
        seen = [read_history(str(tmp_path)) for _ in range(5)]
        for each in waiting:
            each.result()
    assert all(not each.skipped for each in seen)
    assert len(ids(str(tmp_path))) == 120


def test_any_file_system_will_do() -> None:
    where = "memory://history-of-runs"
    put(where, 1, 0)
    put(where, 0)
    assert ids(where) == [past_run(0)["run_id"], past_run(1)["run_id"]]
    fsspec.filesystem("memory").rm("/history-of-runs", recursive=True)


def test_keys_that_look_alike_in_a_file_name_are_two_files() -> None:
    names = {make_file_name(key) for key in ("a/b", "a-b", "../a-b", "A" * 300, "A" * 301, ".hidden", "\u202ex", "")}
    assert len(names) == 8
    for name in names:
        assert Path(name).name == name
        assert not name.startswith(".")
        assert len(name) < 160
        assert name.isascii()


def test_broken_and_foreign_files_are_named_and_skipped(tmp_path: Path) -> None:
    put(str(tmp_path), 0)
    good = next(tmp_path.iterdir()).read_bytes()
    table = to_table(past_run())
    (tmp_path / "cut.parquet").write_bytes(good[:-40])
    (tmp_path / "empty.parquet").write_bytes(b"")
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "large.parquet").write_bytes(bytes(4_000_001))
    (tmp_path / "dangling.parquet").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.parquet")
    (tmp_path / ".half.parquet").write_bytes(good[:100])
    (tmp_path / "notes.txt").write_text("ours")
    pq.write_table(pa.table({"run_id": ["x"]}), tmp_path / "foreign.parquet")
    pq.write_table(pa.table({"run_id": ["x"]}).replace_schema_metadata({MARK: b"1"}), tmp_path / "partial.parquet")
    for name, text in (("list", "[]"), ("number", '{"model": {"id": 1}}'), ("words", "no JSON")):
        place_of = SCHEMA.names.index("made_of")
        pq.write_table(table.set_column(place_of, "made_of", pa.array([text])), tmp_path / f"{name}.parquet")
    append_run(str(tmp_path), past_run(verdict="splendid"), key="verdict")
    for key, rate in (("high", 1.01), ("nan", float("nan")), ("infinite", float("inf"))):
        append_run(str(tmp_path), past_run(tests=[past_test(pass_rate=rate)]), key=key)
    found = read_history(str(tmp_path))
    assert len(found.rows) == 1
    broken = ("cut", "empty", "folder", "large", "dangling", "pipe", "foreign", "partial", "list", "number", "words")
    wrong = map(make_file_name, ("verdict", "high", "nan", "infinite"))
    assert sorted(found.skipped) == sorted([*(f"{name}.parquet" for name in broken), *wrong])
    assert found.skipped["foreign.parquet"] == "not written by a run"
    assert found.skipped["large.parquet"] == "too large"
    assert "and 10 more" in found.warning


def test_a_file_of_a_later_version_is_read_as_far_as_it_is_known(tmp_path: Path) -> None:
    later = to_table(past_run()).append_column("weather", pa.array(["fine"]))
    pq.write_table(later.replace_schema_metadata({MARK: b"9"}), tmp_path / "later.parquet")
    assert ids(str(tmp_path)) == [past_run()["run_id"]]


def test_the_schema_tells_its_version_and_what_its_columns_hold(tmp_path: Path) -> None:
    put(str(tmp_path), 0)
    schema = pq.read_schema(next(tmp_path.iterdir()))
    assert schema.metadata[MARK] == str(VERSION).encode()
    assert all(field.metadata[b"description"] for field in schema)


def test_duckdb_reads_the_files_without_us(tmp_path: Path) -> None:
    import duckdb

    put(str(tmp_path), 0, 1)
    query = "SELECT model, t.pass_rate FROM read_parquet($1, union_by_name = true), UNNEST(tests) AS each(t)"
    assert duckdb.execute(query, [f"{tmp_path}/*.parquet"]).fetchall() == [("mock", 0.75)] * 2


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTRAPOSE_HISTORY", raising=False)
    assert find_place(None, "runs") == os.path.join("runs", ".history")
    monkeypatch.setenv("CONTRAPOSE_HISTORY", "memory://shared/")
    assert find_place(None, "runs") == "memory://shared"
    assert find_place("own", "runs") == "own"
