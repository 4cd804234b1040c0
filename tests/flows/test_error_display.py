"""Errors and signals as people see them: one line, defects with their traceback."""

from __future__ import annotations

import importlib
import logging
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from own_process import run_process
from prefect import flow
from prefect.states import State

from contrapose.flows import cli
from contrapose.flows.cli import list, main, run
from contrapose.flows.cli.interruption import LINE, Interrupted, interruptible
from contrapose.flows.evaluate_model import evaluate_model
from contrapose.flows.orchestration.error_display import find_lost_server
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, DataError
from contrapose.tasks.core.policy import RESULTS, SERIALIZER, room_task

MISTAKE = DataError("row 3", expected="a text", remedy="Correct it.", where="own.csv")


@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
def test_a_missing_file_is_told_in_lines_that_say_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    for name in ("prefect.flow_runs", "prefect.task_runs"):
        caplog.set_level(logging.INFO, logger=name)
    state: State[object] = evaluate_model(RunConfig(model="mock", data="nowhere.jsonl"), return_state=True)
    assert (state.type.name, state.name) == ("FAILED", "Failed")
    assert "DataError: nowhere.jsonl" in str(state.message)
    assert isinstance(state.result(raise_on_failure=False), DataError)
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert any(record.getMessage().startswith("nowhere.jsonl: ") for record in told)
    for record in told:
        assert record.exc_info is None
        assert len(record.getMessage().splitlines()) == 1
    assert "Failed to write result" not in caplog.text


@pytest.mark.usefixtures("prefect_server")
def test_a_defect_keeps_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="prefect.flow_runs")

    @flow(persist_result=True, result_storage=RESULTS, result_serializer=SERIALIZER)
    def broken() -> float:
        return 1 / 0

    assert broken(return_state=True).is_failed()
    assert any(record.exc_info for record in caplog.records)


@pytest.mark.usefixtures("prefect_server")
def test_a_mistake_is_not_tried_again_and_a_defect_is() -> None:
    tries: list[str] = []

    @flow
    def failing(error: Exception) -> None:
        @room_task("failing", run_name="failing", persist=False)
        def once() -> None:
            tries.append(type(error).__name__)
            raise error

        once.with_options(retry_delay_seconds=0)()

    for error in (MISTAKE, OSError("busy")):
        assert failing(error, return_state=True).is_failed()
    assert tries == ["DataError", "OSError", "OSError"]


def test_an_error_is_stored_as_its_text_and_anything_else_that_is_no_json_is_refused() -> None:
    stored = SERIALIZER.dumps(MISTAKE)
    assert SERIALIZER.loads(stored) == f"DataError: {MISTAKE}"
    with pytest.raises(TypeError, match="set is no plain JSON"):
        SERIALIZER.dumps({"a"})


def listing_broken_by(error: Exception, monkeypatch: pytest.MonkeyPatch) -> int:
    def listed(_: object) -> list[str]:
        raise error

    monkeypatch.setattr(list, "list_things", listed)
    return main(["list"])


def test_a_server_that_is_gone_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing_broken_by(httpx.ConnectError("Connection refused"), monkeypatch) == 2
    told = capsys.readouterr().err
    assert told.startswith("contrapose: the Prefect server does not answer (ConnectError: Connection refused)")
    assert told.count("\n") == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_asks_for_another_key_is_one_line(
    status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    request = httpx.Request("GET", "http://user:s3cret@127.0.0.1:4200/api/admin/version")
    refused = httpx.HTTPStatusError("refused", request=request, response=httpx.Response(status, request=request))
    assert listing_broken_by(refused, monkeypatch) == 2
    told = capsys.readouterr().err
    assert f"refuses what this command asks (status {status})" in told
    assert "PREFECT_API_AUTH_STRING" in told
    assert "s3cret" not in told
    assert told.count("\n") == 1


def test_a_lost_server_is_no_defect_and_told_without_its_password() -> None:
    wrapped = ValueError("wrapped")
    wrapped.__cause__ = RuntimeError("Failed to reach API at http://user:s3cret@host:4200/api/")
    assert "Failed to reach API at http://host:4200/api/" in str(find_lost_server(wrapped))
    assert find_lost_server(RuntimeError("Timed out while attempting to connect to ephemeral Prefect API server."))
    assert find_lost_server(ValueError("a value")) is None


def test_a_defect_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing_broken_by(ZeroDivisionError("division by zero"), monkeypatch) == 2
    told = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero" in told
    assert told.splitlines()[-1].startswith("contrapose: this is a bug")


AT_ONCE = """
import signal
from contrapose.flows.cli.interruption import end_at_once, interruptible
end_at_once()
try:
    {}
finally:
    print("torn apart")
"""
"""A command that a signal meets while it does something."""
WAITED = 30.0
"""Seconds; a signal ends them."""


@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_as_ctrl_c_does(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("contrapose.flows.evaluate_model.evaluate_model", lambda *_, **__: signal.raise_signal(number))
    # Whoever runs the tests may ignore it, as nohup does.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert cli.main(["run", "--model", "mock"]) == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert capsys.readouterr().err == "contrapose: interrupted; run the same command again to continue\n"


def interrupted_twice() -> None:
    with interruptible():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)


def test_a_second_signal_does_not_disturb_the_ending() -> None:
    with pytest.raises(Interrupted) as found:
        interrupted_twice()
    assert found.value.__context__ is None


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_where_nothing_is_begun_the_process_ends_on_the_spot(number: signal.Signals) -> None:
    # Whoever runs the tests may ignore some signals, and what is ignored stays ignored.
    plain = f"import signal; signal.signal({int(number)}, signal.SIG_DFL)\n"
    program = plain + AT_ONCE.format(f"signal.raise_signal({int(number)})")
    done = run_process(sys.executable, "-c", program)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", f"{LINE}\n")


def imported(name: str) -> None:
    with interruptible():
        importlib.import_module(name)
        time.sleep(WAITED)


def test_no_import_is_torn_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_made.py").write_text("import signal\nsignal.raise_signal(signal.SIGTERM)\nwhole = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    start = time.monotonic()
    with pytest.raises(Interrupted) as found:
        imported("half_made")
    assert found.value.number == signal.SIGTERM
    assert sys.modules.pop("half_made").whole
    assert time.monotonic() - start < WAITED


def swallowed_by(error: Exception) -> None:
    with interruptible():
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise error from None


def test_an_error_that_was_made_of_a_signal_is_the_signal() -> None:
    with pytest.raises(Interrupted) as found:
        swallowed_by(ImportError("numpy._core.multiarray failed to import"))
    assert found.value.number == signal.SIGTERM


def test_a_signal_that_was_passed_over_is_told_as_the_work_ends() -> None:
    with pytest.raises(Interrupted) as raised, interruptible(), suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    assert raised.value.number == signal.SIGTERM


def test_what_could_not_be_finished_is_told_all_the_same() -> None:
    with pytest.raises(ConfigError, match="could not be kept"):
        swallowed_by(ConfigError("the replies could not be kept", expected="a store", remedy="Mend it."))


def test_handlers_are_given_back() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) not in before
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_the_line_needs_no_import(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object, **__: object) -> int:
        monkeypatch.setitem(sys.modules, "contrapose.tasks.text.masking", None)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "evaluate", interrupted)
    assert cli.main(["run", "--model", "mock"]) == 130
    assert capsys.readouterr().err == f"{LINE}\n"
