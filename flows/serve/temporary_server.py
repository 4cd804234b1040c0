"""Prefect's temporary server, as a process that ends with the one that started it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from threading import Thread
from time import sleep
from typing import Any

from prefect.server.api.server import SubprocessASGIServer
from prefect.settings import get_current_settings

from contrapose.flows.serve.prefect_app import serve, settings
from contrapose.flows.serve.server_key import KEY

ENDING = 10.0
"""Seconds that it may take to end."""


class TemporaryServer(SubprocessASGIServer):
    """The one that Prefect finds running when it wants its own.

    It is in a session of its own: what is sent to the whole process group, such as by Ctrl-C or `timeout`, ends the
    run, which then still has to tell the server.
    """

    def _run_uvicorn_command(self) -> subprocess.Popen[Any]:
        ephemeral = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1"}
        ours = get_current_settings().to_environment_variables(exclude_unset=True)
        port = self.port or self.find_available_port()
        return subprocess.Popen(
            [sys.executable, "-m", __name__, str(port)],
            env={**os.environ, **ours, **ephemeral, **settings(os.environ[KEY], port)},
            stdin=subprocess.PIPE,
            start_new_session=True,
        )


def main(port: int) -> None:
    """Serve until TERM, or until nobody holds the other end of standard input."""
    Thread(target=_end_with_input, daemon=True).start()
    serve(port, log_level="error")


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
    sleep(ENDING)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))
