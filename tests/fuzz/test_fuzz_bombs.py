"""What wants to be large is refused in one line, within 30 s and 1 GB."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fuzz_bombs import BOMBS, parquet

SECONDS = 30


def read(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """What a process that is held to the bounds makes of each file."""
    command = [sys.executable, str(Path(__file__).with_name("fuzz_limited.py")), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    yield from map(json.loads, done.stdout.splitlines())


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("bombs")
    for name, make in BOMBS.items():
        (folder / name).write_bytes(make())
    return {each["file"]: each for each in read([folder / name for name in BOMBS])}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_soon_and_in_one_line(name: str, found: Mapping[str, dict[str, Any]]) -> None:
    each = found[name]
    assert each["status"] == 0, each
    assert each["seconds"] < SECONDS, each
    assert "; expected " in each["line"], each
    assert each["line"].isprintable()
    assert "memory" not in each["line"] or "deep" in name


@pytest.mark.parametrize("step", [97, pytest.param(3, marks=pytest.mark.slow)])
def test_wrong_metadata_of_parquet_are_told_in_one_line(step: int, tmp_path: Path) -> None:
    """Bytes of the footer are wrong in turn, each in two ways."""
    whole = parquet(pa.table({"text": ["x", "y"], "id": [1, 2], "when": pa.array([1, 2], pa.timestamp("us", "UTC"))}))
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    paths = []
    for place in range(footer, len(whole), step):
        for value in (whole[place] ^ 0xFF, whole[place] ^ 0x01):
            paths.append(tmp_path / f"{place}-{value}.parquet")
            paths[-1].write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
    found = list(read(paths))
    assert [each for each in found if each["status"]] == []
    assert [each for each in found if "; expected " not in each["line"] and each["line"] != "2 samples"] == []
