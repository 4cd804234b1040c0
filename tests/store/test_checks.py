"""Checks of retrained models in a database: taken once, taken over from the dead, and never decided by two."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from clocks import Clocks, set_by_hand
from sqlalchemy import update

from contrapose.tasks.store import Store
from contrapose.tasks.store.checks import LEASE_SECONDS, CheckRow, Checks, CheckTakenOverError, State
from contrapose.tasks.store.opening import connect
from contrapose.tasks.store.schema import CHECKS

KEY = "0" * 64
TOLD = {"model": "mock", "revision": "2", "training_run": "t"}
ALIKE = "1" * 32
"""Begins the keys of checks that differ in the candidate alone."""


@pytest.fixture
def checks(store: str, monkeypatch: pytest.MonkeyPatch) -> Checks:
    monkeypatch.setattr("contrapose.tasks.store.checks.LOOK_SECONDS", 0.01)
    return Store().checks(flow_run="one")


def begin(checks: Checks, *, key: str = KEY, again: bool = False, wanted: bool = False) -> CheckRow:
    return checks.begin(key, **TOLD, again=again, wanted=wanted)


def take(checks: Checks) -> CheckRow | None:
    """The check as somebody sees it who would take it."""
    return checks._take(KEY, TOLD, announced=None, again=False, wanted=False)


def decided(checks: Checks, key: str = KEY, *, verdict: str = "promote", announced: float | None = None) -> None:
    """Begin and decide a check."""
    checks.begin(key, **TOLD, announced=announced)
    checks.decide(key, verdict=verdict, decision="{}")


def test_one_of_ten_at_once_takes_a_check_and_the_others_wait_for_its_verdict(checks: Checks) -> None:
    def one(number: int) -> tuple[bool, str | None]:
        own = Store().checks(flow_run=str(number))
        row = begin(own)
        if row.owner == own.owner:
            own.decide(KEY, verdict="hold", decision='{"n": 1}')
        return row.owner == own.owner, row.verdict

    with ThreadPoolExecutor(10) as pool:
        found = list(pool.map(one, range(10)))
    assert sorted(found, key=str) == [*[(False, "hold")] * 9, (True, None)]


def test_a_check_of_a_process_that_ended_is_taken_over_as_it_is(checks: Checks, store: str, dead_owner: str) -> None:
    begin(checks)
    checks.decide(KEY, verdict="promote", decision='{"n": 1}')
    with connect(store).begin() as connection:
        connection.execute(update(CHECKS).values(owner=dead_owner))
    other = Store().checks(flow_run="two")
    row = begin(other)
    assert (row.owner, row.state, row.decision) == (other.owner, "decided", '{"n": 1}')
    with pytest.raises(CheckTakenOverError):
        checks.confirm(KEY)
    other.close(KEY, promoted=True)
    assert begin(Store().checks(flow_run="three")).state == "promoted"


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """The clocks that checks go by."""
    return set_by_hand(monkeypatch, "checks")


def seconds_left_alone(checks: Checks, clocks: Clocks) -> float:
    """How long a check stays another owner's, for whoever would take it and looks each second."""
    began = clocks.measured
    while clocks.measured - began < 3600:
        row = take(checks)
        if row is not None and row.owner == checks.owner:
            break
        clocks.go_on(1)
    return clocks.measured - began


def test_a_silent_owner_loses_a_check_and_can_no_longer_decide(checks: Checks, clocks: Clocks) -> None:
    begin(checks)
    assert LEASE_SECONDS <= seconds_left_alone(Store().checks(flow_run="two"), clocks) <= LEASE_SECONDS + 1
    with pytest.raises(CheckTakenOverError):
        checks.decide(KEY, verdict="promote", decision="{}")
    checks.release(KEY)
    assert checks.get(KEY) is not None


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_the_check_of_a_dead_owner_is_taken_soon_after_the_clock_jumped(
    jump: float, checks: Checks, clocks: Clocks
) -> None:
    begin(checks)
    clocks.wall += jump
    soon = LEASE_SECONDS / 2
    assert soon <= seconds_left_alone(Store().checks(flow_run="two"), clocks) <= soon + 1


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_an_owner_who_lives_keeps_its_check_when_the_clock_jumps(jump: float, checks: Checks, clocks: Clocks) -> None:
    begin(checks)
    other = Store().checks(flow_run="two")
    clocks.wall += jump
    for _ in range(8):
        for _ in range(int(LEASE_SECONDS / 4)):
            assert take(other).owner == checks.owner
            clocks.go_on(1)
        checks.confirm(KEY)


@pytest.mark.slow
def test_an_owner_who_gives_signs_of_life_keeps_it(checks: Checks, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.store.checks.LEASE_SECONDS", 2.0)
    begin(checks)
    other = Store().checks(flow_run="two")
    with checks.keep_alive(KEY), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(begin, other)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=4)
        checks.decide(KEY, verdict="hold", decision="{}")
        assert waiting.result(timeout=60).owner == checks.owner


def test_the_same_flow_run_takes_its_check_again_to_ask_a_person(checks: Checks) -> None:
    decided(checks, verdict="hold")
    resumed = Store().checks(flow_run="one")
    assert begin(resumed).owner == resumed.owner


def test_a_released_check_begins_anew(checks: Checks) -> None:
    begin(checks)
    checks.release(KEY)
    other = Store().checks(flow_run="two")
    assert begin(other).owner == other.owner


def test_a_decided_check_begins_again_only_where_that_is_wanted_and_a_promoted_one_never(checks: Checks) -> None:
    decided(checks, verdict="insufficient evidence")
    other = Store().checks(flow_run="two")
    assert begin(other).owner == checks.owner
    row = begin(other, again=True)
    assert row == other.get(KEY)
    assert (row.state, row.verdict, row.decision, row.flow_run) == ("checking", None, None, "two")
    other.decide(KEY, verdict="promote", decision="{}")
    other.close(KEY, promoted=True)
    assert begin(checks, again=True).owner == other.owner


def test_a_flow_run_that_is_resumed_goes_on_with_the_check_that_it_began_again(checks: Checks) -> None:
    begin(checks, again=True)
    checks.decide(KEY, verdict="hold", decision="{}")
    row = begin(Store().checks(flow_run="one"), again=True)
    assert (row.state, row.decision) == ("decided", "{}")


def test_after_a_promotion_that_did_nothing_the_next_announcement_may_want_more(checks: Checks) -> None:
    decided(checks)
    checks.close(KEY, promoted=False)
    other = Store().checks(flow_run="two")
    assert begin(other).owner == checks.owner
    row = begin(other, wanted=True)
    assert (row.owner, row.state, row.decision) == (other.owner, "decided", "{}")
    other.close(KEY, promoted=True)
    assert begin(Store().checks(flow_run="three"), wanted=True).owner == other.owner


def test_a_later_promotion_among_checks_that_are_alike_is_found(checks: Checks) -> None:
    keys = [ALIKE + number * 32 for number in "ab"] + ["2" * 64]
    for key in keys:
        decided(checks, key)
    assert checks.find_newer(keys[0], alike=ALIKE) is None
    for key in keys:
        checks.close(key, promoted=True)
    found = checks.find_newer(keys[0], alike=ALIKE)
    assert found.key == keys[1]
    assert checks.find_newer(keys[1], alike=ALIKE) is None


def test_of_two_the_one_announced_later_is_newer_whichever_began_first(checks: Checks) -> None:
    older, newer = (ALIKE + number * 32 for number in "ab")
    for key, announced in ((newer, 2.0), (older, 1.0)):
        decided(checks, key, announced=announced)
    checks.close(newer, promoted=True)
    found = checks.find_newer(older, alike=ALIKE)
    assert found.key == newer


def test_nothing_was_announced_in_the_future(checks: Checks) -> None:
    row = checks.begin(KEY, announced=1e12, **TOLD)
    assert row.started < 1e11


def test_a_check_that_begins_again_began_later(checks: Checks) -> None:
    keys = [ALIKE + number * 32 for number in "ab"]
    for key in keys:
        decided(checks, key)
        checks.close(key, promoted=key == keys[1])
    begin(Store().checks(flow_run="two"), key=keys[0], again=True)
    assert checks.find_newer(keys[0], alike=ALIKE) is None


def test_a_check_begins_with_what_was_announced(checks: Checks) -> None:
    row = checks.begin(KEY, announced=12.0, **TOLD)
    assert (row.key, row.model, row.revision, row.training_run) == (KEY, "mock", "2", "t")
    assert (row.state, row.verdict, row.decision) == ("checking", None, None)
    assert (row.flow_run, row.owner, row.started) == ("one", checks.owner, 12.0)
    assert row.open
    assert checks.get("f" * 64) is None


@pytest.mark.parametrize(
    ("state", "verdict", "left"),
    [
        ("checking", None, True), ("decided", "promote", True), ("decided", "hold", False),
        ("told", "promote", False), ("promoted", "promote", False),
    ],
)  # fmt: skip
def test_only_a_check_or_a_promotion_under_way_is_open(
    state: State, verdict: str | None, left: bool, checks: Checks
) -> None:
    assert replace(begin(checks), state=state, verdict=verdict).open is left


def test_each_write_is_a_sign_of_life(checks: Checks, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 1000.0
    monkeypatch.setattr("contrapose.tasks.store.checks.get_database_time", lambda connection: moment)
    assert begin(checks).until == moment + LEASE_SECONDS
    moment += LEASE_SECONDS
    checks.confirm(KEY)
    row = checks.get(KEY)
    assert row.until == moment + LEASE_SECONDS


def test_a_check_that_is_left_is_anybodys_at_once(checks: Checks, clocks: Clocks) -> None:
    with checks.keep_alive(KEY):
        begin(checks)
    assert seconds_left_alone(Store().checks(flow_run="two"), clocks) == 0


def test_who_lost_a_check_leaves_it_to_the_new_owner(checks: Checks, store: str) -> None:
    begin(checks)
    with connect(store).begin() as connection:
        connection.execute(update(CHECKS).values(until=0.0))
    other = Store().checks(flow_run="two")
    until = begin(other).until
    with checks.keep_alive(KEY):
        pass
    row = other.get(KEY)
    assert row.until == until


def test_only_a_promotion_that_did_nothing_is_wanted_again(checks: Checks) -> None:
    decided(checks, verdict="hold")
    assert begin(Store().checks(flow_run="two"), wanted=True).owner == checks.owner


def test_a_promoted_check_is_not_taken_again_by_its_own_flow_run(checks: Checks) -> None:
    decided(checks)
    checks.close(KEY, promoted=True)
    assert begin(Store().checks(flow_run="one")).owner == checks.owner


def test_a_check_that_was_decided_is_not_forgotten(checks: Checks) -> None:
    begin(checks)
    begin(checks, key="1" * 64)
    checks.decide(KEY, verdict="hold", decision="{}")
    checks.release(KEY)
    assert checks.get(KEY) is not None
    checks.release("1" * 64)
    assert checks.get("1" * 64) is None


def test_of_two_later_promotions_the_last_is_found(checks: Checks) -> None:
    keys = [ALIKE + letter * 32 for letter in "abc"]
    for place, key in enumerate([keys[0], keys[2], keys[1]]):
        decided(checks, key, announced=float(place))
        checks.close(key, promoted=True)
    found = checks.find_newer(keys[0], alike=ALIKE)
    assert found.key == keys[1]


def test_who_begins_waits_for_an_open_check_of_somebody_else(checks: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = begin(checks)
    theirs = replace(mine, owner="elsewhere.example:1:0")
    rows = [None, theirs, mine]
    monkeypatch.setattr(checks, "_take", lambda *_, **__: rows.pop(0))
    assert begin(checks) is mine
    rows = [replace(theirs, state="decided", verdict="hold")]
    assert begin(checks).verdict == "hold"


def test_a_check_that_was_released_at_this_moment_is_tried_again(
    checks: Checks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contrapose.tasks.store.checks._read_row", lambda *_: None)
    assert take(checks) is None


def test_a_check_that_is_done_is_nobodys_to_take_however_long_ago_that_was(checks: Checks, store: str) -> None:
    decided(checks, verdict="hold")
    with connect(store).begin() as connection:
        connection.execute(update(CHECKS).values(until=0.0))
    assert begin(Store().checks(flow_run="two")).owner == checks.owner
