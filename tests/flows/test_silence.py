"""Whoever accepts a connection and stays silent, and files that never end: a limit, one line, and an end by signals."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from contrapose.flows.cli import main
from contrapose.flows.cli.deploy import announce
from contrapose.flows.cli.start import ensure_block_server, start_server
from contrapose.flows.deploy.deploy import read_api_url
from contrapose.flows.orchestration import workers
from contrapose.flows.orchestration.workers import Workers
from contrapose.flows.serve import server_key
from contrapose.tasks.config.run_config import RunnerArgs
from contrapose.tasks.core import file_servers
from contrapose.tasks.core.errors import ConfigError, CutShortError
from contrapose.tasks.core.places import Place


@pytest.fixture
def silent() -> Iterator[str]:
    """Host and port of a socket that takes every connection, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def _start() -> None:
    with start_server():
        pass


@pytest.mark.parametrize(
    "ask", [_start, lambda: ensure_block_server("a-block"), read_api_url, lambda: announce("hf/./model", revision="1")]
)
def test_a_silent_prefect_server_is_given_up(silent: str, monkeypatch: pytest.MonkeyPatch, ask: object) -> None:
    monkeypatch.setattr(server_key, "ANSWER_SECONDS", 0.2)
    assert callable(ask)
    with (
        temporary_settings({PREFECT_API_URL: f"http://{silent}/api"}),
        pytest.raises(ConfigError, match=rf"server at http://{silent}/api did not answer within 0 s.*PREFECT_API_URL"),
    ):
        ask()


@pytest.mark.parametrize(("runner", "scheme"), [("dask", "tcp://"), pytest.param("ray", "", marks=pytest.mark.slow)])
def test_a_silent_cluster_is_given_up(silent: str, monkeypatch: pytest.MonkeyPatch, runner: str, scheme: str) -> None:
    monkeypatch.setattr(workers, "CLUSTER_SECONDS", 0.5)
    with (
        Workers(runner, RunnerArgs(address=f"{scheme}{silent}")) as waiting,
        pytest.raises(ConfigError, match=rf"no cluster answers at {scheme}{silent}.*runner_args.address"),
    ):
        waiting.portions  # noqa: B018


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONNECT_SECONDS", "READ_SECONDS", "PATIENCE_SECONDS"):
        monkeypatch.setattr(file_servers, name, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_silent_object_store_is_given_up(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{silent}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with pytest.raises(CutShortError, match=r"s3://silent/runs: no answer within [0-9]+ s"):
        Place.at("s3://silent/runs", setting="out").exists()


def test_what_is_configured_for_a_store_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(file_servers.fsspec.config.conf, "s3", {"anon": True, "config_kwargs": {"read_timeout": 300}})
    options = file_servers.make_time_limits("s3://bucket/data.csv")["s3"]
    assert options["anon"] is True
    assert options["config_kwargs"]["read_timeout"] == 300
    assert options["config_kwargs"]["connect_timeout"] == file_servers.CONNECT_SECONDS
    assert file_servers.make_time_limits("/a/folder") == {}


@pytest.mark.usefixtures("impatient", "own_store", "in_tmp")
def test_a_silent_address_of_data_is_given_up(silent: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--model", "mock", "--data", f"http://{silent}/rows.csv"]) == 2
    error = capsys.readouterr().err
    assert "the address cannot be read" in error
    assert len(error.splitlines()) == 1


@pytest.mark.usefixtures("own_store", "in_tmp")
@pytest.mark.parametrize("option", ["--data", "--suite", "--expectations", "--model"])
def test_a_pipe_is_no_file(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = "pipe.csv" if option in ("--data", "--model") else "pipe.yaml"
    os.mkfifo(name)
    arguments = [option, f"recorded/{name}" if option == "--model" else name]
    others = [] if option == "--model" else ["--model", "mock"]
    assert main(["validate", "--test", "add_toxic_words", *others, *arguments]) == 2
    error = capsys.readouterr().err
    assert "a pipe" in error
    assert len(error.splitlines()) == 1


WAITING = """
from contrapose.flows.cli.interruption import interruptible
from contrapose.flows.orchestration.workers import Workers
from contrapose.tasks.config.run_config import RunnerArgs
import dask.config, distributed, prefect_dask, sys
print("begun", flush=True)
try:
    with interruptible(), Workers("dask", RunnerArgs(address="tcp://{silent}")) as waiting:
        waiting.portions
except KeyboardInterrupt:
    sys.exit(130)
"""
RUN = """
import sys
from contrapose.flows.cli import main
sys.argv = ["contrapose", "run", "--model", "mock", "--test", "order_bias", "--limit", "3"]
import contrapose.flows.evaluate_model
print("begun", flush=True)
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("program", [WAITING, RUN])
def test_a_signal_ends_the_wait(silent: str, number: signal.Signals, program: str, tmp_path: Path) -> None:
    own = {"PREFECT_API_URL": f"http://{silent}/api", "PREFECT_HOME": str(tmp_path / "prefect")}
    process = subprocess.Popen(
        [sys.executable, "-c", program.replace("{silent}", silent)],
        env={**os.environ, **own},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    time.sleep(3)
    assert process.poll() is None
    process.send_signal(number)
    assert process.wait(10) in (130, 128 + number)
