"""The stages of a run, each for all its tests: load, perturb, validate, infer, evaluate, judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from prefect import get_run_logger

from contrapose.flows.early_stopping import Schedule, ask_until_decided
from contrapose.flows.follow_up_questions import ask_follow_ups
from contrapose.flows.orchestration.progress import watch_progress
from contrapose.flows.orchestration.spinner import show_step, warn
from contrapose.flows.portions import (
    ask_portions,
    choose_size,
    make_cases,
    mark_unclosed_thoughts,
    score_trials,
    share_terms,
)
from contrapose.flows.reporting import summarize_usage
from contrapose.flows.run_context import Run, Trials, time_stage
from contrapose.tasks.config.plan import SET
from contrapose.tasks.core.criteria import list_criteria
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.policy import call_task
from contrapose.tasks.core.records import Case
from contrapose.tasks.core.reply_outcomes import EXPLAINED
from contrapose.tasks.core.stopping import Stopping, describe_earlier_look, describe_early_stop
from contrapose.tasks.core.validation import Checked, blocking_findings
from contrapose.tasks.evaluate.gate import correct_outcomes, make_rules
from contrapose.tasks.evaluate.reruns import Reruns, add_rerun_shares
from contrapose.tasks.evaluate.task import judge as judge_task
from contrapose.tasks.infer.base import HasSomeReplies
from contrapose.tasks.infer.chunks import count_questions, yield_chunks
from contrapose.tasks.infer.recorded import make_nothing_recorded_error
from contrapose.tasks.load.samples import hash_source
from contrapose.tasks.load.task import Samples, arrange
from contrapose.tasks.load.task import load as load_task
from contrapose.tasks.perturb.cases import count_asked, explain_unreachable, refuse_guessable_gate
from contrapose.tasks.probes.reader_questions import estimate_made_up_agreement
from contrapose.tasks.report.publish import find_free_folder
from contrapose.tasks.report.task import make_artifact_key
from contrapose.tasks.report.validation import ValidationHead, make_gate_error, write_evidence
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.store import Store
from contrapose.tasks.tables.table import Table, iterate, read_rows, store_first_rows, write
from contrapose.tasks.text.wording import criteria_text, usage_and_latency
from contrapose.tasks.validate import task as validation
from contrapose.tasks.validate.expectations import SMALL, import_in_background


@time_stage
def load(run: Run) -> dict[str, Samples]:
    """Load samples of every test."""
    loaded, refresh, seed = dict[str, Samples](), run.config.refresh, run.config.seed
    for plan in run.plans:
        sha256 = hash_source(plan.data)
        samples = call_task(
            load_task, refresh, test=plan.test, data=plan.data, sha256=sha256, limit=plan.limit, seed=seed
        )
        if run.config.stop == "early":
            table = call_task(arrange, refresh, test=plan.test, samples=samples["table"], seed=seed)
            samples = {**samples, "table": table}
        # The task, which is cached, need not know whose limit it is.
        if plan.limited_by is not None and samples["table"]["rows"] != samples["data"]["rows"]:
            samples = {**samples, "data": {**samples["data"], "limited_by": plan.limited_by}}
        loaded[plan.test] = samples
    return loaded


@time_stage
def perturb(run: Run, samples: Mapping[str, Samples]) -> dict[str, Table]:
    """Make the cases of every test.

    Raises:
        ConfigError: guessing reaches the gate of a test.
        ModelError: the provider is a recording, and has the replies of no case.
    """
    cases = {plan.test: make_cases(run, plan, samples[plan.test]["table"]) for plan in run.plans}
    recording = run.provider if isinstance(run.provider, HasSomeReplies) else None
    if recording is not None:
        cases = _keep_recorded(run, recording, cases)
    level = LEVEL / len(run.plans)
    for plan in run.plans:
        if recording is None:
            refuse_guessable_gate(plan, cases[plan.test])
        asked = count_asked(cases[plan.test])
        why = explain_unreachable(plan.min_pass_rate, asked, level=level) if asked and plan.gate_basis == SET else ""
        if why and run.config.tests.defaults.gate == "interval":
            warn(f"{plan.test}: {why}.")
    return cases


def _keep_recorded(run: Run, recording: HasSomeReplies, cases: Mapping[str, Table]) -> dict[str, Table]:
    """Return the cases that have recorded replies; note the missing ones for the report."""
    kept = {test: write(recording.replied(run.spec, iterate(table, Case)), Case) for test, table in cases.items()}
    if not any(map(count_asked, kept.values())):
        ids = (case.id for table in cases.values() for case in iterate(table, Case) if not case.control)
        raise make_nothing_recorded_error(ids, run.spec)
    run.remarks.extend(recording.remarks(run.spec, [test for test, table in kept.items() if count_asked(table)]))
    for test, table in kept.items():
        if left_out := cases[test]["rows"] - table["rows"]:
            lacks_all = left_out == sum(case.control for case in iterate(cases[test], Case))
            so = (
                "so no rate that rests on them is judged, such as the contrast rate"
                if lacks_all
                else "the others count"
            )
            run.remarks.append(f"{test}: controls: {left_out:,} not recorded, {so}.")
    return kept


@time_stage
def validate_cases(run: Run, samples: Mapping[str, Samples], cases: Mapping[str, Table]) -> list[Checked]:
    """Check samples and cases before the model is asked."""
    own, refresh, checked = run.suites, run.config.refresh, list[Checked]()
    for plan in run.plans:
        table, rows = samples[plan.test]["table"], samples[plan.test]["data"]["rows"]
        checked += [
            call_task(validation.validate_samples, refresh, plan=plan, samples=table, rows=rows, own=own),
            call_task(validation.validate_cases, refresh, plan=plan, cases=cases[plan.test], samples=table, own=own),
        ]
    return require_valid(run, checked)


@time_stage
def validate_completions(run: Run, cases: Mapping[str, Table], trials: Mapping[str, Trials]) -> list[Checked]:
    """Check replies before they are scored."""
    task, refresh, own = validation.validate_completions, run.config.refresh, run.suites
    checked = [
        call_task(task, refresh, plan, trials=trials[plan.test].tables, cases=cases[plan.test], own=own)
        for plan in run.plans
    ]
    return require_valid(run, checked)


@time_stage
def validate_results(run: Run, cases: Mapping[str, Table], results: Mapping[str, Table]) -> list[Checked]:
    """Check results before they are published."""
    task, refresh, own = validation.validate_results, run.config.refresh, run.suites
    checked = [
        call_task(task, refresh, plan, results=results[plan.test], cases=cases[plan.test], own=own)
        for plan in run.plans
    ]
    return require_valid(run, checked)


def require_valid(run: Run, checked: list[Checked]) -> list[Checked]:
    """Return the tables if all are valid; else raise GateError, and keep the invalid rows in a folder."""
    if not any(map(blocking_findings, checked)):
        return checked
    folder = find_free_folder(Place.at(run.config.output, setting="output"), f"{run.id}-refused")
    started = run.started.isoformat(timespec="seconds")
    head = ValidationHead(run_id=run.id, model=run.config.model, suite=run.config.suite, started=started)
    write_evidence(folder.resolved(), head, checked, show_toxic=run.config.show_toxic)
    # Going on would end here again, and the store keeps what was answered.
    Store().runs.end(run.id, "finished")
    raise make_gate_error(checked, folder=folder, show_toxic=run.config.show_toxic)


@time_stage
def infer(run: Run, cases: Mapping[str, Table]) -> dict[str, Trials]:
    """Ask the model every test's cases, in portions; the response store keeps each answer as it arrives."""
    if run.config.batch_api:
        _answer_by_batch(run, cases)
    total, title = sum(map(count_questions, cases.values())), f"asking {run.config.model}"
    key = f"{make_artifact_key(run.config.suite, run.config.model)}-progress"
    # A large table is looked at here, as it is read.
    soon = import_in_background if all(table["rows"] <= SMALL for table in cases.values()) else None
    with watch_progress(
        total, title=title, ended=lambda: usage_and_latency(summarize_usage(run)), key=key, soon=soon
    ) as meter:
        if run.config.stop == "early":
            decided = ask_until_decided(run, cases, meter)
            return {test: _warn_of_unread(test, trials) for test, trials in decided.items()}
        answered, stopped = {plan.test: Trials() for plan in run.plans}, None
        portions = (
            (plan, table, chunk)
            for plan in run.plans
            for table in [cases[plan.test]]
            for chunk in yield_chunks(plan.test, table, choose_size(run, table))
        )
        with share_terms(run, run.terms(), meter) as terms:
            for test, asked in ask_portions(run, portions, terms):
                answered[test], stopped = answered[test].plus(asked), stopped or asked["stopped"]
    answered = mark_unclosed_thoughts(answered)
    return ask_follow_ups(
        run, {test: _warn_of_unread(test, trials) for test, trials in answered.items()}, stopped=stopped
    )


def _answer_by_batch(run: Run, cases: Mapping[str, Table]) -> None:
    """Let batches answer the questions first; a resumed run waits for the same batches."""
    # Imported here: only such runs need it.
    from contrapose.flows.batching import PORTION, answer_by_batch

    portions = (
        read_rows(table, Case, first=first, end=min(first + PORTION, table["rows"]))
        for table in cases.values()
        for first in range(0, table["rows"], PORTION)
    )
    with show_step("batch"):
        for line in answer_by_batch(run.config, portions, run=run.id):
            get_run_logger().info(line)


def _warn_of_unread(test: str, trials: Trials) -> Trials:
    """Return the trials with a warning for each kind of replies without text: the reason, and what to do."""
    warnings = [
        f"{test}: {count:,} of {2 * trials.asked:,} replies {EXPLAINED[outcome].said}. {EXPLAINED[outcome].advice}"
        for outcome, count in trials.unread.items()
        if count
    ]
    return replace(trials, warnings=[*trials.warnings, *warnings])


def select_asked(cases: Mapping[str, Table], trials: Mapping[str, Trials]) -> dict[str, Table]:
    """Return the cases of every test that were asked, in order, including the skipped cases among them."""
    schedules = {test: own.schedule for test, own in trials.items()}
    ends = {test: own.looks[-1].end for test, own in schedules.items() if own is not None and own.looks}
    return {test: store_first_rows(table, ends[test]) if test in ends else table for test, table in cases.items()}


@time_stage
def evaluate(run: Run, trials: Mapping[str, Trials]) -> dict[str, Table]:
    """Score the trials of every test."""
    return {plan.test: score_trials(run, plan, trials[plan.test].tables) for plan in run.plans}


@time_stage
def judge(
    run: Run,
    samples: Mapping[str, Samples],
    cases: Mapping[str, Table],
    trials: Mapping[str, Trials],
    results: Mapping[str, Table],
) -> list[Outcome]:
    """Decide the verdict of every test, corrected for the number of tests and for earlier looks."""
    schedules, outcomes, reruns = dict[str, Schedule](), list[Outcome](), dict[str, Reruns]()
    for plan in run.plans:
        schedule = trials[plan.test].schedule or Schedule.at_the_end(run, plan, cases[plan.test])
        own = call_task(
            judge_task,
            run.config.refresh,
            plan=plan,
            cases=cases[plan.test],
            results=results[plan.test],
            data=samples[plan.test]["data"],
            rules=make_rules(run.config, plan, tests=len(run.plans), looks=schedule.evidence),
        )
        outcome = own["outcome"]
        if missing := trials[plan.test].unasked:
            # Incomplete, however few are missing.
            reason = f"{missing} of {trials[plan.test].asked} cases could not be asked: {trials[plan.test].stopped}."
            outcome = {**outcome, "verdict": "incomplete", "reason": reason}
            outcome = {**outcome, "gates": [], "reached": None, "missed": None}
        elif own["reruns"]:
            reruns[plan.test] = own["reruns"]
        schedules[plan.test] = schedule
        outcomes.append(outcome)
    judged = []
    for outcome in add_rerun_shares(outcomes, correct_outcomes(outcomes), reruns):
        test = outcome["test_type"]
        if schedules[test].looks and run.config.tests.defaults.gate != "rate":
            outcome = _add_looks(outcome, trials[test], schedules[test])
        judged.append(_add_reader_figures(outcome, trials[test]))
        get_run_logger().info(f"{test}: {outcome['verdict']}; {criteria_text(list_criteria(outcome))}")
    return judged


def _add_looks(outcome: Outcome, trials: Trials, schedule: Schedule) -> Outcome:
    """Return the outcome with its looks, so that a run that looks again with more cases counts them."""
    judged = schedule.looks[-1].judged
    if outcome["verdict"] == "inconclusive" and not schedule.beside:
        schedule.note_open()
    if schedule.earlier:
        reason = f"{outcome['reason']} {describe_earlier_look(schedule.earlier)}"
        outcome = {**outcome, "reason": reason, "earlier_looks": list(schedule.earlier)}
    if trials.schedule is None:
        return outcome
    stopping = Stopping(
        cases=schedule.total,
        judged=judged,
        looks=len(schedule.looks),
        shares=list(schedule.shares),
        saved=trials.saved,
        beside=list(schedule.beside),
    )
    early = f" {describe_early_stop(stopping)}" if judged < schedule.total else ""
    return {**outcome, "reason": outcome["reason"] + early, "stopping": stopping}


def _add_reader_figures(outcome: Outcome, trials: Trials) -> Outcome:
    """Return the outcome with the reader's accuracy on made-up replies, and the reason if it was not asked."""
    if outcome["verdict"] == "inconclusive" and trials.distrust:
        outcome = {**outcome, "reason": f"{outcome['reason']} {trials.distrust}"}
    if not trials.made_up[1]:
        return outcome
    name, estimate = "made_up_agreement", estimate_made_up_agreement(*trials.made_up)
    figures = {**outcome["figures"], name: estimate["value"]}
    return {**outcome, "figures": figures, "estimates": {**outcome["estimates"], name: estimate}}
