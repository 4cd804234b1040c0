"""Prefect's temporary server, as a child process that always ends with its parent.

It is begun before anything else is imported, Prefect included, and takes its seconds while that goes on. Prefect's own
temporary server would have its whole code imported a second time, by the process that runs a flow.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import socket
import subprocess
import sys
from functools import cache
from http.client import HTTPConnection, HTTPException
from tempfile import TemporaryFile
from threading import Thread
from time import monotonic, sleep
from typing import IO

from contrapose.flows.serve.guard import HOST, make_login_key
from contrapose.flows.serve.prefect_app import make_server_settings, serve
from contrapose.flows.serve.prefect_database import NAMED, find_own_file, find_used_file
from contrapose.flows.serve.server_key import ADDRESS, KEY
from contrapose.tasks.core.errors import ConfigError

ENDING = 60.0
"""Seconds that it may take to end: a database that it makes new is finished first."""
LOOK_SECONDS = 0.05
SELDOM = (200_000, 20, 100)
"""New objects, and looks at younger ones, between two looks for garbage; Python's own numbers are 700, 10 and 10."""
OWN_SETTINGS = {
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
    "PREFECT_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",
    "PY_KEY_VALUE_DISABLE_BEARTYPE": "true",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}
"""No pages, only the services that one run needs, and no look at all kinds of blocks: whoever saves one brings its.

Nor does it check types that its libraries give their own functions, or look for what watches its models; each takes
time. Where blocks were memoized, a server would read them all the same, and note in Prefect's home that they are in the
database; the next server there would believe it, and offer none.
"""


class TemporaryServer:
    """The temporary server of this process, with a key that no other process knows.

    It is in a session of its own: what is sent to the whole process group, such as by Ctrl-C or `timeout`, ends the
    run, which then still has to report to the server.
    """

    def __init__(self) -> None:
        self.port = 0
        self.makes_database = False
        """True where it was begun without a database of Prefect, which takes it some seconds more."""
        self._key = make_login_key()
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None

    @property
    def url(self) -> str:
        """URL of its API; empty before the server was begun."""
        return f"http://{HOST}:{self.port}/api"

    @property
    def running(self) -> bool:
        """True if it was begun, and has not ended."""
        return self._process is not None and self._process.poll() is None

    def begin(self) -> None:
        """Begin to start it without waiting; keep a running one. It ends at once if Prefect is set to use another."""
        if self.running:
            return
        with socket.create_server((HOST, 0)) as trial:
            self.port = int(trial.getsockname()[1])
        self.makes_database = not any(map(os.environ.get, NAMED)) and not find_own_file().exists()
        set_in_python: dict[str, str] = {}
        if "prefect.settings" in sys.modules:
            from prefect.settings import get_current_settings

            set_in_python = get_current_settings().to_environment_variables(exclude_unset=True)
        self._errors = TemporaryFile()  # noqa: SIM115 - it is read when the server has ended
        self._process = subprocess.Popen(
            # No file of the user's working folder is a module there.
            [sys.executable, "-P", "-m", __name__, str(self.port)],
            env={**os.environ, **set_in_python, **OWN_SETTINGS, **make_server_settings(self._key, self.port)},
            stdin=subprocess.PIPE,
            # It says nothing; whoever reads what this process prints would wait for its end.
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            start_new_session=True,
        )
        atexit.register(self.leave)

    def start(self) -> dict[str, str]:
        """Begin it, wait until it answers, and return the settings with which Prefect uses it."""
        from prefect.settings import get_current_settings

        self.begin()
        end = monotonic() + get_current_settings().server.ephemeral.startup_timeout_seconds
        while not self._is_answering():
            if not self.running or monotonic() > end:
                raise self._make_start_error()
            sleep(LOOK_SECONDS)
        # It is of the version that is installed here: no client need ask.
        return {KEY: self._key, ADDRESS: self.url, "PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED": "false"}

    def leave(self) -> None:
        """Close its standard input and do not wait: it saves what was reported, and then ends by itself.

        A person at a terminal need not wait for that.
        """
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()

    def _is_answering(self) -> bool:
        connection = HTTPConnection(HOST, self.port, timeout=5)
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

    def _make_start_error(self) -> ConfigError:
        status, output = None, [""]
        if self._process is not None and self._errors is not None:
            self._process.kill()
            status = self._process.wait()
            self._errors.seek(0)
            output = self._errors.read().decode("utf-8", "replace").split("\n")
        self._process = None
        why = next((line for line in output if "Error" in line and not line.startswith(" ")), "it said nothing")
        file = find_used_file()
        database = "Rename that file" if file else "Start that database, or correct its address"
        return ConfigError(
            f"the temporary Prefect server did not start (status {status}: {why})",
            expected=f"one that can use its database, {file or 'at the address that you set'}",
            remedy=f"{database}, or name a server in PREFECT_API_URL; `contrapose doctor` checks both. Run the "
            "same command again to continue.",
        )


@cache
def get_own_server() -> TemporaryServer:
    """Return the one temporary server that this process may start."""
    return TemporaryServer()


def is_server_kept() -> bool:
    """Return True if Prefect's server remains after this process, so that people can read what is reported to it."""
    from prefect.settings import PREFECT_API_URL

    return bool(PREFECT_API_URL.value()) and PREFECT_API_URL.value() != get_own_server().url


def is_server_wanted() -> bool:
    """Return True if Prefect's settings name no server, and allow a temporary one."""
    from prefect.settings import PREFECT_API_URL, PREFECT_SERVER_EPHEMERAL_ENABLED

    return not PREFECT_API_URL.value() and bool(PREFECT_SERVER_EPHEMERAL_ENABLED.value())


def collect_rarely() -> None:
    """Collect cyclic garbage rarely, because there is hardly any and imports become a tenth faster."""
    gc.set_threshold(*SELDOM)


def main(port: int) -> None:
    """Serve until TERM, or until the process at the other end of standard input closes it."""

    def end_with_input() -> None:
        # Not by `sys.stdin`: its lock would be held when the interpreter ends, which is fatal.
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        sleep(ENDING)
        os._exit(1)

    collect_rarely()
    Thread(target=end_with_input, daemon=True).start()
    if is_server_wanted():
        serve(port, log_level="error")


if __name__ == "__main__":
    main(int(sys.argv[1]))
