"""A call in somebody's process: what it changes there lasts as long as it does, however calls overlap."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest
from own_process import Ended, run_process
from plain_prefect import put_own_database

from contrapose.flows.python import session
from contrapose.flows.python.session import RunInterrupted, run_beside_loops, run_in_session, silence_prefect
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.process_state import set_temporary_variables


def test_prefect_is_unheard_in_the_call_alone(caplog: pytest.LogCaptureFixture) -> None:
    logger, calls = logging.getLogger("prefect.engine"), threading.Barrier(2)

    def call(name: str) -> None:
        with silence_prefect():
            calls.wait(30)
            logger.critical("of a call")
            calls.wait(30)

    threads = [threading.Thread(target=call, args=(name,)) for name in ("one", "two")]
    before = [list(handler.filters) for handler in (*logger.handlers, *logging.getLogger().handlers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with silence_prefect():
        other = threading.Thread(target=logger.critical, args=("of somebody else",))
        other.start()
        other.join()
    logger.critical("afterwards")
    assert caplog.messages == ["of somebody else", "afterwards"]
    assert before == [list(handler.filters) for handler in (*logger.handlers, *logging.getLogger().handlers)]


def test_a_variable_is_lent_until_the_last_call_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_TEST_SET", "mine")
    monkeypatch.delenv("CONTRAPOSE_TEST_LENT", raising=False)
    lent = set_temporary_variables({"CONTRAPOSE_TEST_SET": "ours", "CONTRAPOSE_TEST_LENT": "ours"})
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
        run_in_session(work, show_toxic=False)

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
        run_in_session(fails, show_toxic=False)
    assert raised.value.remedy == in_python


PROGRAM = """
import gc, json, logging, os, sys, threading, types, warnings
import contrapose, prefect, tqdm, transformers
from prefect import flow  # Prefect sets up its loggers as this is imported, and filters below.
from prefect.logging import get_logger
from transformers.utils import logging as said

def handlers(logger):
    return [(id(handler), handler.level, list(map(id, handler.filters))) for handler in logger.handlers]

get_logger("prefect.flow_runs"), get_logger("prefect.task_runs")
LOGGERS = {name: logging.getLogger(name) for name in [None, *logging.root.manager.loggerDict]}

def state():
    return {
        "environment": dict(os.environ),
        "loggers": {
            str(name): [logger.level, logger.disabled, logger.propagate, handlers(logger), [*map(id, logger.filters)]]
            for name, logger in LOGGERS.items()
        },
        "logging": [logging.root.manager.disable, logging.raiseExceptions],
        "tqdm": [id(vars(tqdm.tqdm)[name]) for name in ("__init__", "__new__")],
        "transformers": [said.get_verbosity(), said.is_progress_bar_enabled()],
        "warnings": list(map(repr, warnings.filters)),
        "prefect": repr(prefect.settings.get_current_settings().api),
    }

def difference(before, after):
    if not isinstance(before, dict):
        return [before, after]
    names = before.keys() | after.keys()
    return {name: [before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)}

def stubs():
    named = [name for name, module in sys.modules.items() if type(module).__module__.startswith("contrapose")]
    held = [str(thing) for thing in gc.get_objects()
            if issubclass(type(thing), types.ModuleType) and type(thing).__module__.startswith("contrapose")]
    return named + held

before = state()
both, first_ended, ended = threading.Barrier(2), threading.Event(), []

def overlapping(name, last):
    begun = []
    def answer(prompt):
        if not begun:
            begun.append(both.wait(240))
            watched.extend(stubs())
            if last:
                first_ended.wait(240)
        return "It is a fine day."
    answer.__name__ = name
    run = contrapose.evaluate(
        model=answer, model_args={"concurrency": 1, "timeout": 280}, test="add_toxic_words", limit=3, out=name,
        data={"source": "toxic_words"}, quiet=True)
    ended.append((name, run.verdict))
    if not last:
        first_ended.set()

watched = []
threads = [threading.Thread(target=overlapping, args=arguments) for arguments in (("one", False), ("two", True))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
after = state()
print(json.dumps({
    "ended": ended,
    "changed": {name: difference(before[name], after[name]) for name in before if before[name] != after[name]},
    "stubs": watched + stubs(),
}))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    put_own_database(tmp_path / "contrapose")
    return tmp_path


def after_calls(program: str, home: Path) -> Ended:
    """A process of somebody who has set nothing about Prefect, logs or bars."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PREFECT_", "TQDM_", "TRANSFORMERS_", "TOKENIZERS_", "ARROW_", "HF_HUB_DISABLE"))
    }
    own = {"PREFECT_HOME": str(home / "prefect"), "CONTRAPOSE_HOME": str(home / "contrapose")}
    return run_process(sys.executable, "-c", program, env=kept | own, cwd=home)


@pytest.mark.slow
def test_overlapping_calls_leave_nothing_behind(home: Path) -> None:
    done = after_calls(PROGRAM, home)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert [name for name, _ in seen["ended"]] == ["one", "two"]
    assert seen["changed"] == {}
    assert seen["stubs"] == []
    # Prefect was not heard, though it says how each run goes on where nothing is set.
    assert done.stderr == ""


@pytest.mark.slow
def test_a_quiet_call_says_nothing_where_prefect_is_imported_by_it(home: Path) -> None:
    call = "contrapose.evaluate(model='mock', test='order_bias', limit=3, quiet=True)"
    done = after_calls(f"import contrapose; print({call}.folder)", home)
    assert (done.returncode, done.stderr) == (0, "")
