"""How a run ends that is asked to, at any moment: `python -m bench.signals [SIGNALS] [SECONDS]`.

TERM and INT in turn are sent to `contrapose run` at moments spread over its first seconds, which it spends importing,
starting Prefect's temporary server and asking a server on loopback. Each run must end with 143 or 130, one line and no
traceback. A signal in the first hundredths of a second meets Python before any code of ours: TERM ends it
without a word, and INT with Python's own traceback; the exit codes are the same.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from bench.first_call import Handler

LINE = b"contrapose: interrupted; run the same command again to continue\n"
SENT = (signal.SIGTERM, signal.SIGINT)


class Ending(NamedTuple):
    """How one run ended."""

    number: signal.Signals
    after: float
    """Seconds from its start to the signal."""
    code: int
    """As a shell has it."""
    out: bytes

    @property
    def kind(self) -> str:
        """In a few words."""
        if self.out == LINE and self.code == 128 + self.number:
            return "one line"
        if b"Report:" in self.out and self.code in (0, 1, 3):
            return "finished before"
        if self.code == 128 + self.number and b"contrapose" not in self.out:
            return "before any code of ours"
        return "WRONG"


def interrupted(command: list[str], number: signal.Signals, *, after: float, home: str) -> Ending:
    """Start a run, send it a signal, and wait for its end."""
    own = {"CONTRAPOSE_HOME": home, "PREFECT_HOME": f"{home}/prefect"}
    process = subprocess.Popen(
        command,
        env={**os.environ, **own},
        cwd=home,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    time.sleep(after)
    process.send_signal(number)
    out, _ = process.communicate(timeout=120)
    code = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Ending(number, after, code, out)


def endings(count: int, seconds: float, *, seed: int = 16) -> Iterator[Ending]:
    """Runs that are interrupted at random moments."""
    rng = random.Random(seed)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"model_args.base_url=http://127.0.0.1:{server.server_port}/v1"
    command = [
        sys.executable,
        "-m",
        "contrapose.flows.cli",
        "run",
        "--model",
        "openai/m",
        "--limit",
        "10",
        "--set",
        url,
    ]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            home = Path(folder) / str(number)
            home.mkdir()
            yield interrupted(command, SENT[number % 2], after=rng.uniform(0, seconds), home=str(home))


def main() -> None:
    """Each ending that is wrong, and how many there were of each kind."""
    words = [*sys.argv[1:], *("60", "3")[len(sys.argv) - 1 :]]
    found = Counter[str]()
    for ending in endings(int(words[0]), float(words[1])):
        found[ending.kind] += 1
        if ending.kind == "WRONG":
            print(
                f"{ending.number.name} after {ending.after:.3f} s: exit {ending.code}\n{ending.out.decode()}",
                flush=True,
            )
    print(", ".join(f"{number} {kind}" for kind, number in found.most_common()))


if __name__ == "__main__":
    main()
