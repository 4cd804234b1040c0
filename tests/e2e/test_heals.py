"""What breaks heals: a damaged cache, a full disk and a store that is deleted cost no answer, and one line is told."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from core.test_damage import Damage, emptied, garbage, truncated
from fake_endpoint import Endpoint, serving
from newest_run import asking, newest
from own_process import start_command

from contrapose.tasks.core.damage import SUFFIX

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.usefixtures("prefect_server")]


class Ran(NamedTuple):
    """An ended command: its exit code, and its lines for people."""

    code: int
    told: list[str]


def start(endpoint: Endpoint, out: Path, home: Path, **more: str) -> subprocess.Popen[str]:
    tests = ("--suite", "full", "--test", "order_bias", "--test", "add_toxic_words", "--exit-zero", "--out", str(out))
    own = {"CONTRAPOSE_HOME": str(home), "CONTRAPOSE_STORE": "", **more}
    return start_command("run", *asking(endpoint.port), *tests, folder=out.parent, **own)


def run(endpoint: Endpoint, out: Path, home: Path, **more: str) -> Ran:
    process = start(endpoint, out, home, **more)
    _, error = process.communicate()
    assert "Traceback" not in error, error
    return Ran(process.returncode, [line for line in error.splitlines() if line.startswith("contrapose: ")])


def rows(out: Path) -> pa.Table:
    """Of the newest run; what the file says of the model names the port of its endpoint."""
    return pq.read_table(newest(out, "results.parquet")).replace_schema_metadata()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Endpoint, Path, Path]]:
    """An endpoint, a home and a folder of runs, after one run."""
    folder = tmp_path_factory.mktemp("whole")
    with serving() as endpoint:
        assert run(endpoint, folder / "runs", folder / "home").code == 0
        yield endpoint, folder / "runs", folder / "home"


@pytest.mark.parametrize(
    ("what", "damage"),
    [
        ("tables/*.parquet", truncated),
        ("results/*", emptied),
        ("answers.sqlite3", garbage),
        ("answers.sqlite3", truncated),
    ],
)
def test_a_damaged_cache_heals(what: str, damage: Damage, whole: tuple[Endpoint, Path, Path]) -> None:
    endpoint, out, home = whole
    expected = rows(out)
    for path in home.glob(what):
        if path.is_file() and not path.name.endswith(SUFFIX):
            damage(path)
    ran = run(endpoint, out, home)
    assert ran.code == 0
    assert len(ran.told) == 1
    assert rows(out).equals(expected)
    assert run(endpoint, out, home).told == []


def test_a_store_deleted_under_way_costs_nothing(whole: tuple[Endpoint, Path, Path], tmp_path: Path) -> None:
    with serving() as endpoint:
        endpoint.delay = 0.1
        process = start(endpoint, tmp_path / "runs", tmp_path)
        while len(endpoint.bodies) < 50:
            assert process.poll() is None
            time.sleep(0.01)
        for path in tmp_path.glob("answers.sqlite3*"):
            path.unlink()
        _, told = process.communicate()
        assert process.returncode == 0, told
        assert len([line for line in told.splitlines() if line.startswith("contrapose: ")]) == 1
        assert "was gone" in told
        assert set(endpoint.asked.values()) == {1}
        assert rows(tmp_path / "runs").equals(rows(whole[1]))
        asked = len(endpoint.bodies)
        assert run(endpoint, tmp_path / "runs", tmp_path).told == []
        assert len(endpoint.bodies) == asked


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of so many bytes."""
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mounted, capture_output=True, check=False).returncode != 0:
        pytest.skip("needs the right to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_under_the_store_is_told_at_once_and_costs_nothing(
    whole: tuple[Endpoint, Path, Path], tmp_path: Path
) -> None:
    with serving() as endpoint, small_disk(tmp_path / "disk", "1300k") as disk:
        own = {"CONTRAPOSE_STORE": f"sqlite:///{disk}/answers.sqlite3", "TMPDIR": str(tmp_path)}
        started = time.monotonic()
        ran = run(endpoint, tmp_path / "runs", tmp_path / "home", **own)
        print(f"{len(endpoint.bodies)} asked, ended after {time.monotonic() - started:.1f} s: {ran.told}")
        assert ran.code == 4
        (told,) = ran.told
        assert "full" in told
        assert 0 < len(endpoint.asked) < len(whole[0].asked)
        assert not list(disk.glob("*.receipts/*.reserve"))
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        ran = run(endpoint, tmp_path / "runs", tmp_path / "home", **own)
        assert ran.code == 0
        assert ran.told == []
        assert set(endpoint.asked.values()) == {1}
        assert rows(tmp_path / "runs").equals(rows(whole[1]))
        assert list(tmp_path.glob("contrapose-answers-*")) == []


@pytest.mark.parametrize("size", ["150k", "500k"])
def test_a_full_disk_under_the_tables_is_one_line(
    size: str, whole: tuple[Endpoint, Path, Path], tmp_path: Path
) -> None:
    with serving() as endpoint, small_disk(tmp_path / "disk", size) as disk:
        own = {"CONTRAPOSE_STORE": f"sqlite:///{tmp_path}/answers.sqlite3"}
        ran = run(endpoint, tmp_path / "runs", disk, **own)
        print(size, ran.code, ran.told)
        assert ran.code == 4
        assert len(ran.told) == 1
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        assert run(endpoint, tmp_path / "runs", disk, **own).code == 0
        assert set(endpoint.asked.values()) == {1}
        assert rows(tmp_path / "runs").equals(rows(whole[1]))
