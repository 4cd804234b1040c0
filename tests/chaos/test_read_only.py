"""Folders that cannot be written: told before anything is asked; those that close under way lose nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from disturbed import WITHOUT_PRIVILEGE, Run, one_line

READ_ONLY = 0o555
PLACES = ("home", "runs", "store")

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1200), pytest.mark.usefixtures("prefect_server")]


@pytest.fixture
def bound(run: Run, tmp_path: Path) -> Run:
    """A run for which modes count, root's as well; each of its places is a folder of its own."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=READ_ONLY)
    tried = subprocess.run([*WITHOUT_PRIVILEGE, "touch", closed / "file"], capture_output=True, check=False)
    if tried.returncode == 0 or b"setpriv" in tried.stderr:
        pytest.skip("modes of files do not count here")
    (tmp_path / "store").mkdir()
    return replace(run, before=WITHOUT_PRIVILEGE, store=f"sqlite:///{tmp_path / 'store' / 'answers.sqlite3'}")


def folder(run: Run, place: str) -> Path:
    """One of the places of a run."""
    found = {"home": run.home, "runs": run.out, "store": Path(run.store.removeprefix("sqlite:///")).parent}[place]
    found.mkdir(exist_ok=True)
    return found


def close(place: Path) -> None:
    """Let nobody write in a folder, nor into its files."""
    for each in (*place.rglob("*"), place):
        each.chmod(READ_ONLY if each.is_dir() else 0o444)


def open_again(place: Path) -> None:
    """Let its owner write there."""
    for each in (place, *place.rglob("*")):
        each.chmod(0o700 if each.is_dir() else 0o600)


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
@pytest.mark.parametrize("place", PLACES)
def test_what_cannot_be_written_is_told_before_anything_is_asked(
    place: str, used: bool, bound: Run, note: Callable[..., None]
) -> None:
    closed = folder(bound, place)
    if used:
        assert replace(bound, limit=4).ended().code == 0
    known = len(bound.endpoint.requests)
    close(closed)
    try:
        ended = bound.ended()
    finally:
        open_again(closed)
    line = one_line(ended, str(closed), codes=(2,))
    note(f"read-only, {place}, {'used before' if used else 'new'}", bound.endpoint, outcome=f"exit 2: {line}")
    assert len(bound.endpoint.requests) == known, "asked, though nothing could be kept"


@pytest.mark.parametrize("place", PLACES)
def test_a_folder_that_closes_while_the_run_asks(place: str, bound: Run, unharmed: Callable[..., None]) -> None:
    closed = folder(bound, place)
    process = bound.start_asking(20)
    close(closed)
    try:
        ended = bound.ended(process)
    finally:
        open_again(closed)
    # SQLite goes on writing to files that it has opened, so a run may not notice.
    line = one_line(ended, str(closed), "read-only", "readonly", "Permission") if ended.code else "not noticed"
    bound.endpoint.delay = 0.0
    assert ended.code == 0 or bound.ended().code == 0
    unharmed(f"closed under way, {place}", bound, outcome=f"exit {ended.code}: {line}")
