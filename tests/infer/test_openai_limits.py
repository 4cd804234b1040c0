"""The parts that limit and judge, by a clock of their own."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from email.utils import formatdate

import pytest

from contrapose.tasks.infer.asking.endpoint import Breaker, Bucket, ConcurrencyLimiter
from contrapose.tasks.infer.asking.outcomes import draw_retry_delay, read_retry_after


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_lends_and_spreads() -> None:
    clock = Clock()
    bucket = Bucket(60, clock=clock)
    assert [bucket.take(1) for _ in range(3)] == [0, 1, 2]
    clock.now += 3
    assert bucket.take(1) == 0


def test_a_bucket_is_corrected_by_what_was_used() -> None:
    bucket = Bucket(600, clock=Clock())
    bucket.take(110)
    bucket.correct(100)
    assert bucket.take(10) == 1.0


def test_concurrency_halves_once_a_round_trip_and_comes_back() -> None:
    limiter = ConcurrencyLimiter(16)
    sent = time.monotonic()
    for _ in range(10):
        limiter.record_overload(sent)
    assert (limiter.limit, limiter.lowest) == (8.0, 8)
    for _ in range(200):
        limiter.record_answer()
    assert limiter.limit == 16


@pytest.mark.parametrize(("late", "limit"), [(5, 16.0), (60, 8.0)])
def test_time_outs_halve_concurrency_when_they_are_many(late: int, limit: float) -> None:
    limiter = ConcurrencyLimiter(16)
    sent = time.monotonic()
    for _ in range(100):
        limiter.record_answer()
    for _ in range(late):
        limiter.record_timeout(sent)
    assert limiter.limit == limit


def test_the_event_loops_of_several_threads_share_a_limit() -> None:
    limiter, seen, live = ConcurrencyLimiter(2), [], []

    async def work() -> None:
        async with limiter:
            live.append(1)
            seen.append(len(live))
            await asyncio.sleep(0.005)
            live.pop()

    async def many() -> None:
        await asyncio.gather(*(work() for _ in range(10)))

    threads = [threading.Thread(target=lambda: asyncio.run(many())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(seen) == 30
    assert max(seen) == 2


def test_a_waiter_that_is_cancelled_keeps_no_place() -> None:
    async def scene() -> None:
        limiter = ConcurrencyLimiter(1)
        async with limiter:
            waiter = asyncio.create_task(limiter.__aenter__())
            await asyncio.sleep(0)
            waiter.cancel()
            await asyncio.gather(waiter, return_exceptions=True)
        async with asyncio.timeout(1), limiter:
            pass

    asyncio.run(scene())


def test_an_endpoint_that_never_answered_is_gone_after_a_while() -> None:
    clock = Clock()
    breaker = Breaker(30, clock=clock)
    sent = breaker.start_request()
    breaker.record_limit("status 429")
    clock.now += 49
    assert breaker.explain_if_gone() is None
    clock.now += 2
    assert "answered nothing in 51 s; the last: status 429" in str(breaker.explain_if_gone())
    assert sent == 100


def test_what_hung_before_an_answer_says_nothing_about_now() -> None:
    clock = Clock()
    breaker = Breaker(30, clock=clock)
    sent = [breaker.start_request() for _ in range(40)]
    clock.now += 1
    breaker.record_answer()
    clock.now += 30
    for each in sent:
        breaker.record_failure("no complete reply", each)
    assert breaker.explain_if_gone() is None


@pytest.mark.parametrize("trusted", [True, False])
def test_an_endpoint_must_fail_for_some_seconds(trusted: bool) -> None:
    clock = Clock()
    breaker = Breaker(30, trusted=trusted, clock=clock)
    for _ in range(25):
        breaker.record_failure("status 500", breaker.start_request())
    clock.now += 15
    assert breaker.explain_if_gone() is None
    clock.now += 6
    assert "25 times in a row" in str(breaker.explain_if_gone())


@pytest.mark.parametrize(("trusted", "needed"), [(False, 10), (True, 20)])
def test_what_cannot_be_read_needs_no_patience(trusted: bool, needed: int) -> None:
    clock = Clock()
    breaker = Breaker(30, trusted=trusted, clock=clock)
    for number in range(needed):
        assert breaker.explain_if_gone() is None
        sent = breaker.start_request()
        clock.now += 0.01
        breaker.record_unreadable(f"reply {number}", sent)
    assert f"{needed} replies in a row that are none; the last: reply {needed - 1}" in str(breaker.explain_if_gone())


def test_what_is_cut_off_at_once_is_a_server_that_dies() -> None:
    clock = Clock()
    breaker = Breaker(30, clock=clock)
    sent = [breaker.start_request() for _ in range(40)]
    clock.now += 1
    for each in sent:
        breaker.record_unreadable("cut off", each)
    assert breaker.explain_if_gone() is None
    breaker.record_unreadable("cut off", breaker.start_request())
    assert breaker.explain_if_gone() is not None


def test_an_answer_makes_up_for_all_that_could_not_be_read() -> None:
    breaker = Breaker(30, clock=Clock())
    for _ in range(3):
        for _ in range(9):
            breaker.record_unreadable("HTML", breaker.start_request())
        assert breaker.explain_if_gone() is None
        breaker.record_answer()


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_independent_faults_never_count_as_the_end(share: float) -> None:
    clock, rng = Clock(), random.Random(1)
    breaker = Breaker(30, clock=clock)
    for _ in range(20_000):
        sent = breaker.start_request()
        clock.now += 0.05
        if rng.random() < share:
            breaker.record_failure("status 500", sent)
        else:
            breaker.record_answer()
        assert breaker.explain_if_gone() is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


def test_the_wait_may_be_a_date() -> None:
    wait = read_retry_after({"retry-after": formatdate(time.time() + 30, usegmt=True)})
    assert 25 < wait <= 31


def test_waits_double_up_to_a_limit_and_are_spread() -> None:
    longest = [max(draw_retry_delay(failures) for _ in range(1000)) for failures in (1, 2, 3, 9)]
    assert longest == pytest.approx([0.5, 1, 2, 8], rel=0.05)
