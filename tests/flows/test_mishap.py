"""How a command ends where something breaks that no user can have caused."""

from __future__ import annotations

import httpx
import pytest

from contrapose.flows.cli import list, main
from contrapose.flows.orchestration.error_display import lost_server


def broken(error: Exception, monkeypatch: pytest.MonkeyPatch) -> int:
    def listed(_: object) -> list[str]:
        raise error

    monkeypatch.setattr(list, "list_things", listed)
    return main(["list"])


def test_a_server_that_is_gone_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert broken(httpx.ConnectError("Connection refused"), monkeypatch) == 2
    told = capsys.readouterr().err
    assert told.startswith("contrapose: the Prefect server does not answer (ConnectError: Connection refused)")
    assert told.count("\n") == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_asks_for_another_key_is_one_line(
    status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    request = httpx.Request("GET", "http://user:s3cret@127.0.0.1:4200/api/admin/version")
    refused = httpx.HTTPStatusError("refused", request=request, response=httpx.Response(status, request=request))
    assert broken(refused, monkeypatch) == 2
    told = capsys.readouterr().err
    assert f"refuses what this command asks (status {status})" in told
    assert "PREFECT_API_AUTH_STRING" in told
    assert "s3cret" not in told
    assert told.count("\n") == 1


def test_a_temporary_server_that_does_not_start_is_no_defect() -> None:
    assert lost_server(RuntimeError("Timed out while attempting to connect to ephemeral Prefect API server."))


def test_a_lost_server_is_told_without_its_password() -> None:
    lost = lost_server(RuntimeError("Failed to reach API at http://user:s3cret@host:4200/api/"))
    assert "Failed to reach API at http://host:4200/api/" in str(lost)


def test_a_defect_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert broken(ZeroDivisionError("division by zero"), monkeypatch) == 2
    told = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero" in told
    assert told.splitlines()[-1].startswith("contrapose: this is a defect")


def test_the_cause_counts_however_it_is_wrapped() -> None:
    error = ValueError("wrapped")
    error.__cause__ = RuntimeError("Failed to reach API at http://127.0.0.1:9/api/")
    assert lost_server(error)


def test_other_errors_are_not_taken_for_it() -> None:
    assert lost_server(ValueError("a value")) is None
