"""Prefect's temporary server, as a process that ends with the one that started it, however that ends."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, sleep
from typing import Any

import httpx
from prefect.server.api.server import SubprocessASGIServer
from prefect.settings import get_current_settings

from contrapose.flows.serve.prefect_app import serve, settings
from contrapose.flows.serve.server_key import KEY
from contrapose.tasks.core.errors import ConfigError

ENDING = 10.0
"""Seconds that it may take to end."""


class TemporaryServer(SubprocessASGIServer):
    """The one that Prefect finds running when it wants its own.

    It is in a session of its own: what is sent to the whole process group, such as by Ctrl-C or `timeout`, ends the
    run, which then still has to tell the server.
    """

    def start(self, timeout: int | None = None) -> None:
        """Start it and wait until it answers; one that ends instead is not waited for.

        Args:
            timeout: seconds that it may take; as Prefect's settings say, unless given.

        Raises:
            ConfigError: it ended, or took too long.
        """
        if self.running:
            return
        settings = get_current_settings()
        self.port = self.port or self.find_available_port()
        self.running = True
        atexit.register(self.leave)
        with TemporaryDirectory() as folder:
            errors = Path(folder, "errors")
            self.server_process = process = self._process(self.port, errors)
            end = monotonic() + (timeout or settings.server.ephemeral.startup_timeout_seconds)
            while process.poll() is None and monotonic() < end:
                if self._answers():
                    return
                sleep(0.1)
            self.stop()
            said = errors.read_text("utf-8", "replace").split("\n")
        why = next((line for line in said if "Error" in line and not line.startswith(" ")), "it said nothing")
        raise ConfigError(
            f"the temporary Prefect server did not start (status {process.returncode}: {why})",
            expected=f"one that can use its database, in {settings.home}",
            remedy="Name another folder in PREFECT_HOME, or a server in PREFECT_API_URL; `contrapose doctor` looks at "
            "both. The same command goes on where it stopped.",
        )

    def leave(self) -> None:
        """Let it end by itself, as it does once nobody holds its standard input: it writes down what it was told.

        A person at a terminal need not wait for that.
        """
        process, self.server_process, self.running = self.server_process, None, False
        if process is not None and process.stdin is not None:
            process.stdin.close()

    def stop(self) -> None:
        """End it, and wait until it has; whoever began a run need not read of it."""
        logger = logging.getLogger("prefect")
        level = logger.level
        logger.setLevel(logging.CRITICAL)
        try:
            super().stop()
        finally:
            logger.setLevel(level)

    def _answers(self) -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.api_url}/health", trust_env=False).status_code == httpx.codes.OK
        return False

    def _process(self, port: int, errors: Path) -> subprocess.Popen[Any]:
        ephemeral = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1"}
        ours = get_current_settings().to_environment_variables(exclude_unset=True)
        with errors.open("wb") as stream:
            return subprocess.Popen(
                [sys.executable, "-m", __name__, str(port)],
                env={**os.environ, **ours, **ephemeral, **settings(os.environ[KEY], port)},
                stdin=subprocess.PIPE,
                stderr=stream,
                start_new_session=True,
            )


def main(port: int) -> None:
    """Serve until TERM, or until nobody holds the other end of standard input."""
    Thread(target=_end_with_input, daemon=True).start()
    serve(port, log_level="error")


def _end_with_input() -> None:
    # Not by `sys.stdin`: its lock would be held when the interpreter ends, which is fatal.
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    sleep(ENDING)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
