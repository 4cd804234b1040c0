"""Follow-up questions: ask the run's reader, or the model, which option an unread reply chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from contrapose.flows.orchestration.progress import watch_progress
from contrapose.flows.portions import share_terms
from contrapose.flows.reader import name_reader_args
from contrapose.flows.reporting import summarize_usage
from contrapose.flows.run_context import Run, Trials
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import FollowUp
from contrapose.tasks.evaluate.scoring import sample_questions
from contrapose.tasks.evaluate.task import Unread, find_unread
from contrapose.tasks.infer.task import InferOutcome, Terms, ask_reader_model
from contrapose.tasks.probes.reader_questions import (
    CHECKS,
    LEAST_AGREEMENT,
    LEAST_MADE_UP_AGREEMENT,
    count_made_up,
    is_bad_reader,
)
from contrapose.tasks.report.task import make_artifact_key
from contrapose.tasks.tables.table import Table, read, write
from contrapose.tasks.text.wording import usage_and_latency


@dataclass(frozen=True, slots=True)
class FollowUpCache:
    """Known unread replies and their answers, so that a run that looks again asks nothing twice."""

    unread: dict[str, Unread] = field(default_factory=dict)
    """By the hash of the trials."""
    asked: dict[tuple[str, str], InferOutcome] = field(default_factory=dict)
    """By the hashes of trials and questions; complete answers only."""


class Asking(NamedTuple):
    """Context of follow-up questions: the run, the model that is asked, and the known answers."""

    run: Run
    terms: Terms
    cache: FollowUpCache


class FollowUpOutcome(NamedTuple):
    """Result of the follow-up questions of a test."""

    trials: Trials
    """With the answers."""
    stopped: str | None
    """Why asking was stopped, if it was."""
    missing: int
    """Questions without an answer."""
    read: tuple[int, int]
    """Replies that rules read: how many the model reads as they do, and how many it read."""
    made_up: tuple[int, int]
    """The same of made-up replies."""


def ask_follow_ups(
    run: Run, trials: Mapping[str, Trials], *, stopped: str | None, cache: FollowUpCache | None = None
) -> dict[str, Trials]:
    """Return the trials, with answers about the replies that neither rules nor embeddings can read.

    The run's reader is asked, or else the model under test. It comes after all other questions, so that it takes
    nothing from their budget. First the model is asked about a few replies that rules read, and about made-up ones: one
    that misreads these is asked nothing more. What is not answered leaves its reply unread, and no verdict incomplete:
    a warning says how many there are. `stopped` is why nothing more is to be asked; what is found is added to `cache`.
    """
    cache, unread = cache or FollowUpCache(), dict[str, list[Unread]]()
    for plan in run.plans:
        if plan.test in trials:
            # Where likelihoods did not decide, replies are read instead.
            likelihoods = "none" if trials[plan.test].read_instead else run.likelihoods
            if plan.probe_settings.asks_back(likelihoods):
                unread[plan.test] = _find_unread(run, plan, trials[plan.test], cache)
    questions = {test: [portion["questions"] for portion in portions] for test, portions in unread.items()}
    checks = {test: _draw_checks(portions, questions[test]) for test, portions in unread.items()}
    total = sum(_count_rows(tables) for test in unread for tables in (checks[test], questions[test]))
    answered = dict(trials)
    if not total:
        return answered
    title = f"asking {run.reader_name} about unread replies" if run.reader else "asking about unread replies"
    key = f"{make_artifact_key(run.config.suite, run.config.model)}-asking-back"
    with (
        watch_progress(total, title=title, ended=lambda: usage_and_latency(summarize_usage(run)), key=key) as meter,
        share_terms(run, run.reading_terms(), meter) as terms,
    ):
        asking = Asking(run, terms, cache)
        for test in unread:
            answered[test], stopped = _ask_of_test(
                asking, test, trials[test], questions[test], checks[test], stopped=stopped
            )
    return answered


def _find_unread(run: Run, plan: Plan, trials: Trials, cache: FollowUpCache) -> list[Unread]:
    """Return the follow-up questions about the replies in each table of trials."""
    submitted = {
        table["sha256"]: run.workers.submit(find_unread, run.config.refresh, plan=plan, trials=table, **run.embedding)
        for table in trials.tables
        if table["sha256"] not in cache.unread
    }
    cache.unread.update({sha256: pending.outcome() for sha256, pending in submitted.items()})
    return [cache.unread[table["sha256"]] for table in trials.tables]


def _draw_checks(unread: list[Unread], questions: list[Table]) -> list[Table]:
    """Draw questions about known replies, half of them made up, at most as many as there are unread replies."""
    most = min(CHECKS, _count_rows(questions))
    known = [read(portion["checks"], FollowUp) if most else [] for portion in unread]
    checks = [check for table in known for check in table]
    chosen = {
        *sample_questions((check for check in checks if check.made_up), count_made_up(most)),
        *sample_questions((check for check in checks if not check.made_up), most - count_made_up(most)),
    }
    return [write((check for check in table if check in chosen), FollowUp) for table in known]


def _count_rows(tables: Iterable[Table]) -> int:
    return sum(table["rows"] for table in tables)


def _ask_of_test(
    asking: Asking, test: str, trials: Trials, questions: list[Table], checks: list[Table], *, stopped: str | None
) -> tuple[Trials, str | None]:
    """Return the trials of one test with the answers, and the reason if asking was stopped."""
    run, total, warnings = asking.run, _count_rows(questions), list(trials.warnings)
    outcome = checked = _ask(asking, f"known replies of {test}, to check it by", trials, checks, stopped=stopped)
    distrust = _explain_distrust(run, checked)
    if distrust:
        warnings.append(f"{test}: {total:,} replies that could not be read stay so. {distrust}")
    else:
        outcome = _ask(asking, f"replies of {test}", checked.trials, questions, stopped=checked.stopped)
        if outcome.missing:
            who = f" (reader: {run.reader_name})" if run.reader else ""
            missing = f"{outcome.missing:,} of {total:,} replies that could not be read were not asked about either"
            warnings.append(f"{test}: {missing}{who}: {outcome.stopped or 'the calls failed'}.")
    return replace(outcome.trials, warnings=warnings, made_up=checked.made_up, distrust=distrust), outcome.stopped


def _ask(
    asking: Asking, label: str, trials: Trials, follow_ups: list[Table], *, stopped: str | None
) -> FollowUpOutcome:
    """Ask about the replies in each table of trials that has questions, unless the answers are known."""
    run, known, submitted, reason = asking.run, asking.cache.asked, [], stopped
    for place, questions in enumerate(follow_ups):
        if not questions["rows"]:
            continue
        table, pending = trials.tables[place], None
        key = (table["sha256"], questions["sha256"])
        if key not in known:
            part = f", part {place + 1}" if len(follow_ups) > 1 else ""
            pending = run.workers.submit(
                ask_reader_model,
                label=f"{questions['rows']:,} {label}{part}",
                trials=table,
                follow_ups=questions,
                stopped=reason,
                terms=asking.terms,
            )
            if pending.done:
                reason = reason or pending.outcome()["stopped"]
        submitted.append((place, key, pending))
    tables, of_model, outcomes, missing = list(trials.tables), dict(trials.of_model), list[InferOutcome](), 0
    for place, key, pending in submitted:
        asked = known[key] if pending is None else pending.outcome()
        if asked["stopped"] is None:
            known[key] = asked
        elif stopped is None:
            stopped = name_reader_args(asked["stopped"]) if run.reader else asked["stopped"]
        tables[place], missing = asked["table"], missing + follow_ups[place]["rows"] - asked["answered"]
        warnings = asked["warnings"]
        if run.reader:
            # Warnings about the reader are no warnings about the model under test.
            name = run.reader_name
            warnings = {f"{name} {kind}": f"{name}: {name_reader_args(text)}" for kind, text in warnings.items()}
        of_model = {**warnings, **of_model}
        outcomes.append(asked)
    return FollowUpOutcome(
        replace(trials, tables=tables, of_model=of_model),
        stopped,
        missing,
        read=_sum_pairs(asked["read"] for asked in outcomes),
        made_up=_sum_pairs(asked["made_up"] for asked in outcomes),
    )


def _sum_pairs(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    agreed, compared = zip((0, 0), *counts, strict=True)
    return sum(agreed), sum(compared)


def _explain_distrust(run: Run, checked: FollowUpOutcome) -> str:
    """Return the reason not to ask the model, because it misreads known replies; "" if it may be asked."""
    (agreed, compared), (right, made_up) = checked.read, checked.made_up
    if is_bad_reader(agreed, compared):
        return (
            f"Of {compared:,} replies that rules could read, {run.reader_name} read {agreed:,} as they "
            f"do; at least {100 * LEAST_AGREEMENT:.0f} % are wanted."
        )
    if is_bad_reader(right, made_up, least=LEAST_MADE_UP_AGREEMENT):
        return (
            f"Of {made_up:,} made-up replies, which choose a wrong option or none, {run.reader_name} read {right:,} "
            "correctly: it may answer the question instead of reading the reply."
        )
    return ""
