"""Claims: two owners never ask the same, and nothing stays claimed by the dead."""

from __future__ import annotations

from typing import Any

import pytest
from clocks import Clocks, set_by_hand
from sqlalchemy import update
from store.test_answers import keyed

from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.broker import RENEW_SECONDS
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import build_batch
from contrapose.tasks.store.claims import LEASE_SECONDS, Claims
from contrapose.tasks.store.engine import BUSY_SECONDS
from contrapose.tasks.store.owners import GLANCE_SECONDS, SILENT_SECONDS, OwnerWatch
from contrapose.tasks.store.schema import CLAIMS

pytestmark = pytest.mark.usefixtures("store")

KEYS = [keyed(number).key for number in range(4)]
HOUR = 3600.0
LATE = 2 * RENEW_SECONDS
"""Between two signs of life at the most: one is due just after an answer has come, and waits for the next one."""


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """The clocks that claims go by."""
    return set_by_hand(monkeypatch, "claims")


def seconds_held(claims: Claims, clocks: Clocks, *, most: float) -> float:
    """How long claims of another owner are seen to hold, by whoever looks each second."""
    began = clocks.measured
    while claims.held_by_others(KEYS) and clocks.measured - began < most:
        clocks.go_on(1)
    return clocks.measured - began


def answer(number: int) -> None:
    run = Store().runs.begin("run", config="{}", folder=".")
    Store().answers.keep(build_batch([keyed(number)], run=run, model="m", spent=Usage(), failures=0, again=False))


def become(claims: Claims, **values: object) -> None:
    """Change all claims there are."""
    with claims.engine.begin() as connection:
        connection.execute(update(CLAIMS).values(**values))


def test_each_key_has_one_owner() -> None:
    first, second = Store().claims(), Store().claims()
    assert first.claim(KEYS[:3]) == set(KEYS[:3])
    assert second.claim(KEYS) == {KEYS[3]}
    assert second.held_by_others(KEYS) == set(KEYS[:3])
    assert first.claim(KEYS) == set(KEYS[:3])


def test_what_is_answered_is_not_claimed() -> None:
    answer(0)
    first, second = Store().claims(), Store().claims(again=True)
    assert first.claim(KEYS[:2]) == {KEYS[1]}
    assert first.held_by_others(KEYS[:2]) == set()
    assert second.claim(KEYS[:2]) == {KEYS[0]}


def test_an_answer_ends_its_claim() -> None:
    first, second = Store().claims(), Store().claims()
    first.claim(KEYS[:2])
    answer(0)
    assert second.held_by_others(KEYS) == {KEYS[1]}


def test_who_comes_long_after_an_owner_fell_silent_waits_for_a_sign_and_no_longer(clocks: Clocks) -> None:
    Store().claims().claim(KEYS)
    clocks.go_on(HOUR)
    assert SILENT_SECONDS <= seconds_held(Store().claims(), clocks, most=HOUR) <= SILENT_SECONDS + 1


@pytest.mark.parametrize("jump", [HOUR, -HOUR, 400 * 24 * HOUR, -400 * 24 * HOUR])
def test_an_owner_who_lives_keeps_its_claims_when_the_clock_jumps(jump: float, clocks: Clocks) -> None:
    first, second = Store().claims(), Store().claims()
    first.claim(KEYS)
    for number in range(60):
        clocks.wall += jump if number == 5 else 0
        assert second.held_by_others(KEYS) == set(KEYS)
        assert second.claim(KEYS) == set()
        clocks.go_on(1)
        if number % LATE == LATE - 1:
            first.renew()


@pytest.mark.parametrize("wrong", [HOUR, -HOUR])
@pytest.mark.parametrize("moves", [1.0, -1.0])
def test_an_owner_whose_clock_is_wrong_and_who_gives_signs_lives(wrong: float, moves: float, clocks: Clocks) -> None:
    others = OwnerWatch(lease=LEASE_SECONDS, enough=SILENT_SECONDS)
    for number in range(60):
        sign = clocks.wall + wrong + moves * (number // LATE)
        assert others.find_dead({"it": sign}, now=clocks.wall) == set()
        clocks.measured += 1


@pytest.mark.parametrize("jump", [HOUR, -HOUR, 400 * 24 * HOUR, -400 * 24 * HOUR])
def test_a_dead_owner_loses_its_claims_soon_after_the_clock_jumped(jump: float, clocks: Clocks) -> None:
    Store().claims().claim(KEYS)
    clocks.wall += jump
    assert SILENT_SECONDS <= seconds_held(Store().claims(), clocks, most=HOUR) <= SILENT_SECONDS + 1


def test_the_time_in_which_nobody_could_give_a_sign_is_no_silence(clocks: Clocks) -> None:
    first, second = Store().claims(), Store().claims()
    first.claim(KEYS)
    assert second.held_by_others(KEYS) == set(KEYS)
    clocks.go_on(HOUR)
    assert second.held_by_others(KEYS) == set(KEYS)
    first.renew()
    assert seconds_held(second, clocks, most=LEASE_SECONDS) == LEASE_SECONDS


@pytest.mark.parametrize("store", ["postgres"], indirect=True)
def test_what_is_renewed_while_somebody_decides_stays_its_owners(
    clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In SQLite nobody renews meanwhile: transactions that write come one after the other.
    first, second = Store().claims(), Store().claims()
    first.claim(KEYS)
    clocks.go_on(HOUR)

    def renewed(*_: Any, **__: Any) -> set[str]:
        first.renew()
        return {first.owner}

    monkeypatch.setattr(second._others, "find_dead", renewed)
    assert second.held_by_others(KEYS) == set(KEYS)


def test_a_process_of_another_machine_keeps_its_claims_until_they_lapse() -> None:
    first, second = Store().claims(), Store().claims()
    first.claim(KEYS)
    become(first, owner="elsewhere.example:1:0")
    assert second.claim(KEYS) == set()


def test_a_claim_outlasts_a_transaction_that_waits_for_a_busy_database() -> None:
    assert LEASE_SECONDS > BUSY_SECONDS + LATE


def test_who_lives_gives_a_sign_before_silence_counts_whatever_one_look_adds() -> None:
    assert SILENT_SECONDS > LATE + GLANCE_SECONDS


def test_one_claim_is_dropped_and_no_other_and_only_by_its_owner() -> None:
    first, second = Store().claims(), Store().claims()
    first.claim(KEYS[:2])
    second.claim(KEYS[2:])
    first.drop(KEYS[2])
    assert first.held_by_others(KEYS) == set(KEYS[2:])
    first.drop(KEYS[0])
    assert second.claim(KEYS) == {KEYS[0], *KEYS[2:]}


def test_an_owner_releases_its_own_claims_alone() -> None:
    first, second = Store().claims(), Store().claims()
    first.claim(KEYS[:2])
    second.claim(KEYS[2:])
    first.release()
    assert first.held_by_others(KEYS) == set(KEYS[2:])
    assert second.claim(KEYS) == set(KEYS)


def test_a_sign_of_life_renews_the_owners_own_claims_alone(clocks: Clocks) -> None:
    first, second, third = Store().claims(), Store().claims(), Store().claims()
    first.claim(KEYS[:2])
    second.claim(KEYS[2:])
    for _ in range(int(LEASE_SECONDS) + 1):
        assert third.held_by_others(KEYS) == set(KEYS)
        clocks.go_on(1)
        first.renew()
    assert third.claim(KEYS) == set(KEYS[2:])


def test_a_claim_holds_as_long_as_its_lease(clocks: Clocks) -> None:
    first, second = Store().claims(), Store().claims()
    first.claim(KEYS[:1])
    assert seconds_held(second, clocks, most=LEASE_SECONDS - 1) == LEASE_SECONDS - 1
    first.renew()
    assert LEASE_SECONDS <= seconds_held(second, clocks, most=HOUR) <= LEASE_SECONDS + 1
    assert second.claim(KEYS[:1]) == set(KEYS[:1])


def test_a_claim_to_what_was_answered_meanwhile_is_given_up() -> None:
    answer(0)
    first, second = Store().claims(), Store().claims(again=True)
    first.claim(KEYS[:1])
    assert second.held_by_others(KEYS[:1]) == set()


def test_more_claims_than_one_statement_takes() -> None:
    keys = [keyed(number).key for number in range(1201)]
    first, second = Store().claims(), Store().claims()
    assert first.claim(keys) == set(keys)
    assert second.held_by_others(keys) == set(keys)
    assert second.claim(keys) == set()


def test_only_the_claims_of_a_process_that_ended_are_free(dead_owner: str) -> None:
    first, second, third = Store().claims(), Store().claims(), Store().claims()
    first.claim(KEYS[:2])
    become(first, owner=dead_owner)
    second.claim(KEYS[2:])
    assert third.claim(KEYS) == set(KEYS[:2])
