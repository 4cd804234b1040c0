"""Work in portions: how a test's rows are parted, what portions that are asked at the same time share, how far all are.

Cases and results are made in portions only where other processes make them, and there are enough rows: in one process
they would wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import ceil
from threading import Event, Thread
from typing import TypedDict

from contrapose.flows.run_context import Run
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.config.prices import cost_of
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.policy import call
from contrapose.tasks.core.questions import INTERRUPTED
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.evaluate.task import calibrate, evaluate, join_results
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.infer.task import Team, Terms, spent_so_far
from contrapose.tasks.perturb.task import draw_besides, join_cases, perturb, perturb_portion
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import identity_of_store
from contrapose.tasks.tables.table import ROWS, Table

LOOK_SECONDS = 0.5
LEAST_ROWS, MOST_ROWS = 20_000, 100_000
"""Rows of a portion that is perturbed or scored: seconds of work, beside which handing it over does not count."""
LEAST_CASES = 50
"""Cases of a portion, where there are more workers than portions: with fewer, handing them over costs more than it
brings."""
ROUNDS = 2
"""Portions for each worker, where there are few: whoever is done earlier takes another."""


class Seeded(TypedDict):
    """What the cases of every portion depend on."""

    seed: int
    likelihoods: Likelihoods


class Embedding(TypedDict):
    """The model that scorers embed by."""

    embedding_model: str
    embedding_revision: str


def portion_size(run: Run, cases: Table) -> int:
    """How many cases a portion holds: as many as the provider likes, and fewer where workers would have none."""
    most = run.workers.args.portion or run.provider.cases_per_task
    if run.workers.alone or run.workers.args.portion:
        return most
    return min(most, max(LEAST_CASES, ceil(cases["rows"] / (ROUNDS * run.workers.portions))))


def cases_of(run: Run, plan: Plan, samples: Table) -> Table:
    """The cases of a test, perturbed in one piece or in portions."""
    refresh, rows = run.config.refresh, samples["rows"]
    seeded: Seeded = {"seed": run.config.seed, "likelihoods": run.provider.likelihoods(run.spec)}
    if run.workers.inside or rows < LEAST_ROWS:
        return call(perturb, refresh, plan=plan, samples=samples, **seeded)
    drawn = call(draw_besides, refresh, plan=plan, samples=samples, **seeded)
    size = _rows_of_portion(run, rows)
    ranges = [(first, min(first + size, rows)) for first in range(0, rows, size)]
    submitted = [
        run.workers.submit(perturb_portion, refresh, plan=plan, samples=samples, rows=chosen, besides=drawn, **seeded)
        for chosen in ranges
    ]
    tables = [pending.outcome() for pending in submitted]
    return call(join_cases, refresh, test=plan.test, cases=tables)


def results_of(run: Run, plan: Plan, trials: list[Table]) -> Table:
    """The results of a test, scored in one piece or in portions."""
    refresh, rows = run.config.refresh, sum(table["rows"] for table in trials)
    name = run.config.embedding_model
    embedding: Embedding = {"embedding_model": name, "embedding_revision": revision(name)}
    model = run.config.model
    if run.workers.inside or rows < LEAST_ROWS:
        return call(evaluate, refresh, plan=plan, trials=trials, model=model, **embedding)
    if plan.probe_settings.calibrated:
        settings = call(calibrate, refresh, plan=plan, trials=trials, **embedding)
        plan = plan.model_copy(update={"settings": settings})
    submitted = [
        run.workers.submit(evaluate, refresh, plan=plan, trials=portion, model=model, **embedding)
        for portion in _neighbours(trials, _rows_of_portion(run, rows))
    ]
    tables = [pending.outcome() for pending in submitted]
    return call(join_results, refresh, test=plan.test, results=tables)


def _rows_of_portion(run: Run, rows: int) -> int:
    size = min(MOST_ROWS, max(LEAST_ROWS, ceil(rows / (ROUNDS * run.workers.portions))))
    # Whole row groups are read but once.
    return ceil(size / ROWS) * ROWS


def _neighbours(tables: list[Table], rows: int) -> Iterator[list[Table]]:
    """The tables in order, as many together as hold so many rows."""
    held: list[Table] = []
    for table in tables:
        held.append(table)
        if sum(one["rows"] for one in held) >= rows:
            yield held
            held = []
    if held:
        yield held


@contextmanager
def together(run: Run, own: Terms, meter: Meter) -> Iterator[Terms]:
    """The terms of portions that are submitted inside; the meter counts what all of them have done.

    Where the work inside ends by an exception they are stopped: what was answered is kept, and nothing more is asked.
    """
    if run.workers.alone:
        yield own
        return
    teams = Store().teams
    spent, beside = spent_so_far(own)
    team = Team(
        id=teams.begin(), spent=spent, beside=beside, processes=run.workers.processes, store=identity_of_store()
    )
    before = cost_of((spent, own.price), (beside, own.beside_price)) or 0.0
    try:
        with _followed(team.id, meter, before):
            yield replace(own, team=team)
    except BaseException:
        with suppress(ContraposeError):
            teams.stop(team.id, INTERRUPTED)
        raise
    teams.end(team.id)


@contextmanager
def _followed(team: str, meter: Meter, before: float) -> Iterator[None]:
    """Let a meter show what the portions of a team report, as long as they are asked."""
    over = Event()

    def look() -> None:
        counts = Store().teams.counts(team)
        meter.done, meter.from_store, meter.failed = counts.done, counts.from_store, counts.failed
        meter.requests, meter.cost = counts.requests, before + counts.cost

    def go_on() -> None:
        while not over.wait(LOOK_SECONDS):
            # What is shown is not worth a run.
            with suppress(ContraposeError):
                look()

    thread = Thread(target=go_on, name="contrapose-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(ContraposeError):
            look()
