"""How long a run takes to its first call, and how much memory: `python -m bench.first_call`.

Ten samples of order_bias against a server on loopback, beside a Prefect flow that does nothing, in turn, each in a
process of its own with the same Prefect home. The flow's time is its whole process; the run's time ends when its
first request arrives.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

ROUNDS = 3
TRIVIAL = """
from contrapose.flows.cli.start import set_environment_defaults
set_environment_defaults(logs=False)
from prefect import flow
@flow
def trivial():
    return 1
trivial()
"""
RUN = """
import resource, sys
from contrapose.flows.cli import main
try:
    code = main(sys.argv[1:])
finally:
    heavy = [name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules]
    print(f"PEAK {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} HEAVY {','.join(heavy) or 'none'}")
sys.exit(code)
"""
REPLY = (
    b'{"id":"x","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"finish_reason":"stop",'
    b'"message":{"role":"assistant","content":"A"}}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}'
)


class Seen(NamedTuple):
    """What a run did."""

    first_call: float
    """Seconds from the start of its process."""
    peak: int
    """Resident memory at most, in MiB."""
    heavy: str
    """Model libraries that it imported."""


class Handler(BaseHTTPRequestHandler):
    """Answers everything at once, and remembers when it was first asked."""

    protocol_version = "HTTP/1.1"
    arrived: list[float] = []  # noqa: RUF012

    def do_POST(self) -> None:
        Handler.arrived.append(time.monotonic())
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(REPLY)

    def do_GET(self) -> None:
        self._send(b'{"object":"list","data":[]}')

    def log_message(self, *_: object) -> None: ...

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def trivial(environment: Mapping[str, str]) -> float:
    """Seconds of a process that runs a flow which does nothing."""
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", TRIVIAL], env=environment, check=True, capture_output=True)
    return time.monotonic() - start


def run(port: int, work: Path, environment: Mapping[str, str]) -> Seen:
    """A run of ten samples, with nothing in its caches."""
    home = tempfile.mkdtemp(dir=work)
    Handler.arrived.clear()
    start = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-c", RUN, "run", "--model", "openai/m", "--test", "order_bias", "--limit", "10"),
            *("--exit-zero", "--out", str(work / "runs")),
            *("--set", f"model_args.base_url=http://127.0.0.1:{port}/v1"),
        ],
        env={**environment, "CONTRAPOSE_HOME": home},
        check=True,
        capture_output=True,
        text=True,
    )
    _, peak, _, heavy = done.stdout.strip().splitlines()[-1].split()
    return Seen(Handler.arrived[0] - start, int(peak), heavy)


def main() -> None:
    """Both, three times in turn, after one of each that fills the disk's cache and Prefect's database."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        environment = {**os.environ, "PREFECT_HOME": str(work / "prefect")}
        rounds = [(trivial(environment), run(server.server_port, work, environment)) for _ in range(ROUNDS + 1)][1:]
    for flow, seen in rounds:
        print(
            f"a flow that does nothing: {flow:.1f} s; first call of a run: {seen.first_call:.1f} s, "
            f"{seen.first_call - flow:+.1f} s; peak {seen.peak} MiB; model libraries: {seen.heavy}"
        )
    print(f"median difference: {statistics.median(seen.first_call - flow for flow, seen in rounds):+.1f} s")


if __name__ == "__main__":
    main()
