"""How often Prefect's server refuses a form while runs are under way: `python -m bench.submissions`.

Prefect's own server on SQLite, then ours, each with a database of its own: the on-demand deployment is submitted sixty
times (for tomorrow) while two commands run the quickstart on the mock model over and over. A refusal is a status 503.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

SERVERS = {"Prefect's server": ["prefect", "server", "start"], "ours": ["contrapose.flows.serve.prefect_app"]}
SUBMISSIONS = 60
PAUSE = 0.7
COMMAND = [sys.executable, "-m", "contrapose.flows.cli"]


def main() -> None:
    """Print a line for each server."""
    for name, module in SERVERS.items():
        with tempfile.TemporaryDirectory() as folder, serving(module, Path(folder)) as environment:
            print(f"{name}: {measured(environment, folder)}", flush=True)


@contextmanager
def serving(module: list[str], folder: Path) -> Iterator[Mapping[str, str]]:
    """A server with all deployments; the environment of what uses it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "CONTRAPOSE_HOME": f"{folder}/home",
        "CONTRAPOSE_STORE": f"sqlite:///{folder}/answers.sqlite3",
        "DO_NOT_TRACK": "1",
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_HOME": f"{folder}/prefect",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_API_PORT": str(port),
    }
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([sys.executable, "-m", *module], cwd=folder, env=environment, **quiet)
    try:
        while asked(environment, "GET", "/health")[0] != 200:
            time.sleep(0.3)
        subprocess.run([*COMMAND, "deploy", "--work-dir", str(folder)], env=environment, check=True, **quiet)
        yield environment
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def measured(environment: Mapping[str, str], folder: str) -> str:
    """Submit the form while two commands are at work."""
    enough, runs = Event(), Counter[int]()

    def work() -> None:
        command = [*COMMAND, "run", "--model", "mock", "--limit", "12", "--exit-zero", "--quiet"]
        while not enough.is_set():
            runs[subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode] += 1

    workers = [Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        codes, seconds = submitted(environment)
    finally:
        enough.set()
        for worker in workers:
            worker.join()
    return (
        f"{codes[503]} of {codes.total()} submissions refused, median {statistics.median(seconds):.2f} s, "
        f"longest {max(seconds):.2f} s; {runs[0]} of {runs.total()} runs beside them ended well"
    )


def submitted(environment: Mapping[str, str]) -> tuple[Counter[int], list[float]]:
    """Statuses and seconds of the submissions."""
    _, found = asked(environment, "POST", "/deployments/filter", {})
    on_demand = next(each["id"] for each in found if each["name"] == "on-demand")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    state = {"type": "SCHEDULED", "state_details": {"scheduled_time": tomorrow}}
    body = {"parameters": {"config": {"model": "mock"}}, "state": state}
    codes, seconds = Counter[int](), []
    for _ in range(SUBMISSIONS):
        start = time.monotonic()
        codes[asked(environment, "POST", f"/deployments/{on_demand}/create_flow_run", body)[0]] += 1
        seconds.append(time.monotonic() - start)
        time.sleep(PAUSE)
    return codes, seconds


def asked(environment: Mapping[str, str], method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """Status and content of one reply, which is not asked for again; 0 while nothing answers."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(environment["PREFECT_API_URL"] + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, json.loads(reply.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, None
    except OSError:
        return 0, None


if __name__ == "__main__":
    main()
