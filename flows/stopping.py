"""A run that may stop early: portions are asked until every test is decided, or nothing is left to ask."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import pandas as pd
import pyarrow as pa

from contrapose.flows.asking_back import Heard, ask_back
from contrapose.flows.orchestration.at_work import silent
from contrapose.flows.orchestration.workers import Submitted
from contrapose.flows.run_context import Run, Trials, terms
from contrapose.flows.teamwork import portion_size, results_of, together
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.evaluate.gate import GateDecision, decided, rules
from contrapose.tasks.evaluate.summarise import figures_in, scored, verdict_now
from contrapose.tasks.infer.chunks import Chunk, chunks, questions_in
from contrapose.tasks.infer.looks import Look, looks
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.infer.task import Asked, Terms
from contrapose.tasks.infer.task import infer as infer_task
from contrapose.tasks.statistics.looks import Looks
from contrapose.tasks.tables.table import Table, first_rows

Add = Callable[[Trials, Asked], Trials]
"""Trials, and those of a further portion."""


@dataclass(slots=True, kw_only=True)
class Gradual:
    """A test that is asked portion by portion."""

    plan: Plan
    cases: Table
    """All of them, in the order in which they are asked."""
    looks: list[Look]
    """After which cases one looks; empty where none is judged."""
    portions: list[list[Chunk]]
    """What is asked before each look."""
    replies: Trials
    """Whatever was asked so far, as it was answered."""
    trials: Trials
    """The same, with what was said about replies that could not be read."""
    taken: int = 0
    """Looks that are behind."""
    decision: GateDecision | None = None
    """What the last look says; None where that is nothing."""
    figures: dict[str, pa.Table] = field(default_factory=dict)
    """The results of each table of trials, by its hash: nothing is scored at every look anew."""
    heard: Heard = field(default_factory=Heard)
    """What was found out about replies that could not be read, likewise."""

    @property
    def over(self) -> bool:
        """Whether all is asked."""
        return self.taken == len(self.looks)

    @property
    def shares(self) -> tuple[float, ...]:
        """Of the cases that may be judged, how many were so at each look."""
        return tuple(look.judged / self.looks[-1].judged for look in self.looks[: self.taken]) or (1.0,)

    @property
    def asked_cases(self) -> Table:
        """The cases up to the last look."""
        return self.cases if self.over else first_rows(self.cases, self.looks[self.taken - 1].end)


def ask_until_decided(run: Run, cases: Mapping[str, Table], meter: Meter, add: Add) -> list[Gradual]:
    """Every test of a run, asked until it is decided, whatever becomes of the others.

    Where a budget ends before, what was not asked is noted of all tests that are not decided by then.
    """
    tests = [_gradual(run, plan, cases[plan.test]) for plan in run.plans]
    going = [test for test in tests if not test.over]
    stopped: str | None = None
    while going:
        stopped = _ask(run, going, meter, add, stopped=stopped)
        for test in going:
            _look(run, test, tests=len(tests), stopped=stopped)
        certain = decided([test.decision for test in tests])
        going = [test for test, done in zip(tests, certain, strict=True) if not (done or test.over)]
        meter.saved = sum(
            questions_in(test.cases) - questions_in(test.asked_cases)
            for test, done in zip(tests, certain, strict=True)
            if done
        )
    return tests


def _gradual(run: Run, plan: Plan, cases: Table) -> Gradual:
    places = looks(cases, size=run.config.runner_args.portion)
    ends = [look.end for look in places]
    portions = chunks(plan.test, cases, portion_size(run, cases), ends=ends)
    by_look = {look: list(own) for look, own in groupby(portions, key=lambda chunk: bisect_right(ends, chunk.first))}
    nothing = Trials(tables=[], asked=0, unasked=0, stopped=None, notes={})
    asked = [by_look.get(look, []) for look in range(len(places))]
    return Gradual(plan=plan, cases=cases, looks=places, portions=asked, replies=nothing, trials=nothing)


def _ask(run: Run, going: Sequence[Gradual], meter: Meter, add: Add, *, stopped: str | None) -> str | None:
    """Ask the next portion of each test; returns why nothing is to be asked any more, if that is so."""
    submitted: list[tuple[Gradual, Submitted[Asked]]] = []
    counted = Meter()
    with together(run, terms(run), counted) as shared:
        for test in going:
            for chunk in test.portions[test.taken]:
                pending = _submit(run, test, chunk, shared, stopped=stopped)
                stopped = stopped or (pending.outcome()["stopped"] if pending.done else None)
                submitted.append((test, pending))
            test.taken += 1
        for test, pending in submitted:
            asked = pending.outcome()
            test.replies, stopped = add(test.replies, asked), stopped or asked["stopped"]
    meter.take(counted)
    return stopped


def _submit(run: Run, test: Gradual, chunk: Chunk, shared: Terms, *, stopped: str | None) -> Submitted[Asked]:
    rows = (chunk.first, chunk.end)
    return run.workers.submit(infer_task, label=chunk.label, cases=test.cases, rows=rows, terms=shared, stopped=stopped)


def _look(run: Run, test: Gradual, *, tests: int, stopped: str | None) -> None:
    """Have what was asked read and scored, and hold it against the gates, unless something of it was not asked."""
    name, complete = test.plan.test, not test.replies.unasked
    if complete or test.over:
        with silent(True):
            test.trials = ask_back(run, {name: test.replies}, stopped=stopped, heard=test.heard)[name]
    wanted = rules(run.config, test.plan, tests=tests, looks=Looks(shares=test.shares))
    test.decision = verdict_now(_results(run, test), test.plan, wanted) if complete else None


def _results(run: Run, test: Gradual) -> pd.DataFrame:
    """The results of all trials so far."""
    plan, tables = test.plan, test.trials.tables
    if plan.probe_settings.calibrated:
        # The threshold comes from all controls: one more of them may change how every case is scored.
        return scored(results_of(run, plan, tables), plan.test)
    for table in tables:
        if table["sha256"] not in test.figures:
            test.figures[table["sha256"]] = figures_in(results_of(run, plan, [table]), plan.test)
    parts = [test.figures[table["sha256"]] for table in tables]
    # Columns that only some of the parts have hold nothing in the others.
    return pd.DataFrame(pa.concat_tables(parts, promote_options="default").to_pandas())
