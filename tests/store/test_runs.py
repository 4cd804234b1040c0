"""Runs in a database: how they are called, and which of them are unfinished."""

from __future__ import annotations

import threading
import time

import pytest
from clocks import Clock
from sqlalchemy import update
from store.test_answers import keyed

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Usage
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import build_batch
from contrapose.tasks.store.owners import is_of_this_process, send_beats
from contrapose.tasks.store.runs import (
    ALIVE_SECONDS,
    LOOK_SECONDS,
    PULSE_SECONDS,
    RunInProgressError,
    RunRow,
    Runs,
    RunSpending,
    State,
)
from contrapose.tasks.store.schema import RUNS

pytestmark = pytest.mark.usefixtures("store")


def begun() -> tuple[Runs, str]:
    """The runs of the store, and one that has begun."""
    runs = Store().runs
    return runs, runs.begin("run", config="{}", folder=".")


def row_of(run: str) -> RunRow:
    row = Store().runs.get(run)
    assert row is not None
    return row


def test_two_runs_of_one_name_have_ids_of_their_own() -> None:
    runs = Store().runs
    assert [runs.begin("run", config="{}", folder=".") for _ in range(3)] == ["run", "run-2", "run-3"]


def test_a_run_is_unfinished_until_it_ends() -> None:
    runs = Store().runs
    run = runs.begin("run", config='{"seed": 1}', folder="/work")
    (row,) = runs.find_unfinished()
    assert (row.id, row.config, row.folder, row.state) == (run, '{"seed": 1}', "/work", "running")
    runs.end(run, "incomplete")
    assert [row.state for row in runs.find_unfinished()] == ["incomplete"]
    runs.end(run, "finished")
    assert runs.find_unfinished() == []


def test_an_unknown_run_is_none() -> None:
    assert Store().runs.get("nobody") is None


def test_a_run_that_is_going_on_is_not_taken_over() -> None:
    runs, run = begun()
    with pytest.raises(ConfigError, match="another process"):
        runs.resume(run)


def test_a_run_whose_process_has_ended_is_taken_over_at_once(dead_owner: str) -> None:
    runs, run = begun()
    with runs.engine.begin() as connection:
        connection.execute(update(RUNS).values(owner=dead_owner))
    runs.resume(run)
    assert is_of_this_process(row_of(run).owner)


def test_an_unknown_run_is_not_taken_up_again() -> None:
    with pytest.raises(ConfigError, match="no such run"):
        Store().runs.resume("nobody")


@pytest.mark.parametrize("state", ["finished", "superseded"])
def test_a_run_that_came_to_its_end_is_not_taken_up_again(state: State) -> None:
    runs, run = begun()
    runs.end(run, state)
    with pytest.raises(ConfigError, match=f"the run is {state}"):
        runs.resume(run, retried=True)
    assert not runs.take_over(run)
    assert row_of(run).state == state


def become_silent(run: str, *, longest: float = 10) -> None:
    """Forget a run's last sign of life, and leave it a while for another one."""
    with Store().runs.engine.begin() as connection:
        connection.execute(update(RUNS).where(RUNS.c.id == run).values(seen=1.0))
    end = time.monotonic() + longest
    while row_of(run).seen == 1.0 and time.monotonic() < end:
        time.sleep(0.02)


@pytest.fixture
def quick_pulse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.store.runs.PULSE_SECONDS", 0.05)


@pytest.mark.usefixtures("quick_pulse")
def test_a_living_run_is_not_taken_over_however_long_it_writes_nothing() -> None:
    runs, run = begun()
    with runs.keep_alive(run):
        become_silent(run)
        with pytest.raises(RunInProgressError):
            runs.resume(run)


@pytest.mark.usefixtures("quick_pulse")
def test_the_signs_of_life_end_with_a_run_that_fails() -> None:
    runs, run = begun()
    with pytest.raises(RuntimeError), runs.keep_alive(run):
        raise RuntimeError("a wall")
    # The last sign may come just after the end.
    for each in threading.enumerate():
        if each.name == "contrapose-pulse":
            each.join(10)
    become_silent(run, longest=0.5)
    assert row_of(run).seen == 1.0
    runs.resume(run)


@pytest.mark.usefixtures("quick_pulse")
def test_a_run_that_was_taken_over_is_not_kept_alive_by_who_had_it() -> None:
    runs, run = begun()
    with runs.keep_alive(run):
        runs.resume(run, retried=True)
        become_silent(run, longest=0.5)
        assert row_of(run).seen == 1.0


def belongs_elsewhere(run: str, **values: object) -> None:
    """Let a run be that of another machine."""
    with Store().runs.engine.begin() as connection:
        connection.execute(update(RUNS).where(RUNS.c.id == run).values(owner="elsewhere.example:1:0", **values))


def answered(run: str, *numbers: int) -> None:
    """Keep answers that a run asked for, at three tokens read and two written each."""
    count = len(numbers)
    spent = Usage(calls=count + 1, prompt_tokens=3 * count, completion_tokens=2 * count)
    Store().answers.keep(
        build_batch([keyed(n) for n in numbers], run=run, model="m", spent=spent, failures=0, again=False)
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(time.time())
    monkeypatch.setattr("contrapose.tasks.store.runs.time", made)
    return made


def test_a_run_begins_with_nothing_spent_and_nothing_found(clock: Clock) -> None:
    row = row_of(Store().runs.begin("run", config="{}", folder="/work"))
    assert (row.answers, row.requests, row.failures, row.hits) == (0, 0, 0, 0)
    assert (row.started, row.seen, Store().runs.latency(row.id)) == (clock.now, clock.now, {})
    assert is_of_this_process(row.owner)


def test_what_is_found_in_the_store_adds_up_and_is_a_sign_of_life(clock: Clock) -> None:
    runs = Store().runs
    run, other = runs.begin("run", config="{}", folder="."), runs.begin("other", config="{}", folder=".")
    clock.now += 5
    runs.add_hits(run, 3)
    runs.add_hits(run, 4)
    assert (row_of(run).hits, row_of(run).seen) == (7, clock.now)
    assert row_of(other).hits == 0


def test_a_run_that_goes_on_counts_the_answers_that_it_asked_for_once() -> None:
    runs, run = begun()
    answered(run, 1, 2, 3)
    runs.add_hits(run, 4)
    runs.end(run, "incomplete")
    runs.resume(run)
    # It finds its own three and the four that were there before.
    runs.add_hits(run, 7)
    assert (row_of(run).answers, row_of(run).hits) == (3, 4)


def test_a_run_that_goes_on_is_running_and_this_processs(clock: Clock) -> None:
    runs, run = begun()
    runs.end(run, "incomplete")
    belongs_elsewhere(run)
    clock.now += 1
    runs.resume(run)
    row = row_of(run)
    assert (row.state, row.seen) == ("running", clock.now)
    assert is_of_this_process(row.owner)


def test_a_silent_run_of_another_machine_is_taken_over_after_a_while_and_not_before(clock: Clock) -> None:
    runs, run = begun()
    belongs_elsewhere(run)
    for seconds in (0, ALIVE_SECONDS - 0.5):
        clock.now += seconds
        with pytest.raises(RunInProgressError):
            runs.resume(run)
    clock.now += 0.5
    runs.resume(run)


def test_only_an_attempt_of_this_process_is_known_to_have_ended(clock: Clock) -> None:
    runs, run = begun()
    with pytest.raises(RunInProgressError):
        runs.resume(run)
    runs.resume(run, retried=True)
    belongs_elsewhere(run)
    with pytest.raises(RunInProgressError):
        runs.resume(run, retried=True)


def test_who_takes_a_run_over_waits_as_long_as_its_owner_may_live(clock: Clock) -> None:
    runs, run = begun()
    belongs_elsewhere(run)
    assert runs.take_over(run)
    assert sum(clock.slept) == ALIVE_SECONDS
    assert set(clock.slept) == {LOOK_SECONDS}


def test_who_takes_a_run_over_gives_up_where_its_owner_lives_on(clock: Clock) -> None:
    runs, run = begun()
    belongs_elsewhere(run, seen=clock.now + 1000)
    with pytest.raises(RunInProgressError):
        runs.take_over(run)
    assert ALIVE_SECONDS < sum(clock.slept) <= ALIVE_SECONDS + 3 * LOOK_SECONDS


def test_a_run_that_was_taken_over_is_not_published_by_who_had_it() -> None:
    runs, run = begun()
    runs.confirm(run)
    runs.confirm("forgotten")
    belongs_elsewhere(run)
    with pytest.raises(RunInProgressError, match="taken the run over"):
        runs.confirm(run)


def test_only_a_finished_run_supersedes_others_and_only_of_its_folder(clock: Clock) -> None:
    runs = Store().runs
    unlike = runs.begin("unlike", config='{"seed": 1}', folder="a")
    elsewhere, old = (runs.begin(name, config="{}", folder=name) for name in ("b", "a"))
    new = runs.begin("new", config="{}", folder="a")
    runs.end(old, "incomplete")
    clock.now += ALIVE_SECONDS
    runs.end(new, "incomplete")
    runs.end(new, "finished")
    assert row_of(old).state == "incomplete"
    clock.now += 1
    runs.end(new, "incomplete")
    assert row_of(old).state == "incomplete"
    runs.end(new, "finished")
    assert [row_of(each).state for each in (old, elsewhere, new)] == ["superseded", "running", "finished"]
    assert row_of(unlike).state == "running"
    assert row_of(new).seen == clock.now


def test_what_a_runs_reader_has_spent_is_a_part_of_what_the_run_has() -> None:
    runs, answers = Store().runs, Store().answers
    run, other = runs.begin("run", config="{}", folder="."), runs.begin("other", config="{}", folder=".")
    answered(run, 1, 2)
    for number in (3, 4):
        spent = Usage(calls=2, prompt_tokens=10, completion_tokens=1)
        answers.keep(build_batch([keyed(number)], run=run, model="r", spent=spent, failures=1, again=False, reads=True))
    assert runs.usage(run) == row_of(run).spent == Usage(calls=7, prompt_tokens=26, completion_tokens=6)
    assert runs.usage("nobody") == Usage()
    taken = RunSpending(answers=2, requests=4, failures=2, prompt_tokens=20, completion_tokens=2)
    assert runs.read(run) == row_of(run).reading == taken
    assert runs.read(other) == row_of(other).reading == RunSpending()


def test_the_newest_unfinished_run_comes_first(clock: Clock) -> None:
    runs = Store().runs
    for name in ("first", "second", "third"):
        runs.begin(name, config="{}", folder=".")
        clock.now += 1
    assert [row.id for row in runs.find_unfinished()] == ["third", "second", "first"]


def test_the_latencies_of_a_run_are_those_of_the_answers_that_it_asked_for() -> None:
    runs = Store().runs
    run, other = runs.begin("run", config="{}", folder="."), runs.begin("other", config="{}", folder=".")
    answered(other, 9000)
    answered(run, *range(1, 5))
    assert runs.latency(run) == {0.5: 0.2, 0.95: 0.4, 0.99: 0.4}


def test_a_run_gives_several_signs_of_life_before_it_counts_as_silent() -> None:
    assert 3 * PULSE_SECONDS <= ALIVE_SECONDS


def test_a_pulse_keeps_no_process_from_ending_and_goes_on_after_a_failed_beat() -> None:
    beats: list[bool] = []
    more = threading.Event()

    def beat() -> None:
        beats.append(threading.current_thread().daemon)
        if len(beats) > 2:
            more.set()
        raise ConfigError("away", expected="a database", remedy="Wait.", where="here")

    with send_beats(beat, every=0.001):
        assert more.wait(10)
    assert set(beats) == {True}
