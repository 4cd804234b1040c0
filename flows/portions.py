"""Portions of a run: divide the rows, and ask the portions with a shared budget and progress.

Cases and results are made in portions only where other processes make them, and there are enough rows: in one process
they would wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import ceil
from typing import Any

from contrapose.flows.run_context import Run, Trials
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.config.prices import add_costs
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.policy import call_task
from contrapose.tasks.core.questions import INTERRUPTED
from contrapose.tasks.evaluate.task import calibrate, evaluate, join_results
from contrapose.tasks.infer.chunks import Chunk
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.infer.task import InferOutcome, Team, Terms, infer, read_spending
from contrapose.tasks.infer.thoughts import mark_thoughts
from contrapose.tasks.perturb.task import draw_besides, draw_wordings, join_cases, perturb, perturb_portion
from contrapose.tasks.perturb.wordings import count_wordings
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import get_store_identity
from contrapose.tasks.store.owners import send_beats
from contrapose.tasks.tables.table import ROWS, Table

LOOK_SECONDS = 0.5
LEAST_ROWS, MOST_ROWS = 20_000, 100_000
"""Rows of a portion that is perturbed or scored: seconds of work, compared with which handing it over is cheap."""
LEAST_CASES = 50
"""Cases of a portion, where there are more workers than portions: fewer cost more to hand over than they bring."""
ROUNDS = 2
"""Portions for each worker, where there are few: a worker that is done earlier takes another."""


def choose_size(run: Run, cases: Table) -> int:
    """Return the number of cases in a portion: as the provider prefers, or fewer so that every worker has one."""
    most = run.workers.args.portion or run.provider.cases_per_task
    if run.workers.alone or run.workers.args.portion:
        return most
    return min(most, max(LEAST_CASES, ceil(cases["rows"] / (ROUNDS * run.workers.portions))))


def make_cases(run: Run, plan: Plan, samples: Table) -> Table:
    """Return the cases of a test, made at once or in portions."""
    refresh, rows = run.config.refresh, samples["rows"]
    seeded: dict[str, Any] = {"seed": run.config.seed, "likelihoods": run.likelihoods}
    if run.workers.inside or rows < LEAST_ROWS:
        return call_task(perturb, refresh, plan=plan, samples=samples, **seeded)
    besides = call_task(draw_besides, refresh, plan=plan, samples=samples, **seeded)
    wordings: list[tuple[int, ...]] = []
    if count_wordings(plan)[0] > 1:
        wordings = call_task(draw_wordings, refresh, plan=plan, samples=samples, seed=run.config.seed)
    size = _choose_row_count(run, rows)
    submitted = [
        run.workers.submit(
            perturb_portion,
            refresh,
            plan=plan,
            samples=samples,
            rows=(first, min(first + size, rows)),
            besides=besides,
            wordings=wordings[first : first + size],
            **seeded,
        )
        for first in range(0, rows, size)
    ]
    return call_task(join_cases, refresh, test=plan.test, cases=[pending.outcome() for pending in submitted])


def score_trials(run: Run, plan: Plan, trials: list[Table]) -> Table:
    """Return the results of a test, scored at once or in portions."""
    refresh, model = run.config.refresh, run.config.model
    rows = sum(table["rows"] for table in trials)
    if run.workers.inside or rows < LEAST_ROWS:
        return call_task(evaluate, refresh, plan=plan, trials=trials, model=model, **run.embedding)
    if plan.probe_settings.calibrated:
        settings = call_task(calibrate, refresh, plan=plan, trials=trials, **run.embedding)
        plan = plan.model_copy(update={"settings": settings})
    size, portions = _choose_row_count(run, rows), [list[Table]()]
    for table in trials:
        if sum(other["rows"] for other in portions[-1]) >= size:
            portions.append([])
        portions[-1].append(table)
    submitted = [
        run.workers.submit(evaluate, refresh, plan=plan, trials=portion, model=model, **run.embedding)
        for portion in portions
    ]
    return call_task(join_results, refresh, test=plan.test, results=[pending.outcome() for pending in submitted])


def mark_unclosed_thoughts(trials: Mapping[str, Trials]) -> dict[str, Trials]:
    """Return the trials; if some replies begin with a reasoning part, mark the replies in which it does not end."""
    if not any(own.thinks for own in trials.values()):
        return dict(trials)
    marked = dict(trials)
    for test, own in trials.items():
        tables, counts = zip(*map(mark_thoughts, own.tables), strict=True) if own.tables else ((), ())
        marked[test] = replace(own, tables=list(tables), unread={**own.unread, "thought": sum(counts)})
    return marked


def _choose_row_count(run: Run, rows: int) -> int:
    size = min(MOST_ROWS, max(LEAST_ROWS, ceil(rows / (ROUNDS * run.workers.portions))))
    # Each complete row group is read once.
    return ceil(size / ROWS) * ROWS


def ask_portions(
    run: Run, portions: Iterable[tuple[Plan, Table, Chunk]], terms: Terms, *, stopped: str | None = None
) -> Iterator[tuple[str, InferOutcome]]:
    """Ask portions of cases one after another, or submit them all; yield the test and outcome of each."""
    submitted = []
    for plan, cases, chunk in portions:
        pending = run.workers.submit(
            infer,
            label=chunk.label,
            cases=cases,
            rows=(chunk.first, chunk.end),
            terms=terms,
            stopped=stopped,
            only_likelihoods=not plan.probe_settings.asks_back("none"),
        )
        stopped = stopped or (pending.outcome()["stopped"] if pending.done else None)
        submitted.append((plan.test, pending))
    for test, pending in submitted:
        yield test, pending.outcome()


@contextmanager
def share_terms(run: Run, own: Terms, meter: Meter) -> Iterator[Terms]:
    """Yield the terms for portions that are submitted inside; the meter adds up their work.

    Where the work inside ends by an exception they are stopped: what was answered is kept, and nothing more is asked.
    """
    if run.workers.alone:
        yield own
        return
    teams = Store().teams
    spent, beside = read_spending(own)
    team = Team(
        id=teams.begin(), spent=spent, beside=beside, processes=run.workers.processes, store=get_store_identity()
    )
    before, cost = replace(meter), add_costs((spent, own.price), (beside, own.beside_price)) or 0.0

    def read_counts() -> None:
        counts = teams.counts(team.id)
        meter.done, meter.from_store = before.done + counts.done, before.from_store + counts.from_store
        meter.failed, meter.requests = before.failed + counts.failed, before.requests + counts.requests
        meter.cost = cost + counts.cost

    try:
        with send_beats(read_counts, every=LOOK_SECONDS):
            yield replace(own, team=team)
    except BaseException:
        with suppress(ContraposeError):
            teams.stop(team.id, INTERRUPTED)
        raise
    finally:
        # What is shown is not worth a run.
        with suppress(ContraposeError):
            read_counts()
    teams.end(team.id)
