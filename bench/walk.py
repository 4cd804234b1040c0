"""`python -m bench.walk`: the way of a configuration through `evaluate_model`, as a reader of the code follows it.

A stop is the first visit of a function that gets the configuration, or what it was resolved into, from another file; an
upward call leads from a folder to one above it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
ORDER = [
    "tasks/core",
    "tasks/text",
    "tasks/statistics",
    "tasks/config",
    "tasks/tables",
    "tasks/store",
    "tasks/language",
    "tasks/probes",
    "tasks/load",
    "tasks/perturb",
    "tasks/infer",
    "tasks/evaluate",
    "tasks/validate",
    "tasks/history",
    "tasks/report",
    "flows",
]
"""Folders, the lowest first."""


class Walk:
    """What was visited, in every thread."""

    def __init__(self) -> None:
        self.seen = set[Any]()
        self.stops = Counter[str]()
        self.files = set[str]()
        self.upward = 0

    def watch(self, frame: FrameType, event: str, _: object) -> None:
        """Take note of a call."""
        if event != "call" or frame.f_code in self.seen or not _carries(frame):
            return
        self.seen.add(frame.f_code)
        here = _file(frame)
        back = frame.f_back
        while back is not None and not _file(back):
            back = back.f_back
        before = _file(back) if back is not None else ""
        if here and before and here != before:
            self.stops[here] += 1
            self.files.add(here)
            self.upward += _height(here) > _height(before)


CARRIERS = {"RunConfig", "Plan", "Run", "ModelSpec", "Terms", "Report"}
"""Classes that carry the configuration, or what it was resolved into."""


def _carries(frame: FrameType) -> bool:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return any(type(frame.f_locals.get(name)).__name__ in CARRIERS for name in names)


def _file(frame: FrameType) -> str:
    path = frame.f_code.co_filename
    for top in ("flows", "tasks"):
        if f"/{top}/" in path and "site-packages" not in path:
            return f"{top}/{path.rpartition(f'/{top}/')[2]}"
    return ""


def _height(file: str) -> int:
    return next((place for place, folder in enumerate(ORDER) if file.startswith(f"{folder}/")), len(ORDER))


def main() -> None:
    """Walk once with the stand-in model, and print what was visited."""
    import contrapose.flows.evaluate_model as flow
    from contrapose.tasks.config.suite_files import load_config

    walk = Walk()
    with tempfile.TemporaryDirectory() as out:
        os.environ["CONTRAPOSE_OUTPUT"] = out
        config, _ = load_config("quickstart", {"model": "mock", "limit": 4, "output": out, "refresh": True})
        from contrapose.flows.orchestration.form import to_parameter

        parameter = to_parameter(config)
        threading.setprofile(walk.watch)
        sys.setprofile(walk.watch)
        flow.evaluate_model(parameter)
        sys.setprofile(None)
    print(f"{sum(walk.stops.values())} stops in {len(walk.files)} files, {walk.upward} upward calls")
    for file, count in walk.stops.most_common(15):
        print(f"{count:5} {file}")


if __name__ == "__main__":
    main()
