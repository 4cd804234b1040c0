"""Signals that ask a run to end."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from contrapose.flows import cli, evaluate_model
from contrapose.flows.cli import run
from contrapose.flows.cli.interruption import LINE, Interrupted, interruptible
from contrapose.tasks.core.errors import ConfigError

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
    monkeypatch.setattr(evaluate_model, "evaluate_model", lambda *_, **__: signal.raise_signal(number))
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
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
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
