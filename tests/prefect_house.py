"""A Prefect server and a worker of the tests' own, each of which can be killed, with all deployments on it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


def until(found: Callable[[], T], *, seconds: float = 240) -> T:
    """What is found once it is true of anything."""
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.5)
    return value


def processes_of(folder: Path) -> dict[int, str]:
    """Command lines of the processes whose environment names a folder."""
    found = {}
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder).encode() in (each / "environ").read_bytes():
                found[int(each.name)] = (each / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


@dataclass(frozen=True, kw_only=True)
class House:
    """Where it is, and its two processes."""

    folder: Path
    port: int
    environment: dict[str, str]
    parts: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, part: str) -> None:
        """Start the server, and wait for it; or the worker."""
        words = {"server": ["server", "start"], "worker": ["worker", "start", "--pool", "contrapose"]}[part]
        with (self.folder / f"{part}.log").open("ab") as log:
            command = [sys.executable, "-m", "prefect", *words]
            self.parts[part] = subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        if part == "server":
            until(self._answers)

    def kill(self, part: str, *, with_children: bool = True) -> None:
        """SIGKILL, to all that it started too."""
        process = self.parts.pop(part)
        (os.killpg if with_children else os.kill)(process.pid, signal.SIGKILL)
        process.wait(30)

    def _answers(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/health", timeout=2):
            return True
        return False

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """What the server's API answers; it is asked again while it is busy, as Prefect's own client does."""
        url = f"http://127.0.0.1:{self.port}/api{path}"
        data = None if body is None else json.dumps(body).encode()
        for _ in range(30):
            request = urllib.request.Request(url, data, {"content-type": "application/json"}, method=method)
            try:
                with urllib.request.urlopen(request, timeout=30) as reply:
                    return json.loads(reply.read() or b"null")
            except urllib.error.HTTPError as error:
                if error.code != 503:
                    raise AssertionError(error.read()) from error
            except OSError:
                pass
            time.sleep(1)
        raise TimeoutError(path)

    def deployment(self, name: str) -> dict[str, Any]:
        """A deployment, by its own name."""
        return next(each for each in self.call("POST", "/deployments/filter", {}) if each["name"] == name)

    def run_of(self, name: str, **parameters: Any) -> str:
        """Start a run of a deployment; its id."""
        found = self.deployment(name)["id"]
        made = self.call("POST", f"/deployments/{found}/create_flow_run", {"parameters": parameters})
        return str(made["id"])

    def state(self, run: str) -> dict[str, Any]:
        """Of a flow run."""
        found: dict[str, Any] = self.call("GET", f"/flow_runs/{run}")["state"]
        return found

    def states(self, run: str) -> list[str]:
        """Names of all states of a flow run, the oldest first."""
        return [each["name"] for each in self.call("GET", f"/flow_run_states/?flow_run_id={run}")]

    def ended(self, run: str, *, seconds: float = 240) -> dict[str, Any]:
        """The state in which a flow run ended."""
        until(lambda: self.state(run)["type"] in ENDED, seconds=seconds)
        return self.state(run)

    def within(self, automation: str, seconds: int) -> None:
        """Let an automation wait for other seconds than its file says."""
        found = next(each for each in self.call("POST", "/automations/filter", {}) if each["name"] == automation)
        wanted = {key: found[key] for key in ("name", "description", "enabled", "actions")}
        self.call("PUT", f"/automations/{found['id']}", wanted | {"trigger": found["trigger"] | {"within": seconds}})

    def contrapose(self, *arguments: str) -> str:
        """What one of our commands prints."""
        return self._said("-m", "contrapose.flows.cli", *arguments)

    def python(self, code: str) -> str:
        """What some code prints."""
        return self._said("-c", code)

    def _said(self, *arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def house(folder: Path, *, database: str | None = None, **settings: str) -> Iterator[House]:
    """A server with everything deployed, and a worker; nothing is left of them afterwards.

    Args:
        folder: of its home, store and runs.
        database: URL of Prefect's database; SQLite in its home if empty.
        settings: further environment variables.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "CONTRAPOSE_"))}
    environment = usual | {
        # The rows of tests lie beside the folder that workers work in.
        "CONTRAPOSE_DATA": str(folder.parent),
        "CONTRAPOSE_HOME": str(folder / "home"),
        "CONTRAPOSE_STORE": f"sqlite:///{folder / 'answers.sqlite3'}",
        "DO_NOT_TRACK": "1",
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_API_HOST": "127.0.0.1",
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "2",
        "PREFECT_WORKER_QUERY_SECONDS": "2",
        **({"PREFECT_SERVER_DATABASE_CONNECTION_URL": database} if database else {}),
        **settings,
    }
    built = House(folder=folder, port=port, environment=environment)
    try:
        built.start("server")
        built.contrapose("deploy")
        built.start("worker")
        yield built
    finally:
        for part in ("worker", "server"):
            with suppress(KeyError, ProcessLookupError):
                built.kill(part)
        for process in processes_of(folder):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
