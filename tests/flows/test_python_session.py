"""A call in somebody's process: what it changes there lasts as long as it does."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future

import pytest

from contrapose.flows.python import session
from contrapose.flows.python.session import RunInterrupted, beside_loops, in_session, unlogged
from contrapose.tasks.core.errors import ConfigError, ContraposeError

BARS = """
import io
from contrapose.flows.python.session import without_bars
from tqdm.auto import tqdm

def bar():
    list(tqdm(range(3), file=(shown := io.StringIO())))
    return bool(shown.getvalue())

with without_bars(True):
    print(bar())
print(bar())
with without_bars(False):
    print(bar())
"""


def test_libraries_show_bars_again_afterwards() -> None:
    # Not here, where a variable has hidden all bars since tqdm was imported.
    environment = {name: value for name, value in os.environ.items() if name != "TQDM_DISABLE"}
    command = [sys.executable, "-c", BARS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]


def test_prefect_says_again_what_it_said_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_LOGGING_LEVEL")
    logger = logging.getLogger("prefect.flow_runs")
    before = logger.level
    with unlogged():
        assert not logger.isEnabledFor(logging.CRITICAL)
    assert logger.level == before


def test_whoever_asks_for_logs_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_LOGGING_LEVEL", "INFO")
    before = logging.getLogger("prefect").level
    with unlogged():
        assert logging.getLogger("prefect").level == before


def test_work_stays_in_its_thread_unless_an_event_loop_runs_there() -> None:
    async def inside() -> threading.Thread:
        return beside_loops(threading.current_thread)

    assert beside_loops(threading.current_thread) is threading.current_thread()
    assert asyncio.run(inside()) is not threading.current_thread()


def test_what_the_work_raises_comes_up_beside_a_loop_too() -> None:
    def fails() -> None:
        raise KeyError("lost")

    async def inside() -> None:
        beside_loops(fails)

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
            "Name it: --set data.columns.text=word, or columns: {text: word} beside the source.",
            'Name it: columns={"text": "word"}.',
        ),
        (
            "Name it: --set 'data.columns.text=my word', or columns: {text: my word} beside the source.",
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
