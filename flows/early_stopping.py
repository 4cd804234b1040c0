"""Early stopping: ask the cases in portions until every test is decided, or all cases are asked."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import pyarrow as pa

from contrapose.flows.follow_up_questions import FollowUpCache, ask_follow_ups
from contrapose.flows.orchestration.spinner import hide_progress
from contrapose.flows.portions import ask_portions, choose_size, mark_unclosed_thoughts, score_trials, share_terms
from contrapose.flows.run_context import Run, Trials
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import Case
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.gate import GateDecision, find_decided_tests, make_rules
from contrapose.tasks.evaluate.gated_rates import decide_early
from contrapose.tasks.evaluate.task import read_figures
from contrapose.tasks.forecast.counting import CallCounter
from contrapose.tasks.infer.chunks import Chunk, Look, count_questions, list_looks, yield_chunks
from contrapose.tasks.infer.meter import Meter
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.store import Store
from contrapose.tasks.tables.table import ROWS, Table, batches, read_rows

COLUMNS = ["id", "original", "skip_reason", "control"]
MOST = 100_000
"""Rows of cases by which an earlier look is known: so many leave no verdict open that is worth another look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The looks of a test: when a run compares its results with its gates."""

    run: str
    """Id of the run."""
    key: str = field(repr=False)
    """Hash of what the verdict is about, but for the cases."""
    hashes: list[str] = field(repr=False)
    """Of every case that is judged, in order; empty where there are too many to be known again."""
    earlier: tuple[int, ...]
    """By how many cases earlier runs judged it and left it open, ascending."""
    looks: tuple[Look, ...] = ()
    """Of this run, up to now."""
    total: int = 0
    """Cases that are judged at the last look there may be."""
    beside: tuple[str, ...] = ()
    """Ids of the runs that are asked the same side by side, this one too; empty where it is asked alone."""

    @classmethod
    def _of_test(cls, run: Run, plan: Plan, cases: Table) -> Schedule:
        """Return the schedule of a test, without looks of this run yet."""
        key, hashes = _hash_subject(run, plan), list[str]()
        for part in batches(cases, columns=COLUMNS) if cases["rows"] <= MOST else ():
            for name, original, skipped, control in zip(*(part[column].to_pylist() for column in COLUMNS), strict=True):
                if skipped is None and not control:
                    text = f"{name}\x00{original}".encode("utf-8", "surrogatepass")
                    hashes.append(hashlib.sha256(text).hexdigest()[:16])
        earlier = Store().looks.earlier_looks(key, hashes, run=run.id) if hashes else ()
        return cls(run=run.id, key=key, hashes=hashes, earlier=earlier)

    @classmethod
    def at_the_end(cls, run: Run, plan: Plan, cases: Table) -> Schedule:
        """Return a schedule with one look after all cases; with no look if the store cannot note so many cases."""
        schedule = cls._of_test(run, plan, cases)
        judged = len(schedule.hashes)
        return replace(schedule, looks=(Look(cases["rows"], judged),) if judged else (), total=judged)

    @classmethod
    def of_portions(cls, run: Run, plan: Plan, cases: Table, *, beside: Sequence[str]) -> Schedule:
        """Return a schedule that looks after every portion; alone, it skips looks that earlier runs have had."""
        places, schedule = list_looks(cases, size=run.config.runner_args.portion), cls._of_test(run, plan, cases)
        begin = 0 if beside else max(schedule.earlier, default=0)
        ahead = tuple(place for place in places if place.judged > begin)
        return replace(schedule, looks=ahead, total=places[-1].judged if places else 0, beside=tuple(beside))

    def up_to(self, count: int) -> Schedule:
        """Keep only so many looks, the first ones."""
        return replace(self, looks=self.looks[:count])

    def note_open(self) -> None:
        """Note in the store, for later runs, that all these cases left the verdict undecided."""
        if self.hashes:
            Store().looks.note(self.key, self.hashes, run=self.run)

    @property
    def evidence(self) -> Looks:
        """Return the looks of this run, and those of the earlier runs that it continues."""
        if not self.looks:
            return ONE_LOOK
        begin = min(max(self.earlier, default=0), self.looks[-1].judged - 1)
        shares = (share for look, share in zip(self.looks, self.shares, strict=True) if look.judged > begin)
        return Looks(tuple(shares), tuple(count / self.total for count in self.earlier if count <= begin))

    @property
    def shares(self) -> tuple[float, ...]:
        """Return the share of the cases that may be judged, at each look of this run."""
        return tuple(look.judged / self.total for look in self.looks)


def _hash_subject(run: Run, plan: Plan) -> str:
    """Hash everything that the verdict depends on except the cases: model, gate, wording and other settings."""
    spec = run.spec
    about = {
        "identity": dict(run.identity),
        "provider": spec.provider,
        "system_instruction": spec.system_instruction,
        "apply_chat_template": spec.apply_chat_template,
        "few_shot": [shot.model_dump() for shot in spec.few_shot],
        "generation": spec.generation.model_dump(mode="json"),
        "reader": dict(run.reader.identity) if run.reader else None,
        "embedding": list(run.embedding.values()),
        "test": [plan.test, probe(plan.test).version, plan.settings, plan.min_pass_rate, plan.control, plan.repeats],
        "versions": dict(plan.versions),
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(slots=True, kw_only=True)
class GradualTest:
    """A test of a run whose cases are asked in portions."""

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
        """True if all cases are asked."""
        return self.taken == len(self.schedule.looks)

    @property
    def end(self) -> int:
        """Number of the cases before the last look."""
        return self.schedule.looks[self.taken - 1].end if self.taken else 0

    def read_replies(self, *, stopped: str | None) -> None:
        """Read the replies so far; ask the run's reader, or the model, about those that the rules cannot read."""
        with hide_progress(True):
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
        """Compare all results so far with the gates; return None if it is too early for a verdict."""
        tables = self.results()
        for table in tables:
            if table["sha256"] not in self.figures:
                self.figures[table["sha256"]] = read_figures(table, self.plan.test)
        # Columns that only some of the parts have hold nothing in the others.
        parts = pa.concat_tables((self.figures[table["sha256"]] for table in tables), promote_options="default")
        looks = self.schedule.up_to(self.taken).evidence
        rules = make_rules(self.run.config, self.plan, tests=tests, looks=looks)
        return decide_early(parts.to_pandas(), self.plan, rules)

    def finished_trials(self) -> Trials:
        """Return the trials with their looks, and the saved questions; count a question that cases share once."""
        counter, counts, ends = CallCounter(look_up=lambda questions: {}), [0], (0, self.end, self.cases["rows"])
        for first, end in pairwise(ends):
            starts = range(first, end, ROWS)
            counter.add("", (read_rows(self.cases, Case, first=start, end=min(start + ROWS, end)) for start in starts))
            counts.append(counter.total.questions)
        return replace(self.trials, schedule=self.schedule.up_to(self.taken), saved=counts[2] - counts[1])


def prepare_test(run: Run, plan: Plan, cases: Table, *, beside: Sequence[str]) -> GradualTest:
    """Return a test of which no case is asked yet, for one run or for runs side by side."""
    schedule = Schedule.of_portions(run, plan, cases, beside=beside)
    ends = [look.end for look in schedule.looks]
    portions = yield_chunks(plan.test, cases, choose_size(run, cases), ends=ends)
    by_look = {look: list(own) for look, own in groupby(portions, key=lambda chunk: bisect_right(ends, chunk.first))}
    by_order = [by_look.get(look, []) for look in range(len(ends))]
    return GradualTest(run=run, plan=plan, cases=cases, schedule=schedule, portions=by_order)


def ask_until_decided(run: Run, cases: Mapping[str, Table], meter: Meter) -> dict[str, Trials]:
    """Ask every test of a run until it is decided, independently of the others; return the trials.

    Where a budget ends before, what was not asked is noted of all tests that are not decided by then. What is asked
    side by side with other models stops where all of them do.
    """
    settled = Store().looks.find_settled(run.id)
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
            certain = find_decided_tests([test.decision for test in tests])
        going = [test for test, done in zip(tests, certain, strict=True) if not (done or test.is_over)]
        count_saved(meter, [test for test, done in zip(tests, certain, strict=True) if done])
    return {test.plan.test: test.finished_trials() for test in tests}


def ask_next_portions(run: Run, going: Sequence[GradualTest], meter: Meter, *, stopped: str | None) -> str | None:
    """Ask the next portion of each test; return the reason if asking must stop, else None."""
    by_name = {test.plan.test: test for test in going}
    portions = [(test.plan, test.cases, chunk) for test in going for chunk in test.portions[test.taken]]
    with share_terms(run, run.terms(), meter) as terms:
        for name, asked in ask_portions(run, portions, terms, stopped=stopped):
            by_name[name].replies, stopped = by_name[name].replies.plus(asked), stopped or asked["stopped"]
    marked = mark_unclosed_thoughts({name: test.replies for name, test in by_name.items()})
    for name, test in by_name.items():
        test.replies = marked[name]
        test.taken += 1
    return stopped


def count_saved(meter: Meter, tests: Iterable[GradualTest]) -> None:
    """Show in a meter how many questions of decided tests need not be asked any more."""
    meter.saved = sum(count_questions(test.cases, first=test.end) for test in tests)
