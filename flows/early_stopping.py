"""A run that may stop early: portions are asked until every test is decided, or nothing is left to ask."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import pyarrow as pa

from contrapose.flows.follow_up_questions import Heard, ask_back
from contrapose.flows.look_schedule import Schedule
from contrapose.flows.orchestration.spinner import silent
from contrapose.flows.orchestration.workers import Submitted
from contrapose.flows.portions import portion_size, results_of, together
from contrapose.flows.run_context import Run, Trials, no_trials, terms
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import Case
from contrapose.tasks.evaluate.gate import GateDecision, decided, rules
from contrapose.tasks.evaluate.summarise import verdict_now
from contrapose.tasks.evaluate.task import figures_in
from contrapose.tasks.forecast.counting import Counter
from contrapose.tasks.infer.chunks import Chunk, chunks, questions_in
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.infer.task import Asked, Terms
from contrapose.tasks.infer.task import infer as infer_task
from contrapose.tasks.store import Store
from contrapose.tasks.store.looks import Settled
from contrapose.tasks.tables.columnar import frame_of
from contrapose.tasks.tables.table import ROWS, Table, read_rows


@dataclass(slots=True, kw_only=True)
class Gradual:
    """A test that is asked portion by portion."""

    plan: Plan
    cases: Table
    """All of them, in the order in which they are asked."""
    schedule: Schedule
    """After which cases one looks."""
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
    results: dict[str, Table] = field(default_factory=dict)
    """Of each table of trials, by its hash: nothing is scored at every look anew."""
    figures: dict[str, pa.Table] = field(default_factory=dict)
    """What these say, by the hash of the results."""
    heard: Heard = field(default_factory=Heard)
    """What was found out about replies that could not be read, likewise."""

    @property
    def over(self) -> bool:
        """Whether all is asked."""
        return self.taken == len(self.schedule.looks)

    @property
    def saved(self) -> int:
        """Questions after the last look; one that several cases share is counted once."""
        counter = Counter(look_up=lambda questions: {})
        counter.add("asked", self._portions(0, self.end))
        asked = counter.total.questions
        counter.add("left", self._portions(self.end, self.cases["rows"]))
        return counter.total.questions - asked

    @property
    def end(self) -> int:
        """How many rows of the cases come before the last look."""
        return self.schedule.looks[self.taken - 1].end if self.taken else 0

    def _portions(self, first: int, end: int) -> Iterator[list[Case]]:
        for start in range(first, end, ROWS):
            yield read_rows(self.cases, Case, first=start, end=min(start + ROWS, end))


def ask_until_decided(run: Run, cases: Mapping[str, Table], meter: Meter) -> list[Gradual]:
    """Every test of a run, asked until it is decided, whatever becomes of the others.

    Where a budget ends before, what was not asked is noted of all tests that are not decided by then. What is asked
    beside other models stops where all of them do.
    """
    settled = Store().looks.settled(run.id)
    tests = [gradual(run, plan, cases[plan.test], beside=settled.runs if settled else ()) for plan in run.plans]
    going = [test for test in tests if not test.over]
    stopped: str | None = None
    while going:
        stopped = ask_next(run, going, meter, stopped=stopped)
        for test in going:
            _look(run, test, tests=len(tests), stopped=stopped)
        certain = [_is_over(test, settled) for test in tests] if settled else decided([t.decision for t in tests])
        going = [test for test, done in zip(tests, certain, strict=True) if not (done or test.over)]
        count_saved(meter, [test for test, done in zip(tests, certain, strict=True) if done])
    return tests


def _is_over(test: Gradual, settled: Settled) -> bool:
    return test.taken >= settled.looks.get(test.plan.test, len(test.schedule.looks))


def gradual(run: Run, plan: Plan, cases: Table, *, beside: Sequence[str]) -> Gradual:
    """A test of which nothing is asked yet, alone or beside other runs."""
    schedule = Schedule.of_portions(run, plan, cases, beside=beside)
    ends = [look.end for look in schedule.looks]
    portions = chunks(plan.test, cases, portion_size(run, cases), ends=ends)
    by_look = {look: list(own) for look, own in groupby(portions, key=lambda chunk: bisect_right(ends, chunk.first))}
    asked, nothing = [by_look.get(look, []) for look in range(len(ends))], no_trials()
    return Gradual(plan=plan, cases=cases, schedule=schedule, portions=asked, replies=nothing, trials=nothing)


def ask_next(run: Run, going: Sequence[Gradual], meter: Meter, *, stopped: str | None) -> str | None:
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
            test.replies, stopped = test.replies.plus(asked), stopped or asked["stopped"]
    meter.take(counted)
    return stopped


def _submit(run: Run, test: Gradual, chunk: Chunk, shared: Terms, *, stopped: str | None) -> Submitted[Asked]:
    return run.workers.submit(
        infer_task,
        label=chunk.label,
        cases=test.cases,
        rows=(chunk.first, chunk.end),
        terms=shared,
        stopped=stopped,
        only_likelihoods=not test.plan.probe_settings.asks_back("none"),
    )


def count_saved(meter: Meter, tests: Iterable[Gradual]) -> None:
    """Let a meter tell how many questions of decided tests need not be asked any more."""
    meter.saved = sum(questions_in(test.cases, first=test.end) for test in tests)


def _look(run: Run, test: Gradual, *, tests: int, stopped: str | None) -> None:
    """Have what was asked read and scored, and hold it against the gates, unless something of it was not asked."""
    complete = not test.replies.unasked
    if complete or test.over:
        read_replies(run, test, stopped=stopped)
    test.decision = decision_now(run, test, tests=tests) if complete else None


def read_replies(run: Run, test: Gradual, *, stopped: str | None) -> None:
    """Have the replies so far read, the model, or the run's reader, asked about those that rules cannot read."""
    name = test.plan.test
    with silent(True):
        test.trials = ask_back(run, {name: test.replies}, stopped=stopped, heard=test.heard)[name]


def decision_now(run: Run, test: Gradual, *, tests: int) -> GateDecision | None:
    """What can be said about the gates at the last look; None where that is nothing yet."""
    evidence = test.schedule.up_to(test.taken).evidence
    parts = []
    for table in results_now(run, test):
        if table["sha256"] not in test.figures:
            test.figures[table["sha256"]] = figures_in(table, test.plan.test)
        parts.append(test.figures[table["sha256"]])
    # Columns that only some of the parts have hold nothing in the others.
    results = pa.concat_tables(parts, promote_options="default")
    frame = frame_of(zip(results.column_names, results.columns, strict=True))
    return verdict_now(frame, test.plan, rules(run.config, test.plan, tests=tests, looks=evidence))


def results_now(run: Run, test: Gradual) -> list[Table]:
    """The results of all trials so far."""
    plan, tables = test.plan, test.trials.tables
    if plan.probe_settings.calibrated:
        # The threshold comes from all controls: one more of them may change how every case is scored.
        return [results_of(run, plan, tables)]
    for table in tables:
        if table["sha256"] not in test.results:
            test.results[table["sha256"]] = results_of(run, plan, [table])
    return [test.results[table["sha256"]] for table in tables]
