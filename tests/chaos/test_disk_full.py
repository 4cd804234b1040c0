"""A disk that is full at whatever stage: one line at once, paid answers kept, and the same results once there is room.

Each place where a run writes lies on a disk of its own that holds a share of what a calm run needs, from hardly
anything to nearly all: so it fills while samples are loaded and perturbed, while answers are stored, while tables are
written, and while the run is published.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from disturbed import IN_FLIGHT, Run, asked_twice, in_flight, one_line
from small_disk import LARGE, Disk, small_disk

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
    note: Callable[..., None],
) -> None:
    whole = calm(run)
    disk = disks(f"small-{place}")
    disk.resize(max(4096, int(room(run, place, disks, needed) * share)))
    run = placed(run, place, disk.folder)
    ended = run.ended()
    asked_by_then = len(run.endpoint.requests)
    disk.resize(LARGE)
    if ended.code == 0:
        line = "there was room enough"
    else:
        line = one_line(ended, *NAMES)
        assert ended.seconds < PATIENCE + 3 * whole.ended.seconds, "silence"
        again = run.ended()
        assert again.code == 0, again
    note(
        f"disk full, {place} {share:.0%}",
        run.endpoint,
        outcome=f"exit {ended.code} after {asked_by_then} requests: {line}",
    )
    assert run.results().equals(whole.results)
    assert not asked_twice(run.endpoint.requests), "paid for, and asked again"


def test_a_disk_that_fills_while_it_is_asked_and_has_room_again(
    run: Run, disks: Callable[[str], Disk], calm: Callable[[Run], Any], note: Callable[..., None]
) -> None:
    whole = calm(run)
    disk = disks("filling")
    run = replace(run, store=f"sqlite:///{disk.folder / 'answers.sqlite3'}")
    run.endpoint.delay = 0.5
    process = run.start()
    run.until_asked(process, count=20)
    disk.fill()
    moment, filled = time.monotonic(), len(run.endpoint.requests)
    ended = run.ended(process)
    flying = in_flight(run.endpoint.requests, moment)
    one_line(ended, *NAMES)
    assert ended.seconds < PATIENCE, "silence"
    further = len(run.endpoint.requests) - filled
    disk.resize(LARGE)
    run.endpoint.delay = 0.0
    assert run.ended().code == 0
    note(
        "disk full, while asked",
        run.endpoint,
        in_flight=flying,
        outcome=f"exit {ended.code} after {further} further requests: {ended.said[0]}",
    )
    assert further <= 5 * IN_FLIGHT, "it went on paying for what it could not keep"
    assert run.results().equals(whole.results)
    assert not asked_twice(run.endpoint.requests), "paid for, and asked again"
