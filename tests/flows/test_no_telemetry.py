"""Libraries tell their makers nothing, however Contrapose comes into a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contrapose import NO_TELEMETRY

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


def python(code: str, folder: Path, **set_by_user: str) -> subprocess.CompletedProcess[str]:
    """A process of somebody who has set nothing else about telemetry, outside of what counts as a CI."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in NO_TELEMETRY and not name.startswith(("PREFECT_API", "PREFECT_SERVER", "PREFECT_LOGGING"))
    }
    environment = kept | {"PREFECT_HOME": str(folder / "prefect"), "CONTRAPOSE_STORE": f"sqlite:///{folder}/store"}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=environment | set_by_user, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize(
    "module", ["contrapose", "contrapose.flows.compare_models", "contrapose.tasks.validate.expectations"]
)
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
