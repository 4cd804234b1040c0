"""A disk that is full at whatever stage: one line at once, paid answers kept, and the same results once there is room.

Each place where a run writes lies on a disk of its own that holds a share of what a calm run needs, from hardly
anything to nearly all: so it fills while samples are loaded and perturbed, while answers are stored, while tables are
written, and while the run is published.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from disturbed import IN_FLIGHT, Run, in_flight, one_line

AS_ROOT = () if os.geteuid() == 0 else ("sudo", "--non-interactive")
LARGE = 256 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Disk:
    """Where it is mounted."""

    folder: Path

    def used(self) -> int:
        """Bytes, in whole pages of memory."""
        return shutil.disk_usage(self.folder).used

    def resize(self, size: int) -> None:
        """Give it another size, in bytes; what lies on it stays."""
        _mount("-o", f"remount,size={size}", self.folder)

    def fill(self) -> None:
        """Leave no room on it."""
        self.resize(max(self.used(), 4096))


@contextmanager
def small_disk(folder: Path, size: int = LARGE) -> Iterator[Disk]:
    """Mount one of so many bytes at a folder; skipped where nobody may mount."""
    folder.mkdir(parents=True)
    try:
        _mount("-t", "tmpfs", "-o", f"size={size},mode=0700,uid={os.geteuid()},gid={os.getegid()}", "tmpfs", folder)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs to mount a file system: root, or sudo without a password")
    try:
        yield Disk(folder=folder)
    finally:
        subprocess.run([*AS_ROOT, "umount", "--lazy", folder], check=True)


def _mount(*words: str | Path) -> None:
    subprocess.run([*AS_ROOT, "mount", *words], check=True, capture_output=True)


PLACES = ("home", "store", "runs")
SHARES = (0.02, 0.2, 0.4, 0.6, 0.8, 0.95)
"""Of the room that a calm run takes."""
NAMES = ("No space", "full", "disk", "room")
PATIENCE = 30.0
"""Seconds of silence at most, beyond those that a calm run takes: no longer is waited for room that may come."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(2400), pytest.mark.usefixtures("prefect_server")]


@pytest.fixture
def disks(tmp_path: Path) -> Any:
    """Disks by name, which go when the test ends."""
    with ExitStack() as stack:
        yield cache(lambda name: stack.enter_context(small_disk(tmp_path / name)))


def placed(run: Run, place: str, folder: Path) -> Run:
    """A run that has one place on a disk, and the others elsewhere."""
    if place == "home":
        store = f"sqlite:///{run.home.parent / 'answers.sqlite3'}"
        return replace(run, home=folder, store=store)
    if place == "store":
        return replace(run, store=f"sqlite:///{folder / 'answers.sqlite3'}")
    return replace(run, out=folder)


@pytest.fixture(scope="module")
def needed() -> dict[str, int]:
    """Bytes that a calm run takes in each place, once that is known."""
    return {}


def room(run: Run, place: str, disks: Callable[[str], Disk], needed: dict[str, int]) -> int:
    """Bytes that a calm run takes in a place."""
    if place not in needed:
        disk = disks(f"ample-{place}")
        elsewhere = replace(run, home=run.home.parent / "ample-home", out=run.out.parent / "ample-runs")
        ample = placed(elsewhere, place, disk.folder)
        assert ample.ended().code == 0
        needed[place] = disk.used()
        run.endpoint.requests.clear()
    return needed[place]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("place", PLACES)
def test_a_disk_that_is_too_small(
    place: str,
    share: float,
    run: Run,
    disks: Callable[[str], Disk],
    needed: dict[str, int],
    calm: Callable[[Run], Any],
    unharmed: Callable[..., None],
) -> None:
    whole, disk = calm(run), disks(f"small-{place}")
    disk.resize(max(4096, int(room(run, place, disks, needed) * share)))
    run = placed(run, place, disk.folder)
    ended = run.ended()
    asked_by_then, line = len(run.endpoint.requests), "there was room enough"
    disk.resize(LARGE)
    if ended.code:
        line = one_line(ended, *NAMES)
        assert ended.seconds < PATIENCE + 3 * whole.ended.seconds, "silence"
        assert run.ended().code == 0
    outcome = f"exit {ended.code} after {asked_by_then} requests: {line}"
    unharmed(f"disk full, {place} {share:.0%}", run, outcome=outcome)


def test_a_disk_that_fills_while_it_is_asked_and_has_room_again(
    run: Run, disks: Callable[[str], Disk], unharmed: Callable[..., None]
) -> None:
    disk = disks("filling")
    run = replace(run, store=f"sqlite:///{disk.folder / 'answers.sqlite3'}")
    process = run.start_asking(20, delay=0.5)
    disk.fill()
    moment, filled = time.monotonic(), len(run.endpoint.requests)
    ended = run.ended(process)
    flying, further = in_flight(run.endpoint.requests, moment), len(run.endpoint.requests) - filled
    line = one_line(ended, *NAMES)
    assert ended.seconds < PATIENCE, "silence"
    assert further <= 5 * IN_FLIGHT, "it went on paying for what it could not keep"
    disk.resize(LARGE)
    run.endpoint.delay = 0.0
    assert run.ended().code == 0
    unharmed("disk full, while asked", run, in_flight=flying, outcome=f"after {further} further requests: {line}")
