"""What a person at a terminal sees of a first run, and for how long it stays the same: `python -m bench.gaps`.

The quickstart runs with a new home of Contrapose and of Prefect in a terminal of its own. Printed are the lines in the
order in which they appear, each with the second at which it does, and the longest times during which nothing changed,
the turning of a spinner aside.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\u2800-\u28ff]")
"""Colours, movements of the cursor, and the spinner."""
DIGITS = re.compile(r"[\d:.,]+")


class Shown(NamedTuple):
    """Something that appeared."""

    seconds: float
    """After the start."""
    text: str


def shown(command: list[str], environment: dict[str, str], folder: Path) -> Iterator[Shown]:
    """What a command shows in a terminal, whenever that changes."""
    own, its = pty.openpty()
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment, cwd=folder, close_fds=True)
    os.close(its)
    last = ""
    while True:
        ready, _, _ = select.select([own], [], [], 0.1)
        try:
            content = os.read(own, 65536) if ready else b""
        except OSError:
            break
        for line in re.split(r"[\r\n]+", CONTROL.sub("", content.decode("utf-8", "replace"))):
            if line.strip() and line.strip() != last:
                last = line.strip()
                yield Shown(time.monotonic() - start, last)
        if not content and process.poll() is not None:
            break
    process.wait()
    yield Shown(time.monotonic() - start, "(end)")


def main() -> None:
    """Run it, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="embedded")
    model = parser.parse_args().model
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        homes = {"CONTRAPOSE_HOME": str(folder / "home"), "PREFECT_HOME": str(folder / "prefect")}
        command = [sys.executable, "-m", "contrapose.flows.cli", "run", "--model", model, "--exit-zero"]
        seen = list(shown(command, {**os.environ, **homes, "TERM": "xterm", "COLUMNS": "120"}, folder))
    kind = ""
    for moment in seen:
        # Of a line that only counts on, the first is enough.
        if (without := DIGITS.sub("0", moment.text)) != kind:
            kind = without
            print(f"{moment.seconds:7.1f} s  {moment.text}")
    pauses = [
        (after.seconds - before.seconds, before) for before, after in zip([Shown(0, ""), *seen], seen, strict=False)
    ]
    for pause, before in sorted(pauses, reverse=True)[:8]:
        print(f"{pause:.1f} s unchanged: {before.text!r} from {before.seconds:.1f} s")


if __name__ == "__main__":
    main()
