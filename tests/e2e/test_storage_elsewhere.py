"""Runs whose every file lies on a server of objects that is killed meanwhile: they end, and publish all or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking
from object_server import BUCKET, ObjectServer, object_server
from own_process import start_command, wait_for_end

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.usefixtures("prefect_server")]

SECONDS_AWAY = 10.0
OUT, TABLES = f"s3://{BUCKET}/out", f"s3://{BUCKET}/tables"
WORDS = ("--test", "order_bias", "--test", "option_order", "--test", "add_toxic_words", "--limit", "100")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    with object_server(tmp_path_factory.mktemp("objects")) as running:
        yield running


@pytest.fixture
def bucket(server: ObjectServer) -> ObjectServer:
    """An empty one."""
    files = server.files()
    for path in files.ls(BUCKET, detail=False):
        files.rm(path, recursive=True)
    return server


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as listening:
        listening.delay = 0.1
        yield listening


class Machine:
    """A machine with its own cache, and one store."""

    def __init__(self, folder: Path, endpoint: Endpoint, server: ObjectServer | None, *, store: Path) -> None:
        self.folder, self.endpoint, self.server, self.store = folder, endpoint, server, store
        folder.mkdir()

    def started(self, *words: str) -> subprocess.Popen[str]:
        elsewhere = {} if self.server is None else {**self.server.environment, "CONTRAPOSE_STORAGE": TABLES}
        return start_command(*words, folder=self.folder, store=f"sqlite:///{self.store}", **elsewhere)

    def run(self) -> subprocess.Popen[str]:
        model = asking(self.endpoint.port, "model_args.concurrency=4")
        out = "runs" if self.server is None else OUT
        return self.started("run", "--suite", "full", *WORDS, *model, "--out", out, "--exit-zero", "-q")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Rows of the same run in folders of one machine."""
    folder = tmp_path_factory.mktemp("here")
    with serving() as listening:
        machine = Machine(folder / "machine", listening, None, store=folder / "answers.sqlite3")
        wait_for_end(machine.run())
    (results,) = machine.folder.glob("runs/[!.]*/results.parquet")
    return pq.read_table(results).replace_schema_metadata()


def published(files: Any) -> dict[str, set[str]]:
    """Names of the files in each folder of a run."""
    folders: dict[str, set[str]] = {}
    # A bucket that is empty lists itself.
    for path in (path for path in files.find(f"{BUCKET}/out") if path.count("/") >= 3):
        _, _, folder, name = path.split("/", 3)
        folders.setdefault(folder, set()).add(name)
    return folders


def whole_runs(server: ObjectServer) -> list[str]:
    """Names of the folders that count as published."""
    folders = published(server.files()).items()
    return [name for name, files in folders if name[0] != "." and "manifest.json" in files]


def rows(server: ObjectServer, folder: str) -> pa.Table:
    with server.files().open(f"{BUCKET}/out/{folder}/results.parquet") as file:
        return pq.read_table(file).replace_schema_metadata()


@contextmanager
def watched(server: ObjectServer) -> Iterator[list[str]]:
    """What is seen meanwhile of folders that count as published, and lack a file."""
    faults: list[str] = []
    over = threading.Event()
    files = server.files()

    def look() -> None:
        while not over.wait(0.2):
            try:
                folders = published(files)
            except Exception:
                # It is away.
                continue
            for name, names in folders.items():
                whole = {"report.html", "summary.json", "results.parquet"} <= names
                if not name.startswith(".") and "manifest.json" in names and not whole:
                    faults.append(f"{name}: {names}")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield faults
    finally:
        over.set()
        thread.join()


def when(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 300
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def begins_to_publish(server: ObjectServer) -> Callable[[], bool]:
    """Whether a run has sent the first of its files; to be asked often, since all are sent within a second."""
    files = server.files()

    def begins() -> bool:
        folders = published(files).items()
        # The sign that takes a name has no dot in its own.
        return any("." in file for name, inside in folders if name.endswith(".part") for file in inside)

    return begins


@pytest.mark.parametrize("moment", ["asking", "publishing"])
def test_a_server_that_is_killed_and_comes_back_loses_nothing(
    moment: str, bucket: ObjectServer, endpoint: Endpoint, expected: pa.Table, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "machine", endpoint, bucket, store=tmp_path / "answers.sqlite3")
    with watched(bucket) as faults:
        process = machine.run()
        when((lambda: len(endpoint.requests) >= 150) if moment == "asking" else begins_to_publish(bucket), process)
        bucket.kill()
        time.sleep(SECONDS_AWAY)
        bucket.start()
        said = wait_for_end(process)
    assert "does not answer" in said
    assert faults == []
    folders = published(bucket.files())
    (name,) = (name for name in folders if not name.startswith("."))
    assert set(folders) == {".history", name}
    assert {"manifest.json", "report.html", "results.parquet", "summary.json"} <= folders[name]
    assert rows(bucket, name).equals(expected)


def test_another_machine_finds_what_the_first_computed(
    bucket: ObjectServer, endpoint: Endpoint, expected: pa.Table, tmp_path: Path
) -> None:
    first, second = (Machine(tmp_path / name, endpoint, bucket, store=tmp_path / "answers.sqlite3") for name in "ab")
    wait_for_end(first.run())
    asked = len(endpoint.requests)
    results = set(bucket.files().ls(f"{BUCKET}/tables/results", detail=False))
    wait_for_end(second.run())
    assert len(endpoint.requests) == asked
    # Whatever a task of the second run computed anew would be there under a key of its own.
    made = set(bucket.files().ls(f"{BUCKET}/tables/results", detail=False)) - results
    names = sorted(name for name in published(bucket.files()) if not name.startswith("."))
    assert len(names) == 2
    assert all(rows(bucket, name).equals(expected) for name in names)
    assert len(made) <= 2
    assert wait_for_end(second.started("history", "--out", OUT)).count("any") >= 2
    wait_for_end(second.started("compare", *(f"{OUT}/{name}" for name in names), "--exit-zero"))


def test_a_run_that_is_killed_as_it_publishes_left_nothing_that_counts(
    bucket: ObjectServer, endpoint: Endpoint, expected: pa.Table, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "machine", endpoint, bucket, store=tmp_path / "answers.sqlite3")
    with watched(bucket) as faults:
        process = machine.run()
        when(begins_to_publish(bucket), process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        asked = len(endpoint.requests)
        assert whole_runs(bucket) == []
        wait_for_end(machine.run())
    assert faults == []
    assert len(endpoint.requests) == asked
    (name,) = whole_runs(bucket)
    assert rows(bucket, name).equals(expected)
