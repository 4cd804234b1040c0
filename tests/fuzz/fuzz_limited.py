"""Read files, each in a process that has 30 s and 1 GB: `python fuzz_limited.py FILE…` prints a line of JSON each."""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.config.suite_files import load_config
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.validate.suites import read_suites

SECONDS = 30
"""Of processor time."""
BYTES = 10**9
"""Of memory, besides what the program itself takes."""


def told(path: str) -> str:
    """The line that refuses a file; how many samples it has where it is not refused."""
    try:
        if path.endswith("expectations.yaml"):
            return f"{len(read_suites([path]))} suites"
        if path.endswith(".yaml"):
            return f"suite {load_config(path)[0].suite}"
        return f"{len(load_samples(DataSettings(source=path), TextSample, limit=None, seed=0).samples)} samples"
    except ContraposeError as error:
        return str(error)


def limit() -> None:
    """Hold this process to the bounds."""
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, taken + BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def child(path: str, pipe: int) -> None:
    """Read one file, and end at once: nothing of the parent's is written or closed twice."""
    limit()
    try:
        os.write(pipe, told(path).encode("utf-8", "replace")[:4_000])
    finally:
        os._exit(0)


def read(path: str) -> dict[str, object]:
    """What became of one file."""
    ours, theirs = os.pipe()
    if not (started := os.fork()):
        child(path, theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        line = pipe.read().decode()
    _, status, used = os.wait4(started, 0)
    return {"file": Path(path).name, "line": line, "status": status, "seconds": used.ru_utime + used.ru_stime}


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(json.dumps(read(each)), flush=True)
