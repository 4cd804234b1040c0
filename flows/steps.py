"""What a flow does in each room, for every test of a run: load, perturb, validate, infer, evaluate, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import wraps
from time import monotonic
from typing import Concatenate, ParamSpec, TypeVar, cast

from prefect import get_run_logger

from contrapose.flows.account import usage_summary
from contrapose.flows.asking_back import ask_back
from contrapose.flows.earlier_looks import Schedule
from contrapose.flows.gate import admit
from contrapose.flows.orchestration.at_work import at_work, warn
from contrapose.flows.orchestration.progress import watched
from contrapose.flows.run_context import Run, Trials, no_trials, terms
from contrapose.flows.stopping import Gradual, ask_until_decided
from contrapose.flows.teamwork import cases_of, portion_size, results_of, together
from contrapose.tasks.config.plan import SET, Plan
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.policy import call
from contrapose.tasks.core.records import Case
from contrapose.tasks.core.reply_outcomes import EXPLAINED
from contrapose.tasks.core.stopping import Stopping, later_look, stopped_early
from contrapose.tasks.core.validation import Checked
from contrapose.tasks.evaluate.gate import corrected, rules
from contrapose.tasks.evaluate.task import judge as judge_task
from contrapose.tasks.infer.base import HasSomeReplies
from contrapose.tasks.infer.chunks import chunks, questions_in
from contrapose.tasks.infer.recorded import nothing_recorded
from contrapose.tasks.infer.task import Asked, Terms
from contrapose.tasks.infer.task import infer as infer_task
from contrapose.tasks.load.samples import content_sha256
from contrapose.tasks.load.task import Samples, arrange
from contrapose.tasks.load.task import load as load_task
from contrapose.tasks.perturb.cases import asked_in, out_of_reach, refuse_guessable
from contrapose.tasks.probes.reading_checks import made_up_estimate
from contrapose.tasks.report.artifacts import artifact_key
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.tables.large_blocks import give_back
from contrapose.tasks.tables.table import Table, first_rows, iterate, read_rows, write
from contrapose.tasks.text.wording import spent
from contrapose.tasks.validate.expectations import SMALL, prepare_to_look
from contrapose.tasks.validate.task import validate_cases as validate_cases_task
from contrapose.tasks.validate.task import validate_completions as validate_completions_task
from contrapose.tasks.validate.task import validate_results as validate_results_task
from contrapose.tasks.validate.task import validate_samples as validate_samples_task
from contrapose.tasks.validate.wellformed import own_suites

P = ParamSpec("P")
R = TypeVar("R")


def timed(room: Callable[Concatenate[Run, P], R]) -> Callable[Concatenate[Run, P], R]:
    """A room that notes in `Run.timings` how long it took, and is told of at a terminal."""

    @wraps(room)
    def inside(run: Run, *args: P.args, **kwargs: P.kwargs) -> R:
        start = monotonic()
        try:
            with at_work(room.__name__):
                return room(run, *args, **kwargs)
        finally:
            run.timings[room.__name__] = round(monotonic() - start, 3)
            give_back()

    return cast(Callable[Concatenate[Run, P], R], inside)


@timed
def load(run: Run) -> dict[str, Samples]:
    """Samples of every test."""
    return {plan.test: _loaded(run, plan) for plan in run.plans}


def _loaded(run: Run, plan: Plan) -> Samples:
    """Samples of one test. Whose limit cut them is told here: the task, which is cached, need not know."""
    samples = call(
        load_task,
        run.config.refresh,
        test=plan.test,
        data=plan.data,
        sha256=content_sha256(plan.data),
        limit=plan.limit,
        seed=run.config.seed,
    )
    if run.config.stop == "early":
        table = call(arrange, run.config.refresh, test=plan.test, samples=samples["table"], seed=run.config.seed)
        samples = {**samples, "table": table}
    if plan.limited_by is None or samples["table"]["rows"] == samples["data"]["rows"]:
        return samples
    return {**samples, "data": {**samples["data"], "limited_by": plan.limited_by}}


@timed
def perturb(run: Run, samples: Mapping[str, Samples]) -> dict[str, Table]:
    """Cases of every test.

    Raises:
        ConfigError: guessing reaches the gate of a test.
        ModelError: the provider is a recording, and has the replies of no case.
    """
    cases = {plan.test: cases_of(run, plan, samples[plan.test]["table"]) for plan in run.plans}
    if isinstance(run.provider, HasSomeReplies):
        cases = _replied(run, run.provider, cases)
    level = LEVEL / len(run.plans)
    for plan in run.plans:
        if not isinstance(run.provider, HasSomeReplies):
            refuse_guessable(plan, cases[plan.test])
        asked = asked_in(cases[plan.test])
        why = out_of_reach(plan.min_pass_rate, asked, level=level) if asked and plan.gate_basis == SET else ""
        if why and run.config.tests.defaults.gate == "interval":
            warn(f"{plan.test}: {why}.")
    return cases


def _replied(run: Run, recording: HasSomeReplies, cases: Mapping[str, Table]) -> dict[str, Table]:
    """The cases of every test that a recording has the replies of; what it lacks is noted for the report."""
    kept = {test: write(recording.replied(run.spec, iterate(table, Case)), Case) for test, table in cases.items()}
    if not any(map(asked_in, kept.values())):
        ids = (case.id for table in cases.values() for case in iterate(table, Case) if not case.control)
        raise nothing_recorded(ids, run.spec)
    run.remarks.extend(recording.remarks(run.spec, [test for test, table in kept.items() if asked_in(table)]))
    for test, table in kept.items():
        if left_out := cases[test]["rows"] - table["rows"]:
            every = left_out == sum(case.control for case in iterate(cases[test], Case))
            so = "so no rate that rests on them is judged, such as the contrast rate" if every else "the others count"
            run.remarks.append(f"{test}: controls: {left_out:,} not recorded, {so}.")
    return kept


@timed
def validate_cases(run: Run, samples: Mapping[str, Samples], cases: Mapping[str, Table]) -> list[Checked]:
    """The gate before the model: samples and cases."""
    own, again = own_suites(run.config.expectations, run.plans), run.config.refresh
    checked = []
    for plan in run.plans:
        table, rows = samples[plan.test]["table"], samples[plan.test]["data"]["rows"]
        checked += [
            call(validate_samples_task, again, plan=plan, samples=table, rows=rows, own=own),
            call(validate_cases_task, again, plan=plan, cases=cases[plan.test], samples=table, own=own),
        ]
    return admit(run, checked)


@timed
def validate_completions(run: Run, cases: Mapping[str, Table], trials: Mapping[str, Trials]) -> list[Checked]:
    """The gate before scoring."""
    own, again = own_suites(run.config.expectations, run.plans), run.config.refresh
    checked = [
        call(validate_completions_task, again, plan, trials=trials[plan.test].tables, cases=cases[plan.test], own=own)
        for plan in run.plans
    ]
    return admit(run, checked)


@timed
def validate_results(run: Run, cases: Mapping[str, Table], results: Mapping[str, Table]) -> list[Checked]:
    """The gate before publication."""
    own, again = own_suites(run.config.expectations, run.plans), run.config.refresh
    checked = [
        call(validate_results_task, again, plan, results=results[plan.test], cases=cases[plan.test], own=own)
        for plan in run.plans
    ]
    return admit(run, checked)


@timed
def infer(run: Run, cases: Mapping[str, Table]) -> dict[str, Trials]:
    """Trials of every test, chunk by chunk. The response store keeps each answer as it comes."""
    if run.config.batch_api:
        _answer_by_batch(run, cases)
    total, title = sum(map(questions_in, cases.values())), f"asking {run.config.model}"
    key = f"{artifact_key(run.config.suite, run.config.model)}-progress"
    # A large table is looked at here, as it is read.
    soon = prepare_to_look if all(table["rows"] <= SMALL for table in cases.values()) else None
    with watched(total, title=title, ended=lambda: spent(usage_summary(run)), key=key, soon=soon) as meter:
        if run.config.stop == "early":
            return {test.plan.test: _until_decided(test) for test in ask_until_decided(run, cases, meter)}
        with together(run, terms(run), meter) as shared:
            answered, stopped = _all_asked(run, cases, shared)
    return ask_back(run, {test: _warn_of_unread(test, trials) for test, trials in answered.items()}, stopped=stopped)


def _all_asked(run: Run, cases: Mapping[str, Table], shared: Terms) -> tuple[dict[str, Trials], str | None]:
    """Trials of every test, all of whose cases are asked, and why asking was stopped, if it was."""
    answered, stopped = {plan.test: no_trials() for plan in run.plans}, None
    for test, asked in _asked(run, cases, shared):
        stopped = stopped or asked["stopped"]
        answered[test] = answered[test].plus(asked)
    return answered, stopped


def _until_decided(test: Gradual) -> Trials:
    """The trials of a test that was asked until it was decided."""
    trials = _warn_of_unread(test.plan.test, test.trials)
    return replace(trials, schedule=test.schedule.up_to(test.taken), saved=test.saved)


def asked_cases(cases: Mapping[str, Table], trials: Mapping[str, Trials]) -> dict[str, Table]:
    """The cases of every test that were asked, in order, and those among them that are skipped."""
    schedules = {test: own.schedule for test, own in trials.items()}
    ends = {test: own.looks[-1].end for test, own in schedules.items() if own is not None and own.looks}
    return {test: first_rows(table, ends[test]) if test in ends else table for test, table in cases.items()}


def _asked(run: Run, cases: Mapping[str, Table], shared: Terms) -> Iterator[tuple[str, Asked]]:
    """What came of every portion, by its test: of one after the other, or of all that were submitted."""
    stopped, submitted = None, []
    for plan in run.plans:
        for chunk in chunks(plan.test, cases[plan.test], portion_size(run, cases[plan.test])):
            pending = run.workers.submit(
                infer_task,
                label=chunk.label,
                cases=cases[plan.test],
                rows=(chunk.first, chunk.end),
                terms=shared,
                stopped=stopped,
                only_likelihoods=not plan.probe_settings.asks_back("none"),
            )
            stopped = pending.outcome()["stopped"] if pending.done else None
            submitted.append((plan.test, pending))
    for test, pending in submitted:
        yield test, pending.outcome()


def _answer_by_batch(run: Run, cases: Mapping[str, Table]) -> None:
    """Have what is open answered in batches first; a run that is begun again goes on waiting for the same ones."""
    # Imported here: only such runs need it.
    from contrapose.flows.batching import PORTION, answer_by_batch

    portions = (
        read_rows(table, Case, first=first, end=min(first + PORTION, table["rows"]))
        for table in cases.values()
        for first in range(0, table["rows"], PORTION)
    )
    with at_work("batch"):
        for line in answer_by_batch(run.config, portions, run=run.id):
            get_run_logger().info(line)


def _warn_of_unread(test: str, trials: Trials) -> Trials:
    """The trials of a test, with a warning for each kind of replies without text: what they are, and what to do."""
    warnings = [
        f"{test}: {count:,} of {2 * trials.asked:,} replies {EXPLAINED[outcome].said}. {EXPLAINED[outcome].advice}"
        for outcome, count in trials.unread.items()
    ]
    return replace(trials, warnings=[*trials.warnings, *warnings])


@timed
def evaluate(run: Run, trials: Mapping[str, Trials]) -> dict[str, Table]:
    """Results of every test."""
    return {plan.test: results_of(run, plan, trials[plan.test].tables) for plan in run.plans}


@timed
def judge(
    run: Run,
    samples: Mapping[str, Samples],
    cases: Mapping[str, Table],
    trials: Mapping[str, Trials],
    results: Mapping[str, Table],
) -> list[Outcome]:
    """The verdict on every test, with regard to how many there are, and to whoever looked before."""
    schedules = {
        plan.test: trials[plan.test].schedule or Schedule.at_the_end(run, plan, cases[plan.test]) for plan in run.plans
    }
    outcomes = [
        stopped(
            call(
                judge_task,
                run.config.refresh,
                plan=plan,
                cases=cases[plan.test],
                results=results[plan.test],
                data=samples[plan.test]["data"],
                rules=rules(run.config, plan, tests=len(run.plans), looks=schedules[plan.test].evidence),
            ),
            trials[plan.test],
        )
        for plan in run.plans
    ]
    looked = [_looked(run, one, trials[one["test_type"]], schedules[one["test_type"]]) for one in corrected(outcomes)]
    return [_with_reader(outcome, trials[outcome["test_type"]]) for outcome in looked]


def _with_reader(outcome: Outcome, trials: Trials) -> Outcome:
    """The outcome, with how well the reader reads made-up replies, and why it was not asked about unread ones."""
    if outcome["verdict"] == "inconclusive" and trials.distrust:
        outcome = {**outcome, "reason": f"{outcome['reason']} {trials.distrust}"}
    if not trials.made_up[1]:
        return outcome
    name, estimate = "made_up_agreement", made_up_estimate(*trials.made_up)
    figures = {**outcome["figures"], name: estimate["value"]}
    return {**outcome, "figures": figures, "estimates": {**outcome["estimates"], name: estimate}}


def _looked(run: Run, outcome: Outcome, trials: Trials, schedule: Schedule) -> Outcome:
    """The outcome, with how often it was looked for; whoever looks again with more cases will count this look."""
    if not schedule.looks or run.config.tests.defaults.gate == "rate":
        return outcome
    judged = schedule.looks[-1].judged
    if outcome["verdict"] == "inconclusive" and not schedule.beside:
        schedule.past.note()
    if schedule.earlier:
        reason = f"{outcome['reason']} {later_look(schedule.earlier)}"
        outcome = {**outcome, "reason": reason, "earlier_looks": list(schedule.earlier)}
    if trials.schedule is None:
        return outcome
    stopping = Stopping(
        cases=schedule.whole,
        judged=judged,
        looks=len(schedule.looks),
        shares=list(schedule.shares),
        saved=trials.saved,
        beside=list(schedule.beside),
    )
    early = f" {stopped_early(stopping)}" if judged < schedule.whole else ""
    return {**outcome, "reason": outcome["reason"] + early, "stopping": stopping}


def stopped(outcome: Outcome, trials: Trials) -> Outcome:
    """The outcome of a test that was stopped before all of it was asked: incomplete, however few are missing."""
    if not trials.unasked:
        return outcome
    reason = f"{trials.unasked} of {trials.asked} cases could not be asked: {trials.stopped}."
    return {**outcome, "verdict": "incomplete", "reason": reason, "gates": [], "reached": None, "missed": None}
