"""A call in somebody's process: what it changes there lasts as long as it does."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from concurrent.futures import Future

import pytest

from contrapose.flows.python import session
from contrapose.flows.python.session import RunInterrupted, in_session, quiet_prefect, run_beside_loops
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.process_state import lent_variables


def test_prefect_is_unheard_in_the_call_alone(caplog: pytest.LogCaptureFixture) -> None:
    logger, calls = logging.getLogger("prefect.engine"), threading.Barrier(2)

    def call(name: str) -> None:
        with quiet_prefect():
            calls.wait(30)
            logger.critical("of a call")
            calls.wait(30)

    threads = [threading.Thread(target=call, args=(name,)) for name in ("one", "two")]
    before = [list(handler.filters) for handler in (*logger.handlers, *logging.getLogger().handlers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with quiet_prefect():
        other = threading.Thread(target=logger.critical, args=("of somebody else",))
        other.start()
        other.join()
    logger.critical("afterwards")
    assert caplog.messages == ["of somebody else", "afterwards"]
    assert before == [list(handler.filters) for handler in (*logger.handlers, *logging.getLogger().handlers)]


def test_a_variable_is_lent_until_the_last_call_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_TEST_SET", "mine")
    monkeypatch.delenv("CONTRAPOSE_TEST_LENT", raising=False)
    lent = lent_variables({"CONTRAPOSE_TEST_SET": "ours", "CONTRAPOSE_TEST_LENT": "ours"})
    with lent.needed():
        with lent.needed():
            assert (os.environ["CONTRAPOSE_TEST_SET"], os.environ["CONTRAPOSE_TEST_LENT"]) == ("mine", "ours")
        assert os.environ["CONTRAPOSE_TEST_LENT"] == "ours"
    assert os.environ["CONTRAPOSE_TEST_SET"] == "mine"
    assert "CONTRAPOSE_TEST_LENT" not in os.environ


def test_work_stays_in_its_thread_unless_an_event_loop_runs_there() -> None:
    async def inside() -> threading.Thread:
        return run_beside_loops(threading.current_thread)

    assert run_beside_loops(threading.current_thread) is threading.current_thread()
    assert asyncio.run(inside()) is not threading.current_thread()


def test_what_the_work_raises_comes_up_beside_a_loop_too() -> None:
    def fails() -> None:
        raise KeyError("lost")

    async def inside() -> None:
        run_beside_loops(fails)

    with pytest.raises(KeyError, match="lost"):
        asyncio.run(inside())


def test_a_thread_that_starts_another_is_interrupted_once_that_has_begun() -> None:
    made, may_begin, began = threading.Event(), threading.Event(), threading.Event()

    class Slow(threading.Thread):
        def _bootstrap(self) -> None:
            made.set()
            may_begin.wait(30)
            super()._bootstrap()  # type: ignore[misc]

    def work() -> None:
        Slow(target=began.set).start()
        # Reached although it was interrupted before.
        may_begin.clear()
        while True:
            time.sleep(0.01)

    outcome: Future[None] = Future()
    thread = threading.Thread(target=session._settle, args=(work, outcome), daemon=True)
    thread.start()
    assert made.wait(30)
    threading.Timer(0.3, may_begin.set).start()
    session._interrupt(thread, outcome)
    assert isinstance(outcome.exception(30), KeyboardInterrupt)
    assert began.is_set()
    assert not may_begin.is_set()


def test_an_interruption_is_one_line_and_waits_for_what_is_under_way() -> None:
    settled: list[str] = []

    def work() -> None:
        try:
            end = time.monotonic() + 20
            while time.monotonic() < end:
                time.sleep(0.01)
        finally:
            settled.append("settled")

    async def inside() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
        in_session(work, show_toxic=False)

    with pytest.raises(KeyboardInterrupt) as raised:
        asyncio.run(inside())
    assert settled == ["settled"]
    assert isinstance(raised.value, RunInterrupted)
    assert raised.value._render_traceback_() == [f"KeyboardInterrupt: {raised.value}"]


@pytest.mark.parametrize(
    ("remedy", "in_python"),
    [
        (
            "Name it: --set data.columns.text=word, or columns: {text: word} next to the source.",
            'Name it: columns={"text": "word"}.',
        ),
        (
            "Name it: --set 'data.columns.text=my word', or columns: {text: my word} next to the source.",
            'Name it: columns={"text": "my word"}.',
        ),
        (
            "Leave them out with --skip-bad-rows (skip_bad_rows: true in a suite).",
            "Leave them out with skip_bad_rows=True.",
        ),
        ("Correct --suite.", "Correct suite."),
    ],
)
def test_remedies_name_arguments_in_place_of_options(remedy: str, in_python: str) -> None:
    def fails() -> None:
        raise ConfigError("odd", expected="even", remedy=remedy)

    with pytest.raises(ContraposeError) as raised:
        in_session(fails, show_toxic=False)
    assert raised.value.remedy == in_python
