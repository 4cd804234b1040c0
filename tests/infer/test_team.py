"""One portion beside others: a budget that holds for all of them, a limit a minute that all keep, one end for all."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.asking.endpoint import SharedBucket
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.infer.team import TeamBudget, report_progress
from contrapose.tasks.store import Store
from contrapose.tasks.store.teams import TeamCounts

CALL = Usage(calls=1, prompt_tokens=100, completion_tokens=32)
PRICE = Price(input=1, output=10)


@pytest.fixture(autouse=True)
def _a_store(request: pytest.FixtureRequest) -> None:
    """SQLite; for what databases do differently, PostgreSQL as well."""
    request.getfixturevalue("store" if "store" in request.fixturenames else "own_store")


class Portion:
    """What asks, with a budget, and may be stopped."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.stopped: str | None = None

    def stop(self, reason: str) -> None:
        self.stopped = reason


def budgets(count: int, limits: Limits, spent: Usage = Usage()) -> list[TeamBudget]:  # noqa: B008
    teams = Store().teams
    team = teams.begin()
    return [
        TeamBudget(limits=limits, price=PRICE, spent=spent, team=team, owner=teams.join(team, str(number)))
        for number in range(count)
    ]


@contextmanager
def reported(budget: TeamBudget) -> Iterator[Portion]:
    portion = Portion(budget)
    with report_progress(budget.owner, portion, Meter()):
        yield portion


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    "limits",
    [Limits(max_calls=200), Limits(max_tokens=200 * 132), Limits(max_cost=200 * 420e-6 + 1e-9)],
    ids=["calls", "tokens", "cost"],
)
def test_together_portions_spend_all_that_is_allowed_and_no_more(limits: Limits) -> None:
    def work(budget: TeamBudget) -> int:
        made, rng = 0, random.Random(budget.owner)
        with reported(budget):
            while True:
                idle = budget.is_idle()
                if budget.reserve(CALL):
                    time.sleep(rng.uniform(0, 0.002))
                    budget.settle(CALL, CALL)
                    made += 1
                elif idle and budget.is_idle():
                    return made
                else:
                    time.sleep(0.02)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(work, budgets(4, limits)))
    assert sum(made) == 200


def test_what_the_others_were_granted_is_told_as_spent() -> None:
    one, two = budgets(2, Limits(max_calls=1))
    assert one.reserve(CALL)
    assert not two.reserve(CALL)
    one.settle(CALL, CALL)
    assert "(1 calls, 132 tokens, $0.0004 spent)" in two.explain(CALL)


def test_a_portion_waits_for_others_whose_requests_may_turn_out_cheaper() -> None:
    one, two = budgets(2, Limits(max_tokens=200))
    assert one.reserve(CALL)
    assert not two.reserve(CALL)
    assert not two.is_idle()
    one.settle(CALL, Usage(calls=1, prompt_tokens=60, completion_tokens=2))
    one.give_back()
    one.give_back()
    time.sleep(0.11)
    assert two.reserve(CALL)


def test_a_portion_gives_back_what_it_has_not_asked_for_lately() -> None:
    one, two = budgets(2, Limits(max_calls=3))
    # Room is granted for one request, then for two.
    for _ in range(2):
        assert one.reserve(CALL)
        one.settle(CALL, CALL)
    one.give_back()
    assert one.granted.calls == 3
    assert not two.reserve(CALL)
    one.give_back()
    assert one.granted == one.own
    time.sleep(0.11)
    assert two.reserve(CALL)


def test_room_of_ones_own_that_becomes_free_is_used_at_once() -> None:
    (budget,) = budgets(1, Limits(max_tokens=132))
    assert budget.reserve(CALL)
    assert not budget.reserve(CALL)
    budget.settle(CALL, Usage(calls=1))
    assert budget.reserve(CALL)


def test_without_limits_nobody_is_asked_for_room() -> None:
    budget = TeamBudget(price=PRICE, team="none", owner="none")
    assert all(budget.reserve(CALL) for _ in range(5000))


def test_the_cost_of_a_portion_is_its_own() -> None:
    (budget,) = budgets(1, Limits(max_calls=10), spent=CALL)
    budget.reserve(CALL)
    budget.settle(CALL, CALL)
    assert budget.cost() == pytest.approx(420e-6)
    assert TeamBudget(team="none", owner="none").cost() is None


@pytest.mark.usefixtures("store")
def test_a_portion_tells_how_far_it_is_and_gives_the_rest_back_at_its_end() -> None:
    one, two = budgets(2, Limits(max_calls=8))
    meter = Meter(done=7, from_store=3, failed=1, requests=4, cost=0.25)
    with report_progress(one.owner, Portion(one), meter):
        for _ in range(4):
            one.reserve(CALL)
            one.settle(CALL, CALL)
    assert Store().teams.counts(one.team) == TeamCounts(done=7, from_store=3, failed=1, requests=4, cost=0.25)
    assert [two.reserve(CALL) for _ in range(5)] == [True] * 4 + [False]


def test_the_reason_of_one_portion_stops_the_others_soon() -> None:
    one, two = budgets(2, Limits())
    with reported(one) as first, reported(two) as second:
        first.stop("the endpoint is gone")
        end = time.monotonic() + 5
        while second.stopped is None and time.monotonic() < end:
            time.sleep(0.05)
        assert second.stopped == "the endpoint is gone"


@pytest.mark.slow
def test_processes_keep_a_limit_a_minute_together() -> None:
    def work(_: int) -> list[float]:
        bucket = SharedBucket("endpoint requests", 1200)
        times = []
        for _ in range(20):
            wait = bucket.take(1)
            time.sleep(wait)
            times.append(time.monotonic())
        return times

    with ThreadPoolExecutor(4) as pool:
        times = sorted(moment for part in pool.map(work, range(4)) for moment in part)
    # Each process may take a quarter of a second's worth at a time.
    assert times[-1] - times[0] >= 79 / 20 - 4 * 0.25
    for start in range(40):
        assert times[start + 39] - times[start] >= 40 / 20 - 4 * 0.25 - 0.05


@pytest.mark.usefixtures("store")
def test_tokens_that_were_taken_too_much_are_lent_again() -> None:
    bucket = SharedBucket("endpoint tokens", 6000)
    bucket.take(100)
    bucket.correct(90)
    # The ninety are there; ten and the next quarter of a second's worth are not.
    assert bucket.take(90) < 1.5
    assert bucket.take(100) == pytest.approx(1.0, abs=0.6)


def test_tokens_that_were_taken_too_little_are_paid_by_the_next() -> None:
    bucket = SharedBucket("endpoint tokens", 6000)
    bucket.take(1)
    bucket.correct(-500)
    bucket.take(1)
    assert bucket.take(1) >= 4
