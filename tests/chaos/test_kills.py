"""Kills at random moments: what is asked twice is what was in flight, and the results are the same."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from batch_server import BatchServer
from disturbed import IN_FLIGHT, Run, asked_twice, in_flight, kill
from fake_endpoint import Request, serving_this

KILLS = int(os.environ.get("CONTRAPOSE_CHAOS_KILLS", "50"))
"""On each kind of store."""
SEED = int(os.environ.get("CONTRAPOSE_CHAOS_SEED", "0"))
REPORT_KILLS = BATCH_KILLS = max(KILLS // 5, 4)
REPORTING = 1.5
"""Seconds after which a report is written that was begun."""
STARTING = 0.3
"""Share of the kills before the first question is asked."""
ASKING = 1.5
"""Seconds of asking before a kill, at most."""
SLACK = 1.0
"""Seconds: a reply that the server had sent earlier than this before a kill must be in the store."""
SETTLED = 0.3
"""Seconds after which what a process sent to a server before its end has arrived."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(120 + 60 * KILLS), pytest.mark.usefixtures("prefect_server")]


@dataclass(frozen=True, kw_only=True)
class Killed:
    """A run that was killed."""

    began: float
    moment: float
    kept: frozenset[str]
    """Prompts whose answers were in the store afterwards."""

    def lost(self, requests: list[Request], until: float) -> list[Request]:
        """What it had asked and could not keep."""
        own = [each for each in requests if self.began <= each.came < until]
        return [each for each in own if each.prompt not in self.kept]


def killed(run: Run, *, asking: bool, seconds: float) -> Killed:
    """Start it, and kill it some seconds after its first question, or after its start and at its first question."""
    began, before = time.monotonic(), len(run.endpoint.requests)
    process = run.start()
    if asking:
        run.until_asked(process)
        time.sleep(seconds)
    while not asking and time.monotonic() < began + seconds and len(run.endpoint.requests) == before:
        # On a busy machine it may come to ask much sooner than the calm run did, and would ask all there is.
        time.sleep(0.01)
    assert process.poll() is None, "the run had ended before it was to be killed"
    moment = kill(process)
    time.sleep(SETTLED)
    return Killed(began=began, moment=moment, kept=frozenset(run.stored()))


def test_what_is_asked_twice_was_in_flight_at_a_kill(
    run: Run, store: str, calm: Callable[[Run], Any], note: Callable[..., None]
) -> None:
    rng = random.Random(SEED)
    run = replace(run, store=store, tests=("order_bias", "add_toxic_words"), limit=None)
    whole = calm(run)
    starting = round(KILLS * STARTING)
    # As slow as it takes to have questions left at the last kill.
    most = (KILLS - starting) * ASKING / 2 * IN_FLIGHT
    run.endpoint.delay = max(0.2, most / (0.7 * len(whole.prompts)))
    kills: list[Killed] = []
    for asking in rng.sample([False] * starting + [True] * (KILLS - starting), KILLS):
        kills.append(killed(run, asking=asking, seconds=rng.uniform(0, ASKING if asking else whole.ended.seconds / 3)))
        assert len(kills) == 1 or kills[-2].kept <= kills[-1].kept, "an answer was lost that had been kept"
    assert kills[-1].kept < whole.prompts, "all was asked before the last kill"
    last = run.ended()
    assert last.code == 0, last
    assert run.results().equals(whole.results)
    seen, ends = run.endpoint.requests, [*(each.began for each in kills[1:]), last_began(kills)]
    lost = [(each, request) for each, end in zip(kills, ends, strict=True) for request in each.lost(seen, end)]
    late = sum(request.left <= each.moment for each, request in lost)
    note(
        f"kills, {run.store.partition(':')[0]}",
        run.endpoint,
        kills=len(kills),
        in_flight=sum(in_flight(seen, each.moment) for each in kills),
        outcome=f"{late} of those asked twice were answered less than {SLACK:.0f} s before a kill; the same results",
    )
    assert set(run.endpoint.asked) == whole.prompts == run.stored()
    assert asked_twice(seen) == Counter(request.prompt for _, request in lost)
    for each, request in lost:
        assert request.left > each.moment - SLACK, "answered before a kill, and asked again"


def test_a_run_that_is_killed_while_it_writes_its_report_asks_nothing_again(
    run: Run, calm: Callable[[Run], Any], note: Callable[..., None]
) -> None:
    whole, rng = calm(run), random.Random(SEED)
    assert run.ended().code == 0
    asked = Counter(run.endpoint.asked)
    files = {path.name for path in run.newest.iterdir()}
    writing = 0
    for _ in range(REPORT_KILLS):
        before = set(run.out.iterdir())
        process = run.start()
        while process.poll() is None and not set(run.out.iterdir()) > before:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, REPORTING))
        writing += process.poll() is None
        kill(process)
        for folder in run.out.glob("[!.]*"):
            assert {path.name for path in folder.iterdir()} == files, "a folder of a run is shown before it is complete"
    assert writing >= REPORT_KILLS / 2, "most runs had ended before they were to be killed"
    assert run.ended().code == 0
    assert Counter(run.endpoint.asked) == asked
    assert run.results().equals(whole.results)
    note("kills while the report is written", run.endpoint, kills=writing, outcome="nothing asked; the same results")


def test_a_batch_whose_commands_are_killed_is_submitted_once(
    run: Run, calm: Callable[[Run], Any], note: Callable[..., None]
) -> None:
    whole, rng = calm(run), random.Random(SEED)
    with serving_this(BatchServer(delay_made=0.5, looks=2)) as server:
        run = replace(run, endpoint=server)
        startup, killed = run.ended(run.start("batch", "status")).seconds, 0
        for words in (("batch", "submit", *run.configuration()), ("batch", "collect", "--wait", "--every", "0.2")):
            for _ in range(BATCH_KILLS):
                process = run.start(*words)
                # From before the store is opened to after the last change.
                time.sleep(rng.uniform(0.5, 1.5) * startup)
                killed += process.poll() is None
                kill(process)
            last = run.ended(run.start(*words))
            assert last.code == 0, last
        assert set(server.paid.values()) == {1}, "a prompt was in two batches"
        assert len(server.paid) == len(whole.prompts)
        assert run.ended().code == 0
        assert not server.asked, "a prompt was asked that a batch had answered"
        assert run.results().equals(whole.results)
        assert killed >= BATCH_KILLS, "most commands had ended before they were to be killed"
        outcome = f"{len(server.batches)} batches, each prompt in one; the same results"
        note("kills of batch submit and batch collect", server, kills=killed, outcome=outcome)


def last_began(kills: list[Killed]) -> float:
    """When the run began that nobody killed: after all that a killed one had sent had arrived."""
    return kills[-1].moment + SETTLED
