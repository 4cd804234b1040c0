"""Signals that ask a run to end."""

from __future__ import annotations

import signal

import pytest

from contrapose.flows import cli
from contrapose.flows.command.interruption import Interrupted, interruptible
from contrapose.flows.command.verbs import run


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_as_ctrl_c_does(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "_evaluate", lambda *_, **__: signal.raise_signal(number))
    # Whoever runs the tests may ignore it, as nohup does.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        assert cli.main(["run", "--model", "mock"]) == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)
    assert capsys.readouterr().err == "contrapose: interrupted; the same command goes on where it stopped\n"


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
