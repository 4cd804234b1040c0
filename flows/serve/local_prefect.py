"""`contrapose ui`: a local Prefect server, a worker and all deployments, and nothing left of them afterwards."""

from __future__ import annotations

import os
import shlex
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

from contrapose.flows.deploy.deploy import POOL, deploy
from contrapose.flows.deploy.deployment_options import DeploymentOptions
from contrapose.flows.serve.guard import HOST, Guard, basic, new_key
from contrapose.flows.serve.prefect_app import KEPT
from contrapose.flows.serve.prefect_app import settings as guarded_settings
from contrapose.flows.serve.processes import Part, ended, refuse_dead, running, stopping
from contrapose.flows.serve.report_server import reports, serving_site
from contrapose.flows.serve.server_key import ADDRESS, KEY, keeping
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.report.publish import REPORTS_URL

USUAL_PORT = 4200
SERVER = "contrapose.flows.serve.prefect_app"
"""The program that is Prefect's server."""
STARTING = 180.0
"""Seconds that a server may take: the first time it creates its database."""


def serve(options: DeploymentOptions, *, port: int | None = None) -> Iterator[str]:
    """Server, worker and deployments, until Ctrl-C, TERM, or the terminal is closed.

    Yields:
        What happens, a line each.

    Raises:
        ConfigError: the port is taken, or one of the processes ended by itself.
    """
    key = new_key()
    with own_port(port) as chosen, keeping(key, chosen) as kept:
        # Before Prefect is imported here; the server and the worker inherit it.
        os.environ.update(settings(chosen, key, kept))
        yield from _serve(options, Guard(key=key, port=chosen, kept=str(kept)))


def _serve(options: DeploymentOptions, guard: Guard) -> Iterator[str]:
    with stopping() as asked, serving_site(reports(Path(options.work_dir, "runs").resolve()), guard=guard) as served:
        os.environ[REPORTS_URL] = served.url
        yield "starting; the first time takes a minute"
        with running(SERVER, name="server") as server:
            wait_for(server, asked, guard, "/api/health", b"true")
            yield from _deployed(options, asked)
            if not asked.is_set():
                yield from _with_worker(server, guard, asked)
    yield "stopped"


def _deployed(options: DeploymentOptions, asked: Event) -> Iterator[str]:
    """Deploy everything, unless somebody asks to stop."""
    if asked.is_set():
        return
    try:
        for line in deploy(options):
            yield line
            if asked.is_set():
                return
    except ConfigError:
        # A Ctrl-C ends what deploys, too.
        if not asked.is_set():
            raise


def _with_worker(server: Part, guard: Guard, asked: Event) -> Iterator[str]:
    with running("prefect", "worker", "start", "--pool", POOL, "--name", "contrapose-ui", name="worker") as worker:
        # Until its worker has asked for work, every deployment is shown as not ready.
        wait_for(worker, asked, guard, f"/api/work_pools/{POOL}", b'"status":"READY"')
        if not asked.is_set():
            yield f"ready: http://{HOST}:{guard.port}{guard.link()} (Ctrl-C stops everything)"
            yield f"it works once, in one browser; for the prefect command: {_exports(guard)}"
        while not asked.wait(0.5):
            refuse_dead([server, worker])
        yield "stopping"


def _exports(guard: Guard) -> str:
    """What a shell is told for programs that know nothing of our home."""
    return f'export {ADDRESS}=http://{HOST}:{guard.port}/api {KEY}="$(cat {shlex.quote(guard.kept)})"'


@contextmanager
def own_port(wanted: int | None) -> Iterator[int]:
    """The wanted port, or else Prefect's usual one, or else any that is free.

    A server takes seconds until it listens. Until then, the port of the same number for datagrams, which nobody else
    uses, shows another `contrapose ui` that it is spoken for.

    Raises:
        ConfigError: the wanted one is taken.
    """
    for port in (wanted,) if wanted is not None else (USUAL_PORT, 0):
        with socket.socket() as listener, socket.socket(type=socket.SOCK_DGRAM) as claim:
            try:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((HOST, port))
                chosen = int(listener.getsockname()[1])
                claim.bind((HOST, chosen))
            except (OSError, OverflowError):
                continue
            listener.close()
            yield chosen
            return
    raise ConfigError(
        f"port {wanted} cannot be used",
        expected="a free port, 1 to 65535",
        remedy="Name another one, or none: a free one is found.",
        where="--port",
    )


def settings(port: int, key: str, kept: Path) -> dict[str, str]:
    """Environment of the server, of the worker and of what deploys; the page calls the server that it came from."""
    return {
        "PREFECT_API_URL": f"http://{HOST}:{port}/api",
        "PREFECT_SERVER_API_HOST": HOST,
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_UI_API_URL": "/api",
        "PREFECT_WORKER_QUERY_SECONDS": "2",
        "PREFECT_LOGGING_LEVEL": "INFO",
        KEPT: str(kept),
        **guarded_settings(key, port),
    }


def wait_for(part: Part, asked: Event, guard: Guard, path: str, said: bytes) -> None:
    """Wait until the server's answer holds what shows that a part is at work, or somebody asks to stop.

    Raises:
        ConfigError: the part ended, or takes too long.
    """
    address = f"http://{HOST}:{guard.port}{path}"
    request = urllib.request.Request(address, headers={"Authorization": basic(guard.key)})
    end = time.monotonic() + STARTING
    while time.monotonic() < end and not asked.is_set() and part.process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(request, timeout=2) as answer:  # noqa: S310
            if said in answer.read():
                return
        asked.wait(0.2)
    if not asked.is_set():
        raise ended(part)
