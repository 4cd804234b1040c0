"""The doctor: what it finds, what it advises, and what it leaves alone."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fake_endpoint import Endpoint
from packaging.requirements import Requirement
from small_server import answering

from contrapose.flows.cli import doctor, main
from contrapose.flows.cli.doctor import local
from contrapose.flows.cli.doctor.local import DoctorFinding
from contrapose.flows.cli.doctor.server import STRANGER, check_access, compare_version
from contrapose.flows.serve.report_server import serve_site
from contrapose.tasks.core.bounds import call_with_timeout

pytestmark = pytest.mark.usefixtures("own_store")


@pytest.fixture
def no_server() -> Iterator[None]:
    """No Prefect server is set, whatever other tests have started."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        yield


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the findings by name; the last of a name stays."""
    code = main(["doctor", "--json", *arguments])
    told = json.loads(capsys.readouterr().out)
    return code, {each["name"]: each for each in told["checks"]}


def test_the_table_fits_in_80_columns(capsys: pytest.CaptureFixture[str], no_server: None) -> None:
    assert main(["doctor", "--model", "mock"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert {line.split()[0] for line in lines[1:-1] if not line.startswith(" ")} <= {"ok", "warning", "problem"}


def test_no_model_library_is_imported() -> None:
    code = "from contrapose.flows.cli import main; main(['doctor']); import sys; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(told.splitlines()[-1].split())
    assert "prefect" in loaded
    assert not loaded & {"torch", "transformers", "sentence_transformers", "openai", "great_expectations"}


def test_a_store_is_not_made(capsys: pytest.CaptureFixture[str], own_store: str, no_server: None) -> None:
    _, checks = found(capsys)
    assert "the first run makes it" in checks["response store"]["found"]
    assert not Path(own_store.removeprefix("sqlite:///")).exists()


def test_a_store_of_another_version_is_a_problem_and_stays_as_it_is(
    capsys: pytest.CaptureFixture[str], own_store: str, no_server: None
) -> None:
    path = own_store.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as old:
        old.execute("CREATE TABLE runs (id TEXT PRIMARY KEY, state TEXT)")
    code, checks = found(capsys)
    assert (code, checks["response store"]["state"]) == (1, "problem")
    assert "another version" in checks["response store"]["found"]
    assert "Name another one" in checks["response store"]["remedy"]
    with closing(sqlite3.connect(path)) as old:
        assert old.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("runs",)]


def test_the_places_that_the_environment_names_are_looked_at(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_server: None
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CONTRAPOSE_STORAGE", str(tmp_path / "file" / "tables"))
    monkeypatch.setenv("CONTRAPOSE_HISTORY", str(tmp_path / "history"))
    code, checks = found(capsys)
    assert (code, checks["storage"]["state"], checks["history"]["state"]) == (1, "problem", "ok")
    assert "CONTRAPOSE_STORAGE" in checks["storage"]["remedy"]
    assert not (tmp_path / "history").exists()
    monkeypatch.setenv("CONTRAPOSE_HISTORY", "s3://user:secret@bucket/runs")
    _, checks = found(capsys)
    assert checks["history"]["state"] == "problem"
    assert "secret" not in str(checks["history"])


def test_passwords_are_not_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    monkeypatch.setenv("CONTRAPOSE_STORE", "postgresql+psycopg://user:hunter2@127.0.0.1:1/db")
    with temporary_settings({PREFECT_API_URL: "http://user:hunter2@127.0.0.1:1/api"}):
        assert main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "http://127.0.0.1:1/api: no answer" in told
    assert "hunter2" not in told


@pytest.mark.usefixtures("prefect_server")
def test_a_server_is_told_with_its_version_and_that_it_answers_strangers(capsys: pytest.CaptureFixture[str]) -> None:
    import prefect

    code, checks = found(capsys)
    assert checks["Prefect server"]["state"] == "ok"
    assert checks["Prefect server"]["found"].endswith(f"version {prefect.__version__}")
    assert (code, checks["server access"]["state"]) == (0, "warning")
    assert "no authentication, and lets pages of every origin read" in checks["server access"]["found"]
    assert "docs/behind-a-proxy.md" in checks["server access"]["remedy"]
    assert Path(__file__).parents[2].joinpath("docs/behind-a-proxy.md").is_file()


@pytest.mark.parametrize(
    ("status", "allowed", "told"),
    [
        (200, "*", "no authentication, and lets pages"),
        (200, "", "no authentication: anyone"),
        (200, "https://other.example", "no authentication: anyone"),
        (401, "*", "lets pages of every origin read its answers"),
        (401, STRANGER, "lets pages of every origin read its answers"),
        (403, "", "asks for authentication, and"),
        (401, "https://other.example", "asks for authentication, and"),
        (302, "", "asks for authentication, and"),
    ],
)
def test_what_a_server_answers_to_a_stranger(status: int, allowed: str, told: str) -> None:
    headers = {"Access-Control-Allow-Origin": allowed}
    with answering(lambda asked: asked.reply(status=status, headers=headers)) as url:
        (finding,) = check_access(f"{url}/api")
    assert told in finding.observed
    assert finding.state == ("ok" if told.startswith("asks") else "warning")


def test_a_server_behind_the_guard_is_in_order() -> None:
    with serve_site(lambda _: None) as served:
        (finding,) = check_access(f"http://user:hunter2@{urlsplit(served.url).netloc}/api/")
    assert finding.state == "ok"


def test_a_server_that_cannot_be_asked_is_another_checks_matter() -> None:
    assert list(check_access("http://127.0.0.1:1/api")) == []


@pytest.mark.parametrize(("version", "state"), [("2.20.1", "problem"), ("3.0.0", "warning"), ("3.99.0", "ok")])
def test_a_server_of_another_version(version: str, state: str) -> None:
    assert compare_version(version, "http://x/api").state == state


def test_a_server_that_never_answers_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address = silent.getsockname()
        start = time.monotonic()
        with pytest.raises(TimeoutError, match=r"0\.2 s"):
            call_with_timeout(lambda: socket.create_connection(address).recv(1), 0.2)
        assert time.monotonic() - start < 2


def test_telemetry_that_was_switched_on_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, no_server: None
) -> None:
    monkeypatch.setenv("GX_ANALYTICS_ENABLED", "true")
    _, checks = found(capsys)
    assert "GX_ANALYTICS_ENABLED" in checks["telemetry"]["found"]


def test_a_package_out_of_its_range_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [Requirement("packaging<1"), Requirement("no-such-package>=2"), Requirement("pytest")]
    monkeypatch.setattr(local, "read_requirements", lambda extra="": wanted)
    wrong = {each.name: each for each in local.check_packages(None)}
    assert set(wrong) == {"packaging", "no-such-package"}
    assert wrong["no-such-package"].observed == "not installed; needed: >=2"
    assert wrong["no-such-package"].remedy == 'pip install "no-such-package>=2"'


OPENAI = ("--model", "openai/x", "--test", "typo", "--set")


@pytest.mark.parametrize(
    ("arguments", "code", "name", "state", "remedy"),
    [
        (("--suite", "nonsense"), 1, "configuration", "problem", ""),
        (("--model", "mock", "--data", "/nowhere.jsonl", "--test", "typo"), 1, "data", "problem", ""),
        ((*OPENAI, "model_args.base_url=http://127.0.0.1:1/v1"), 1, "model", "problem", ""),
        ((*OPENAI, "model_args.api_key_block=my-key"), 0, "model", "warning", "PREFECT_API_URL"),
    ],
)
def test_what_a_run_lacks_is_found(
    arguments: tuple[str, ...],
    code: int,
    name: str,
    state: str,
    remedy: str,
    capsys: pytest.CaptureFixture[str],
    no_server: None,
) -> None:
    ended, checks = found(capsys, *arguments)
    assert (ended, checks[name]["state"]) == (code, state)
    assert remedy in checks[name]["remedy"]


def test_an_endpoint_that_answers_is_told_without_its_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, server: Endpoint, no_server: None
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "MY_KEY=127.0.0.1")
    where = f"model_args.base_url=http://127.0.0.1:{server.port}/v1"
    code, checks = found(capsys, "--model", "openai/x", "--set", where, "--set", "model_args.api_key_env=MY_KEY")
    assert (code, checks["model"]["state"]) == (0, "ok")
    assert "key from environment variable MY_KEY" in checks["model"]["found"]
    assert "sk-very-secret" not in str(checks)


def test_a_reader_is_looked_at_as_the_model_is(
    capsys: pytest.CaptureFixture[str], server: Endpoint, no_server: None
) -> None:
    reader = ("--model", "mock", "--reader", "openai/x", "--test", "typo")
    where = f"reader_args.base_url=http://127.0.0.1:{server.port}/v1"
    code, checks = found(capsys, *reader, "--set", where)
    assert (code, checks["model"]["state"], checks["reader"]["state"]) == (0, "ok", "ok")
    code, checks = found(capsys, *reader)
    assert (code, checks["model"]["state"], checks["reader"]["state"]) == (1, "ok", "problem")
    assert "reader_args.base_url" in checks["reader"]["remedy"]


def test_check_that_breaks_is_a_finding_among_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, no_server: None
) -> None:
    def broken(_: object) -> Iterator[DoctorFinding]:
        raise ImportError("memory")

    monkeypatch.setitem(doctor.CHECKS, "memory", broken)
    code, checks = found(capsys)
    assert (code, checks["memory"]["found"]) == (1, "could not be looked at (ImportError)")
    assert next(iter(checks)) == "Python"
    assert "GPU" in checks


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    assert "\x1b" not in "".join(doctor.format_findings([DoctorFinding("x", "ok", "red \x1b[31mtext")]))
