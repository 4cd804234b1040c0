"""A process beside ours answers line by line, and whatever becomes of it, nobody waits for long or hears another's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import pytest

from contrapose.tasks.core import side_process
from contrapose.tasks.core.side_process import SideProcess

READY = "import os, sys, time\nprint('ready', flush=True)\n"
ECHO = f"{READY}for line in sys.stdin: print(os.getpid(), line.strip(), flush=True)"
SLOW = f"{READY}for line in sys.stdin: time.sleep(float(line)); print(line.strip(), flush=True)"


@pytest.fixture
def echo() -> Iterator[SideProcess]:
    process = SideProcess("-c", ECHO, seconds=60)
    yield process
    process.end()


def is_there(number: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(number, 0)
        return True
    return False


def test_each_line_has_its_answer_from_one_process(echo: SideProcess) -> None:
    assert echo._process is None
    echo.begin()
    assert echo._process is not None
    first, second = (echo.ask(word).split() for word in ("one", "z" * 1_000_000))
    assert (first[1], len(second[1])) == ("one", 1_000_000)
    assert first[0] == second[0]


def test_threads_hear_what_they_asked(echo: SideProcess) -> None:
    words = [f"word{number}" for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        assert [answer.split()[1] for answer in threads.map(echo.ask, words)] == words


def test_one_that_was_killed_answers_nothing_and_the_next_line_goes_to_a_new_one(echo: SideProcess) -> None:
    number = int(echo.ask("one").split()[0])
    os.kill(number, signal.SIGKILL)
    while Path(f"/proc/{number}/stat").exists() and " Z " not in Path(f"/proc/{number}/stat").read_text():
        sleep(0.01)
    assert echo.ask("two") == ""
    assert echo._process is None
    assert echo.ask("three").split()[1] == "three"
    assert int(echo.ask("four").split()[0]) != number


def test_one_that_cannot_start_answers_nothing() -> None:
    assert SideProcess("-m", "no_such_module_anywhere", seconds=60).ask("one") == ""


def test_one_that_takes_too_long_is_not_waited_for_and_its_answer_is_never_taken_for_another() -> None:
    process, start = SideProcess("-c", SLOW, seconds=1), monotonic()
    assert process.ask("30") == ""
    assert monotonic() - start < 20
    assert process.ask("0.25").strip() == "0.25"
    process.end()


def test_one_that_is_never_ready_is_sent_nothing_and_not_waited_for() -> None:
    process, start = SideProcess("-c", "import time; time.sleep(60)", seconds=1), monotonic()
    # More than fits into a pipe that nobody reads.
    assert process.ask("z" * 1_000_000) == ""
    assert monotonic() - start < 20
    assert process._process is None


def test_an_answer_that_somebody_stopped_waiting_for_is_not_taken_for_another(
    echo: SideProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(side_process.DefaultSelector, "select", interrupt)
    with pytest.raises(KeyboardInterrupt):
        echo.ask("one")
    monkeypatch.undo()
    assert echo.ask("two").split()[1] == "two"


def test_it_ends_when_it_is_told_to_and_when_its_owner_is_killed(echo: SideProcess) -> None:
    number = int(echo.ask("one").split()[0])
    echo.end()
    assert not is_there(number)
    code = f"from contrapose.tasks.core.side_process import SideProcess\nprint(SideProcess('-c', {ECHO!r}, seconds=60)"
    owner = subprocess.Popen(
        [sys.executable, "-c", f"{code}.ask('one'), flush=True)\nimport time\ntime.sleep(60)"],
        stdout=subprocess.PIPE,
        text=True,
    )
    beside = int(owner.stdout.readline().split()[0])
    owner.kill()
    owner.wait()
    end = monotonic() + 30
    while is_there(beside) and monotonic() < end:
        sleep(0.05)
    assert not is_there(beside)
