"""The temporary server and its process; libraries tell their makers nothing in any process."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from own_process import Ended, run_process
from plain_prefect import put_own_database
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL, PREFECT_API_URL, temporary_settings

from contrapose import NO_TELEMETRY
from contrapose.flows.cli import start
from contrapose.flows.cli.doctor.server import check_prefect
from contrapose.flows.cli.start import start_server
from contrapose.flows.serve import temporary_server
from contrapose.tasks.core.errors import ConfigError


@pytest.mark.parametrize(
    ("made", "database", "step"),
    [(False, "", "database"), (True, "", "start"), (False, "postgresql+asyncpg://127.0.0.1/prefect", "start")],
)
def test_a_person_is_told_of_the_database_that_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: bool, database: str, step: str
) -> None:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path))
    for name in temporary_server.NAMED:
        monkeypatch.setenv(name, database)
    if made:
        temporary_server.find_own_file().parent.mkdir(parents=True)
        temporary_server.find_own_file().touch()
    server = temporary_server.TemporaryServer()
    monkeypatch.setattr(start, "get_own_server", lambda: server)
    monkeypatch.setattr(temporary_server.subprocess, "Popen", lambda *_, **__: SimpleNamespace(stdin=None))
    server.begin()
    assert start.name_step() == step


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A home that nobody can write, not even root."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "prefect"


def test_a_home_that_cannot_be_written_is_told_at_once(nowhere: Path) -> None:
    unset = {PREFECT_API_DATABASE_CONNECTION_URL: f"sqlite+aiosqlite:///{nowhere}/prefect.db"}
    with temporary_settings(unset, restore_defaults={PREFECT_API_URL}):
        with pytest.raises(ConfigError, match="CONNECTION_URL"), start_server():
            pass
        assert next(check_prefect()).state == "problem"


def test_what_threads_of_prefect_say_at_the_end_is_not_shown() -> None:
    code = (
        "from contrapose.flows.cli.start import set_environment_defaults; set_environment_defaults(logs=False);"
        "import logging, prefect;"
        "from prefect.logging.configuration import setup_logging; setup_logging();"
        "logging.getLogger('EventsWorker').warning('Still processing')"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_LOGGING_")}
    done = run_process(sys.executable, "-c", code, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def started(home: Path) -> Ended:
    """A process that starts the temporary server in a home, and says whether it answered."""
    code = (
        "from contrapose.flows.cli.start import set_environment_defaults; set_environment_defaults(logs=False)\n"
        "from contrapose.flows.cli.start import get_own_server\n"
        "from contrapose.tasks.core.errors import ConfigError\n"
        "server = get_own_server()\n"
        "try: server.start()\n"
        "except ConfigError as error: print(error)\n"
        "else: print('answered', server.running); server.leave()\n"
    )
    return alone(code, home=home)


def alone(code: str, *, home: Path) -> Ended:
    """A process whose Prefect names no server."""
    unset = {
        name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_API", "PREFECT_SERVER"))
    }
    own = {"PREFECT_HOME": str(home), "CONTRAPOSE_HOME": str(home.parent / "contrapose")}
    # As the command is: its folder is no place of modules.
    own_folder = next(folder for folder in home.parents if folder.exists())
    return run_process(sys.executable, "-P", "-c", code, env=unset | own, cwd=own_folder)


def test_a_server_that_cannot_start_is_given_up_when_it_ends_and_says_why(tmp_path: Path) -> None:
    put_own_database(tmp_path / "contrapose")
    [file] = tmp_path.glob("contrapose/prefect/*/prefect.db")
    file.write_bytes(b"No database. " * 400)
    done = started(tmp_path / "prefect")
    assert "file is not a database" in done.stdout
    assert done.stderr == ""


def test_a_server_takes_no_module_from_the_folder_of_a_person_and_keeps_nobody_who_reads_its_owner(
    tmp_path: Path,
) -> None:
    put_own_database(tmp_path / "contrapose")
    (tmp_path / "uvicorn.py").write_text("raise SystemExit('a file of the user')")
    code = (
        "import os, signal\n"
        "from contrapose.flows.cli.start import set_environment_defaults, get_own_server\n"
        "set_environment_defaults(logs=False)\n"
        "get_own_server().start()\n"
        "os.kill(get_own_server()._process.pid, signal.SIGSTOP)\n"
        "print(get_own_server()._process.pid, flush=True)\n"
        "os._exit(0)"
    )
    # A server that is stopped does not end with its owner.
    done = alone(code, home=tmp_path / "prefect")
    os.kill(int(done.stdout), signal.SIGCONT)
    assert done.returncode == 0


@pytest.mark.slow
def test_a_run_does_not_import_what_its_server_does(tmp_path: Path) -> None:
    put_own_database(tmp_path / "contrapose")
    code = (
        "import sys\n"
        "from contrapose.flows.cli import main\n"
        "main(['run', '--model', 'mock', '--limit', '3', '--test', 'order_bias', '--quiet', '--exit-zero'])\n"
        "from contrapose.flows.serve.temporary_server import is_server_kept, get_own_server\n"
        "print(get_own_server().running, is_server_kept())\n"
        "print([name for name in ('prefect.server.api.server', 'torch') if name in sys.modules])"
    )
    done = alone(code, home=tmp_path / "prefect")
    verdict, server, imported = done.stdout.strip().split("\n")
    assert "order_bias" in verdict
    assert (server, imported) == ("True False", "[]"), done.stderr
    # It would tell the next server there that all kinds of blocks are in the database, and people could add none.
    assert not (tmp_path / "prefect" / "memo_store.toml").exists()


def test_a_server_that_only_a_profile_names_ends_the_one_that_was_begun(tmp_path: Path) -> None:
    home = tmp_path / "prefect"
    home.mkdir()
    (home / "profiles.toml").write_text(
        'active = "elsewhere"\n[profiles.elsewhere]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n'
    )
    code = (
        "import time\n"
        "from contrapose.flows.cli.start import begin_server, get_own_server, wants_own_server\n"
        "begin_server()\n"
        "end = time.monotonic() + 60\n"
        "while get_own_server().running and time.monotonic() < end: time.sleep(0.1)\n"
        "print(get_own_server().running, wants_own_server())"
    )
    done = alone(code, home=home)
    assert (done.stdout, done.stderr) == ("False False\n", "")
    assert not (home / "prefect.db").exists()
    assert not (tmp_path / "contrapose" / "prefect").exists()


LOOK = """
import os
from contrapose import NO_TELEMETRY
print({name: os.environ.get(name) for name in NO_TELEMETRY} == NO_TELEMETRY)
"""
EFFECTIVE = """
from prefect._internal.analytics import is_telemetry_enabled
from prefect.settings import get_current_settings
print(get_current_settings().server.analytics_enabled, is_telemetry_enabled())
"""
FLOW = """
import socket, sys
seen = []
def watch(event, arguments):
    if event == 'socket.connect' and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
        seen.append(arguments[1][0])
    if event == 'socket.getaddrinfo':
        seen.append(str(arguments[0]))
sys.addaudithook(watch)
from contrapose.flows.evaluate_model import evaluate_model
published = evaluate_model({'suite': 'quickstart', 'model': 'mock', 'limit': 2, 'only': ['order_bias']})
print(published['summary']['suite'])
print(sorted({str(host) for host in seen} - {'127.0.0.1', 'localhost', '::1'}))
"""


def python(code: str, folder: Path, **set_by_user: str) -> Ended:
    """A process of somebody who has set nothing else about telemetry, outside of what counts as a CI."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in NO_TELEMETRY and not name.startswith(("PREFECT_API", "PREFECT_SERVER", "PREFECT_LOGGING"))
    }
    environment = kept | {"PREFECT_HOME": str(folder / "prefect"), "CONTRAPOSE_STORE": f"sqlite:///{folder}/store"}
    return run_process(sys.executable, "-c", code, env=environment | set_by_user, cwd=folder)


@pytest.mark.parametrize("module", ["contrapose.flows.compare_models", "contrapose.tasks.validate.expectations"])
def test_an_import_turns_it_off(module: str, tmp_path: Path) -> None:
    done = python(f"import {module}\n{LOOK}{EFFECTIVE}", tmp_path)
    assert done.stdout == "True\nFalse False\n", done.stderr


def test_whoever_has_set_it_decides(tmp_path: Path) -> None:
    done = python(
        f"import contrapose\n{EFFECTIVE}", tmp_path, PREFECT_SERVER_ANALYTICS_ENABLED="true", DO_NOT_TRACK="0"
    )
    assert done.stdout.startswith("True"), done.stderr


@pytest.mark.slow
def test_a_flow_called_from_python_speaks_with_this_machine_alone(tmp_path: Path) -> None:
    # A busy machine takes longer than Prefect waits for its temporary server.
    done = python(FLOW, tmp_path, PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS="240")
    assert done.stdout == "quickstart\n[]\n", done.stderr
    assert "telemetry" not in done.stderr.lower()
