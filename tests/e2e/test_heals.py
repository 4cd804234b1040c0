"""What breaks heals: a damaged cache costs no answer, and one line is told."""

from __future__ import annotations

from collections.abc import Iterator
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


def run(endpoint: Endpoint, out: Path, home: Path) -> Ran:
    tests = ("--suite", "full", "--test", "order_bias", "--test", "add_toxic_words", "--exit-zero", "--out", str(out))
    own = {"CONTRAPOSE_HOME": str(home), "CONTRAPOSE_STORE": ""}
    process = start_command("run", *asking(endpoint.port), *tests, folder=out.parent, **own)
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
