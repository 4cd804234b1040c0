"""A run that may stop early: portions are asked until every test is decided, or nothing is left to ask."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import pyarrow as pa

from contrapose.flows.follow_up_questions import FollowUpCache, ask_follow_ups
from contrapose.flows.look_schedule import Schedule
from contrapose.flows.orchestration.spinner import silent
from contrapose.flows.portions import ask_portions, portion_size, score_trials, shared_terms
from contrapose.flows.run_context import Run, Trials
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import Case
from contrapose.tasks.evaluate.gate import GateDecision, decided, rules
from contrapose.tasks.evaluate.summarise import verdict_now
from contrapose.tasks.evaluate.task import figures_in
from contrapose.tasks.forecast.counting import Counter
from contrapose.tasks.infer.chunks import Chunk, chunks, questions_in
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.store import Store
from contrapose.tasks.tables.columnar import frame_of
from contrapose.tasks.tables.table import ROWS, Table, read_rows


@dataclass(slots=True, kw_only=True)
class GradualTest:
    """A test of a run that is asked portion by portion."""

    run: Run
    plan: Plan
    cases: Table
    """All of them, in the order in which they are asked."""
    schedule: Schedule
    """After which cases one looks."""
    portions: list[list[Chunk]]
    """Chunks that are asked before each look."""
    replies: Trials = field(default_factory=Trials)
    """Trials so far, as they were answered."""
    trials: Trials = field(default_factory=Trials)
    """The same, with answers about replies that could not be read."""
    taken: int = 0
    """Looks that are behind."""
    decision: GateDecision | None = None
    """Decision at the last look; None where nothing can be said."""
    scored: dict[str, Table] = field(default_factory=dict)
    """Results of each table of trials, by its hash: nothing is scored again at every look."""
    figures: dict[str, pa.Table] = field(default_factory=dict)
    """Figures of these results, by their hash."""
    cache: FollowUpCache = field(default_factory=FollowUpCache)
    """What is known of replies that could not be read."""

    @property
    def is_over(self) -> bool:
        """True when all is asked."""
        return self.taken == len(self.schedule.looks)

    @property
    def end(self) -> int:
        """Rows of the cases before the last look."""
        return self.schedule.looks[self.taken - 1].end if self.taken else 0

    def read_replies(self, *, stopped: str | None) -> None:
        """Have the replies so far read; the model, or the run's reader, is asked about those that rules cannot read."""
        with silent(True):
            own = {self.plan.test: self.replies}
            self.trials = ask_follow_ups(self.run, own, stopped=stopped, cache=self.cache)[self.plan.test]

    def results(self) -> list[Table]:
        """Return the results of all trials so far."""
        if self.plan.probe_settings.calibrated:
            # The threshold comes from all controls: one more of them may change how every case is scored.
            return [score_trials(self.run, self.plan, self.trials.tables)]
        for table in self.trials.tables:
            if table["sha256"] not in self.scored:
                self.scored[table["sha256"]] = score_trials(self.run, self.plan, [table])
        return [self.scored[table["sha256"]] for table in self.trials.tables]

    def decide(self, *, tests: int) -> GateDecision | None:
        """Compare all results so far with the gates; None where nothing can be said yet."""
        tables = self.results()
        for table in tables:
            if table["sha256"] not in self.figures:
                self.figures[table["sha256"]] = figures_in(table, self.plan.test)
        # Columns that only some of the parts have hold nothing in the others.
        parts = pa.concat_tables((self.figures[table["sha256"]] for table in tables), promote_options="default")
        frame = frame_of(zip(parts.column_names, parts.columns, strict=True))
        looks = self.schedule.up_to(self.taken).evidence
        return verdict_now(frame, self.plan, rules(self.run.config, self.plan, tests=tests, looks=looks))

    def finished_trials(self) -> Trials:
        """Return the trials with their looks, and the questions saved; a question that cases share counts once."""
        counter, counts, ends = Counter(look_up=lambda questions: {}), [0], (0, self.end, self.cases["rows"])
        for first, end in pairwise(ends):
            starts = range(first, end, ROWS)
            counter.add("", (read_rows(self.cases, Case, first=start, end=min(start + ROWS, end)) for start in starts))
            counts.append(counter.total.questions)
        return replace(self.trials, schedule=self.schedule.up_to(self.taken), saved=counts[2] - counts[1])


def prepare_test(run: Run, plan: Plan, cases: Table, *, beside: Sequence[str]) -> GradualTest:
    """Return a test of which nothing is asked yet, alone or side by side with other runs."""
    schedule = Schedule.of_portions(run, plan, cases, beside=beside)
    ends = [look.end for look in schedule.looks]
    portions = chunks(plan.test, cases, portion_size(run, cases), ends=ends)
    by_look = {look: list(own) for look, own in groupby(portions, key=lambda chunk: bisect_right(ends, chunk.first))}
    by_order = [by_look.get(look, []) for look in range(len(ends))]
    return GradualTest(run=run, plan=plan, cases=cases, schedule=schedule, portions=by_order)


def ask_until_decided(run: Run, cases: Mapping[str, Table], meter: Meter) -> dict[str, Trials]:
    """Ask every test of a run until it is decided, whatever becomes of the others; return their trials.

    Where a budget ends before, what was not asked is noted of all tests that are not decided by then. What is asked
    side by side with other models stops where all of them do.
    """
    settled = Store().looks.settled(run.id)
    beside = settled.runs if settled else ()
    tests = [prepare_test(run, plan, cases[plan.test], beside=beside) for plan in run.plans]
    going = [test for test in tests if not test.is_over]
    stopped: str | None = None
    while going:
        stopped = ask_next_portions(run, going, meter, stopped=stopped)
        for test in going:
            complete = not test.replies.unasked
            if complete or test.is_over:
                test.read_replies(stopped=stopped)
            test.decision = test.decide(tests=len(tests)) if complete else None
        if settled:
            last = settled.looks
            certain = [test.taken >= last.get(test.plan.test, len(test.schedule.looks)) for test in tests]
        else:
            certain = decided([test.decision for test in tests])
        going = [test for test, done in zip(tests, certain, strict=True) if not (done or test.is_over)]
        count_saved(meter, [test for test, done in zip(tests, certain, strict=True) if done])
    return {test.plan.test: test.finished_trials() for test in tests}


def ask_next_portions(run: Run, going: Sequence[GradualTest], meter: Meter, *, stopped: str | None) -> str | None:
    """Ask the next portion of each test; return why nothing more is to be asked, if that is so."""
    by_name = {test.plan.test: test for test in going}
    portions = [(test.plan, test.cases, chunk) for test in going for chunk in test.portions[test.taken]]
    with shared_terms(run, run.terms(), meter) as terms:
        for name, asked in ask_portions(run, portions, terms, stopped=stopped):
            by_name[name].replies, stopped = by_name[name].replies.plus(asked), stopped or asked["stopped"]
    for test in going:
        test.taken += 1
    return stopped


def count_saved(meter: Meter, tests: Iterable[GradualTest]) -> None:
    """Let a meter show how many questions of decided tests need not be asked any more."""
    meter.saved = sum(questions_in(test.cases, first=test.end) for test in tests)
