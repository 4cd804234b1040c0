"""Vega-Lite to SVG, in a process of its own: it holds a browser's engine, which takes memory, and may fall over."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from threading import Lock
from typing import IO, Any, cast

PROGRAM = """
import json, sys
import vl_convert
for line in sys.stdin:
    try:
        print(json.dumps(vl_convert.vegalite_to_svg(json.loads(line))), flush=True)
    except Exception:
        print("null", flush=True)
"""


def svg(chart: Mapping[str, Any]) -> str | None:
    """A Vega-Lite chart as SVG; None where it cannot be drawn: a report without a picture is better than none."""
    with _lock():
        return _artist().draw(json.dumps(chart)) or None


@cache
def _lock() -> Lock:
    return Lock()


@cache
def _artist() -> _Artist:
    return _Artist()


class _Artist:
    """The process; it ends with ours, when nobody can write to it any more."""

    def __init__(self) -> None:
        self.process = self._start()

    def draw(self, chart: str) -> str:
        """The drawing, or nothing; a process that ended is started again for the next one."""
        asked, drawn = cast(IO[str], self.process.stdin), cast(IO[str], self.process.stdout)
        try:
            asked.write(f"{chart}\n")
            asked.flush()
            return str(json.loads(drawn.readline()) or "")
        except (OSError, ValueError):
            self.process.kill()
            self.process.wait()
            self.process = self._start()
            return ""

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        # A session of its own: Ctrl-C is for us, and a drawing that is under way is no concern of it.
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )
