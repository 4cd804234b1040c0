"""What a command takes before and after its work: `python -m bench.start_and_end [--rounds 3]`.

The quickstart whose answers are all stored, beside a Prefect flow that does nothing, in turn; then the verbs that ask
no model. Wall time, processor time of the process and of all that it started (until the last of them has ended), and
how long the process goes on after its last line. The first round fills the store and is not counted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from threading import Thread
from typing import NamedTuple

import psutil

from contrapose.tasks.core.home import home_folder

NOTHING = "from prefect import flow\n@flow\ndef nothing():\n    pass\nnothing()\nprint('done', flush=True)"
COMMAND = ("-m", "contrapose.flows.cli")
QUICKSTART = (*COMMAND, "run", "--suite", "quickstart", "--exit-zero")
VERBS = {
    "--help": ("--help",),
    "list": ("list",),
    "preview": ("preview", "--suite", "quickstart"),
    "validate": ("validate", "--suite", "quickstart"),
    "estimate": ("estimate", "--suite", "quickstart"),
    "history": ("history",),
}


class Taken(NamedTuple):
    """What a process took."""

    wall: float
    """Seconds from its start to its end."""
    processor: float
    """Seconds of the processor, of all that it started too."""
    after: float
    """Seconds between the last line that it wrote and its end."""


def taken(*arguments: str, environment: Mapping[str, str], folder: Path) -> Taken:
    """Run Python with some arguments."""
    start = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    used: dict[int, float] = {}
    watch = Thread(target=_watch, args=(process.pid, used))
    watch.start()
    assert process.stdout is not None
    last = start
    for _ in process.stdout:
        last = time.monotonic()
    if process.wait():
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    end = time.monotonic()
    watch.join()
    return Taken(end - start, sum(used.values()), end - last)


def _watch(pid: int, used: dict[int, float]) -> None:
    """Note the processor time of a process and of all that come of it, until none is left."""
    family = {pid: psutil.Process(pid)}
    while family:
        for member in list(family.values()):
            try:
                times = member.cpu_times()
                used[member.pid] = times.user + times.system
                family.update({child.pid: child for child in member.children(recursive=True)})
                if member.status() == psutil.STATUS_ZOMBIE:
                    del family[member.pid]
            except psutil.NoSuchProcess:
                family.pop(member.pid, None)
        time.sleep(0.02)


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        (folder / "home").mkdir()
        (folder / "home" / "models").symlink_to(home_folder() / "models")
        # A flow of somebody's own has no settings of ours.
        ours = {"CONTRAPOSE_HOME": str(folder / "home"), "PREFECT_HOME": str(folder / "prefect")}
        theirs = {"PREFECT_HOME": str(folder / "prefect of others")}
        taken(*QUICKSTART, environment=ours, folder=folder)
        taken("-c", NOTHING, environment=theirs, folder=folder)
        pairs = [
            (
                taken(*QUICKSTART, environment=ours, folder=folder),
                taken("-c", NOTHING, environment=theirs, folder=folder),
            )
            for _ in range(rounds)
        ]
        for name, place in (("quickstart, stored", 0), ("a flow that does nothing", 1)):
            wall, processor, after = (median(pair[place][figure] for pair in pairs) for figure in range(3))
            print(f"{name}: {wall:.1f} s, processor {processor:.1f} s, {after:.2f} s after its last line", flush=True)
        for name, figure in (("wall", 0), ("processor", 1)):
            print(f"{name}, stored / nothing: {median(a[figure] / b[figure] for a, b in pairs):.2f}")
        for name, words in VERBS.items():
            wall = median(taken(*COMMAND, *words, environment=ours, folder=folder).wall for _ in range(rounds))
            print(f"{name}: {wall:.2f} s", flush=True)


if __name__ == "__main__":
    main()
