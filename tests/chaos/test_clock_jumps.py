"""A clock that jumps while a run asks: a time server sets it, a machine wakes up. Nothing is lost, nothing hangs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from disturbed import Run, asked_twice, in_flight, kill

HOUR = 3600
JUMPS = {
    "an hour ahead": [HOUR],
    "an hour back": [-HOUR],
    "400 days ahead": [400 * 24 * HOUR],
    "10 years back": [-10 * 365 * 24 * HOUR],
    "to and fro": [HOUR, -HOUR, 0, 24 * HOUR, -60, 60],
}
"""Seconds by which the clock is wrong, one after the other."""
BETWEEN = 12
"""Requests between two jumps."""

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.timeout(1200),
    pytest.mark.usefixtures("prefect_server"),
    pytest.mark.skipif(not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs Linux and cc"),
]


@dataclass(frozen=True, kw_only=True)
class Clock:
    """A clock that can be set wrong."""

    library: Path
    file: Path

    def set(self, seconds: int) -> None:
        """Let it be wrong by some seconds, from now on; a process never finds the file half written."""
        part = self.file.with_suffix(".part")
        part.write_text(str(seconds))
        part.replace(self.file)

    def read_by(self, run: Run) -> Run:
        """A run whose processes have this clock."""
        return replace(run, environment={"LD_PRELOAD": str(self.library), "MOVED_CLOCK": str(self.file)})


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is preloaded."""
    made = tmp_path_factory.mktemp("clock") / "moved_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", made, Path(__file__).parent / "moved_clock.c"], check=True)
    return made


@pytest.fixture
def clock(library: Path, tmp_path: Path) -> Clock:
    """One that is right."""
    found = Clock(library=library, file=tmp_path / "clock")
    found.set(0)
    return found


def test_the_clock_is_moved_and_what_measures_is_not(clock: Clock, run: Run) -> None:
    clock.set(HOUR)
    code = "import time, datetime as d; print(time.time(), d.datetime.now(d.UTC).timestamp(), time.monotonic())"
    own = clock.read_by(run).environment
    said = subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, check=True).stdout
    wall, named, measured = map(float, said.split())
    assert HOUR - 60 < wall - time.time() < HOUR + 60
    assert abs(wall - named) < 60
    assert abs(measured - time.monotonic()) < 60


@pytest.mark.parametrize("jumps", JUMPS.values(), ids=JUMPS)
def test_a_run_goes_on_when_its_clock_jumps(
    jumps: list[int], run: Run, clock: Clock, calm: Callable[[Run], Any], unharmed: Callable[..., None]
) -> None:
    calm(run)
    run = clock.read_by(run)
    process = run.start_asking(BETWEEN)
    for jump in jumps[:-1]:
        clock.set(jump)
        run.until_asked(process, count=BETWEEN)
    clock.set(jumps[-1])
    ended = run.ended(process)
    # The replies of the endpoint cannot all be read, which a quiet run says, too.
    assert (ended.code, [line for line in ended.said if "no readable choice" not in line]) == (0, []), ended
    unharmed(f"clock by {', '.join(f'{each:+} s' for each in jumps)}", run, outcome="the same results")


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_a_killed_run_goes_on_at_another_time(
    jump: int, run: Run, clock: Clock, calm: Callable[[Run], Any], note: Callable[..., None]
) -> None:
    whole, run = calm(run), clock.read_by(run)
    moment = kill(run.start_asking(BETWEEN))
    time.sleep(0.3)
    before, kept = list(run.endpoint.requests), run.stored()
    clock.set(jump)
    assert run.ended().code == 0
    lost = [each.prompt for each in before if each.prompt not in kept]
    flying = in_flight(before, moment)
    note(f"killed, and begun again {jump:+} s later", run.endpoint, kills=1, in_flight=flying, outcome="same results")
    assert run.results().equals(whole.results)
    assert sorted(asked_twice(run.endpoint.requests).elements()) == sorted(lost)
