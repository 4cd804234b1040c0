"""Portions that are asked at the same time: what they may spend together, who stopped, and how far they are."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, update

from contrapose.tasks.core.records import Usage
from contrapose.tasks.store import Store
from contrapose.tasks.store.schema import PORTIONS, RATES
from contrapose.tasks.store.teams import TeamCounts, Teams

pytestmark = pytest.mark.usefixtures("store")


def calls(count: int) -> Usage:
    return Usage(calls=count, prompt_tokens=10 * count, completion_tokens=count)


def at_most(limit: int):  # type: ignore[no-untyped-def]
    return lambda usage: usage.calls <= limit


def team_of(*labels: str) -> tuple[Teams, str, list[str]]:
    teams = Store().teams
    team = teams.begin()
    return teams, team, [teams.join(team, label) for label in labels]


def report(teams: Teams, owner: str, spent: int = 0, *, over: bool = False, stopped: str | None = None) -> str | None:
    return teams.report(owner, TeamCounts(done=spent), spent=calls(spent), over=over, stopped=stopped)


def test_portions_are_granted_no_more_than_all_may_have() -> None:
    teams, team, (one, two) = team_of("a", "b")
    first = teams.grant(team, one, wanted=(calls(8), calls(1), calls(0)), settled=calls(0), fits=at_most(10))
    second = teams.grant(team, two, wanted=(calls(8), calls(1), calls(0)), settled=calls(0), fits=at_most(10))
    third = teams.grant(team, two, wanted=(calls(8), calls(3), calls(1)), settled=calls(1), fits=at_most(10))
    assert (first.usage, first.others, first.others_idle) == (calls(8), calls(0), True)
    assert (second.usage, second.others, second.others_idle) == (calls(1), calls(8), False)
    assert third.usage == calls(1)


def test_what_a_portion_gives_back_others_may_have() -> None:
    teams, team, (one, two) = team_of("a", "b")
    teams.grant(team, one, wanted=(calls(10), calls(0)), settled=calls(0), fits=at_most(10))
    report(teams, one, 4)
    assert teams.grant(team, two, wanted=(calls(1), calls(0)), settled=calls(0), fits=at_most(10)).usage == calls(0)
    report(teams, one, 4, over=True)
    grant = teams.grant(team, two, wanted=(calls(6), calls(0)), settled=calls(0), fits=at_most(10))
    assert (grant.usage, grant.others, grant.others_idle) == (calls(6), calls(4), True)


def test_portions_at_once_share_one_budget() -> None:
    teams, team, owners = team_of(*map(str, range(24)))

    def take(owner: str) -> int:
        held = 0
        while True:
            grant = teams.grant(
                team, owner, wanted=(calls(held + 3), calls(held)), settled=calls(held), fits=at_most(100)
            )
            if grant.usage.calls == held:
                return held
            held = grant.usage.calls

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(take, owners))
    assert 97 < sum(taken) <= 100


def test_a_portion_that_has_ended_keeps_nobody_waiting_and_its_room_counts_as_spent(dead_owner: str) -> None:
    teams, team, (one, two) = team_of("a", "b")
    teams.grant(team, one, wanted=(calls(5), calls(0)), settled=calls(0), fits=at_most(10))
    with teams.engine.begin() as connection:
        connection.execute(update(PORTIONS).where(PORTIONS.c.owner == one).values(owner=dead_owner))
    grant = teams.grant(team, two, wanted=(calls(6), calls(5), calls(0)), settled=calls(0), fits=at_most(10))
    assert (grant.usage, grant.others, grant.others_idle) == (calls(5), calls(5), True)


def test_a_portion_of_another_machine_is_waited_for_as_long_as_its_lease() -> None:
    teams, team, (one, two) = team_of("a", "b")
    teams.grant(team, one, wanted=(calls(5), calls(0)), settled=calls(0), fits=at_most(10))
    with teams.engine.begin() as connection:
        connection.execute(update(PORTIONS).where(PORTIONS.c.owner == one).values(owner="elsewhere/1:1:x"))
    ask = {"wanted": (calls(1), calls(0)), "settled": calls(0), "fits": at_most(10)}
    assert not teams.grant(team, two, **ask).others_idle  # type: ignore[arg-type]
    with teams.engine.begin() as connection:
        late = update(PORTIONS).where(PORTIONS.c.owner == "elsewhere/1:1:x").values(until=time.time() - 1)
        connection.execute(late)
    assert teams.grant(team, two, **ask).others_idle  # type: ignore[arg-type]


def test_the_reason_of_one_stops_all_and_no_other_team() -> None:
    teams, _, (one, two) = team_of("a", "b")
    _, _, (other,) = team_of("c")
    assert report(teams, one) is None
    assert report(teams, two, stopped="the endpoint is gone") == "the endpoint is gone"
    assert report(teams, one) == "the endpoint is gone"
    assert report(teams, other) is None


def test_whoever_begins_a_team_can_stop_it() -> None:
    teams, team, (one,) = team_of("a")
    teams.stop(team, "interrupted")
    assert report(teams, one) == "interrupted"


def test_counts_are_those_of_all_portions_and_of_a_repeated_one_once() -> None:
    teams, team, (one, two) = team_of("a", "b")
    counts = TeamCounts(done=5, from_store=2, failed=1, requests=4, cost=0.5)
    for owner in (one, two):
        teams.report(owner, counts, spent=calls(4), over=False, stopped=None)
    assert teams.counts(team) == TeamCounts(done=10, from_store=4, failed=2, requests=8, cost=1.0)
    again = teams.join(team, "a")
    assert teams.counts(team) == TeamCounts(done=5, from_store=2, failed=1, requests=8, cost=1.0)
    teams.report(again, counts, spent=calls(4), over=True, stopped=None)
    assert teams.counts(team).done == 10


def test_a_team_that_has_ended_is_forgotten() -> None:
    teams, team, _ = team_of("a", "b")
    _, other, _ = team_of("c")
    teams.end(team)
    assert teams.counts(team) == TeamCounts()
    with teams.engine.begin() as connection:
        assert set(connection.execute(select(PORTIONS.c.team)).scalars()) == {other}


def test_what_a_killed_run_left_is_forgotten_a_month_later() -> None:
    teams, _, _ = team_of("a")
    with teams.engine.begin() as connection:
        connection.execute(update(PORTIONS).values(until=time.time() - 31 * 86_400))
    other = teams.begin()
    with teams.engine.begin() as connection:
        assert set(connection.execute(select(PORTIONS.c.team)).scalars()) == {other}


def test_places_in_a_row_follow_each_other_whoever_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    # The clock of the database stands: what is waited for is then a place in the row.
    monkeypatch.setattr("contrapose.tasks.store.teams.get_database_time", lambda _: 1_000.0)
    teams = Store().teams
    with ThreadPoolExecutor(8) as pool:
        waits = sorted(pool.map(lambda _: teams.slots("endpoint", 1, rate=20), range(40)))
    assert waits == pytest.approx([place / 20 for place in range(40)])


def test_a_row_that_nobody_used_lends_nothing_and_another_key_is_another_row() -> None:
    teams = Store().teams
    assert teams.slots("one", 10, rate=5) == 0
    assert teams.slots("one", 1, rate=5) == pytest.approx(2, abs=0.5)
    assert teams.slots("two", 1, rate=5) == 0


def test_a_clock_that_was_set_back_keeps_nobody_waiting() -> None:
    teams = Store().teams
    teams.slots("one", 1, rate=5)
    with teams.engine.begin() as connection:
        connection.execute(update(RATES).values(free=time.time() + 10_000))
    assert teams.slots("one", 1, rate=5) == 0
