"""`contrapose ui`: run a local Prefect server, a worker and all deployments, and end them all together."""

from __future__ import annotations

import os
import shlex
import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event

from contrapose.flows.deploy.deploy import POOL, deploy
from contrapose.flows.deploy.deployment_options import DeploymentOptions
from contrapose.flows.serve.child_processes import ChildProcess, catch_stop, run_module
from contrapose.flows.serve.guard import HOST, Guard, encode_key, make_login_key
from contrapose.flows.serve.prefect_app import KEPT
from contrapose.flows.serve.prefect_app import make_server_settings as guarded_settings
from contrapose.flows.serve.report_server import ServedSite, make_port_error, make_report_site, serve_site
from contrapose.flows.serve.server_key import ADDRESS, KEY, keep_key
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.report.publish import REPORTS_URL

USUAL_PORT = 4200
SERVER = "contrapose.flows.serve.prefect_app"
"""The program that is Prefect's server."""
STARTING = 180.0
"""Seconds that a server may take: the first time it creates its database."""


def serve(options: DeploymentOptions, *, port: int | None = None, reports_port: int | None = None) -> Iterator[str]:
    """Serve Prefect with a worker and all deployments, until Ctrl-C, TERM, or the terminal is closed; yield lines.

    Reports have a port of their own, which is the same at the next start: links to them are kept in Prefect.

    Raises ConfigError if the port is taken, or one of the processes ended by itself.
    """
    key = make_login_key()
    with reserve_port(port) as chosen, keep_key(key, chosen) as kept:
        guard, address = Guard(key=key, port=chosen, kept=str(kept)), f"http://{HOST}:{chosen}"
        # Before Prefect is imported here; the server and the worker inherit it.
        os.environ |= {
            "PREFECT_API_URL": f"{address}/api",
            "PREFECT_SERVER_API_HOST": HOST,
            "PREFECT_SERVER_API_PORT": str(chosen),
            # The page calls the server that it came from.
            "PREFECT_SERVER_UI_API_URL": "/api",
            "PREFECT_WORKER_QUERY_SECONDS": "2",
            "PREFECT_LOGGING_LEVEL": "INFO",
            KEPT: str(kept),
            **guarded_settings(key, chosen),
        }
        folder = Path(options.work_dir, "runs").resolve()
        with catch_stop() as asked, serve_reports(folder, guard, reports_port) as served:
            os.environ[REPORTS_URL] = served.url
            if reports_port is None and served.url != f"http://{HOST}:{chosen + 1}":
                yield f"port {chosen + 1} is taken: until this ends, reports are at {served.url} (--reports-port)"
            yield "starting; the first time takes a minute"
            with run_module(SERVER, name="server") as server:
                _wait_for(server, asked, guard, "/api/health", b"true")
                yield from _deploy(options, asked)
                if not asked.is_set():
                    yield from _run_worker(server, guard, asked)
        yield "stopped"


@contextmanager
def serve_reports(folder: Path, guard: Guard, port: int | None) -> Iterator[ServedSite]:
    """Serve the reports of a folder on the port, else on the port above Prefect's, else on any free one."""
    with ExitStack() as stack:
        try:
            wanted = guard.port + 1 if port is None else port
            served = stack.enter_context(serve_site(make_report_site(folder), port=wanted, guard=guard))
        except ConfigError:
            if port is not None:
                raise make_port_error(port, where="--reports-port") from None
            served = stack.enter_context(serve_site(make_report_site(folder), guard=guard))
        yield served


def _deploy(options: DeploymentOptions, asked: Event) -> Iterator[str]:
    """Deploy everything, unless a signal asks to stop."""
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


def _run_worker(server: ChildProcess, guard: Guard, asked: Event) -> Iterator[str]:
    address = f"http://{HOST}:{guard.port}"
    with run_module("prefect", "worker", "start", "--pool", POOL, "--name", "contrapose-ui", name="worker") as worker:
        # Until its worker has asked for work, every deployment is shown as not ready.
        _wait_for(worker, asked, guard, f"/api/work_pools/{POOL}", b'"status":"READY"')
        if not asked.is_set():
            exports = f'export {ADDRESS}={address}/api {KEY}="$(cat {shlex.quote(guard.kept)})"'
            yield f"ready: {address}{guard.link()} (Ctrl-C stops everything)"
            yield f"it works once, in one browser; for the prefect command: {exports}"
        while not asked.wait(0.5):
            for part in (server, worker):
                if part.process.poll() is not None:
                    raise part.make_error()
        yield "stopping"


@contextmanager
def reserve_port(wanted: int | None) -> Iterator[int]:
    """Reserve the wanted port, or else Prefect's usual port, or else any free one.

    A server takes seconds until it listens. Until then, the port of the same number for datagrams, which nobody else
    uses, shows another `contrapose ui` that it is reserved.
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
    raise make_port_error(wanted)


def _wait_for(part: ChildProcess, asked: Event, guard: Guard, path: str, text: bytes) -> None:
    """Wait until the server's answer contains a text that shows that a process works, or a signal asks to stop."""
    address = f"http://{HOST}:{guard.port}{path}"
    request = urllib.request.Request(address, headers={"Authorization": encode_key(guard.key)})
    end = time.monotonic() + STARTING
    while time.monotonic() < end and not asked.is_set() and part.process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(request, timeout=2) as answer:  # noqa: S310
            if text in answer.read():
                return
        asked.wait(0.2)
    if not asked.is_set():
        raise part.make_error()
