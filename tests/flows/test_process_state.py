"""What calls from Python leave in the process of their caller: nothing, however they overlap."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from plain_prefect import put_own_database

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


def after_calls(program: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A process of somebody who has set nothing about Prefect, logs or bars."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PREFECT_", "TQDM_", "TRANSFORMERS_", "TOKENIZERS_", "ARROW_", "HF_HUB_DISABLE"))
    }
    own = {"PREFECT_HOME": str(home / "prefect"), "CONTRAPOSE_HOME": str(home / "contrapose")}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=kept | own,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def test_overlapping_calls_leave_nothing_behind(home: Path) -> None:
    done = after_calls(PROGRAM, home)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert [name for name, _ in seen["ended"]] == ["one", "two"]
    assert seen["changed"] == {}
    assert seen["stubs"] == []
    # Prefect was not heard, though it says how each run goes on where nothing is set.
    assert done.stderr == ""


def test_a_quiet_call_says_nothing_where_prefect_is_imported_by_it(home: Path) -> None:
    call = "contrapose.evaluate(model='mock', test='order_bias', limit=3, quiet=True)"
    done = after_calls(f"import contrapose; print({call}.folder)", home)
    assert (done.returncode, done.stderr) == (0, "")
