"""The model, or the run's reader, is asked about the replies that could not be read: which option do they choose?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from contrapose.flows.account import usage_summary
from contrapose.flows.orchestration.progress import watched
from contrapose.flows.orchestration.workers import Submitted
from contrapose.flows.portions import together
from contrapose.flows.reader import of_reader
from contrapose.flows.run_context import Run, Trials, reading_terms
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.records import FollowUp
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.evaluate.scoring import drawn
from contrapose.tasks.evaluate.task import Unread, find_unread
from contrapose.tasks.infer.task import Asked, Terms, ask_about
from contrapose.tasks.probes.reading_checks import (
    CHECKS,
    LEAST_AGREEMENT,
    LEAST_MADE_UP_AGREEMENT,
    reads_badly,
    share_of,
)
from contrapose.tasks.report.artifacts import artifact_key
from contrapose.tasks.tables.table import Table, read, write
from contrapose.tasks.text.wording import spent


@dataclass(frozen=True, slots=True)
class Heard:
    """What was found out about some replies before: a run that comes back to them with others asks nothing twice."""

    unread: dict[str, Unread] = field(default_factory=dict)
    """By the hash of the trials."""
    asked: dict[tuple[str, str], Asked] = field(default_factory=dict)
    """By the hashes of trials and questions; what was not answered to the end is not among them."""


class AskedBack(NamedTuple):
    """What came of questions about the replies of a test."""

    trials: Trials
    """With the answers."""
    stopped: str | None
    """Why asking was stopped, if it was."""
    missing: int
    """Questions without an answer."""
    read: tuple[int, int]
    """Of replies that rules read: how many the model reads as they do, and of how many it said what it reads."""
    made_up: tuple[int, int]
    """The same of made-up replies."""


def ask_back(
    run: Run, trials: Mapping[str, Trials], *, stopped: str | None, heard: Heard | None = None
) -> dict[str, Trials]:
    """The trials, with what is said of the replies whose choice neither rules nor embeddings can read.

    The run's reader is asked, or else the model under test; "the model" is whichever it is here. It comes after all
    other questions, so that it takes nothing from their budget. First the model is asked about a few replies that rules
    read, and about made-up ones: one that reads these badly is asked nothing more. What is not answered leaves its
    reply unread, and no verdict incomplete: a warning says how many there are.

    Args:
        run: the run.
        trials: of every test, or of some.
        stopped: why nothing more is to be asked, where asking was stopped.
        heard: what was found out before; what is found out now is added.
    """
    heard = heard or Heard()
    wanting = [plan for plan in run.plans if plan.test in trials and _asks_back(run, plan, trials[plan.test])]
    unread = {plan.test: _unread(run, plan, trials[plan.test], heard) for plan in wanting}
    checks = {test: _checks(portions) for test, portions in unread.items()}
    total = _rows(table for tables in checks.values() for table in tables)
    total += _rows(portion["questions"] for portions in unread.values() for portion in portions)
    key = f"{artifact_key(run.config.suite, run.config.model)}-asking-back"
    asked = dict(trials)
    title = f"asking {run.reader_name} about unread replies" if run.reader else "asking about unread replies"
    if not total:
        return asked
    with (
        watched(total, title=title, ended=lambda: spent(usage_summary(run)), key=key) as meter,
        together(run, reading_terms(run), meter) as shared,
    ):
        asking = Asking(run, shared, heard)
        for test, portions in unread.items():
            asked[test], stopped = _ask(asking, test, trials[test], portions, checks[test], stopped=stopped)
    return asked


class Asking(NamedTuple):
    """Who is asked, and what is known already."""

    run: Run
    terms: Terms
    heard: Heard


def _ask(
    asking: Asking,
    test: str,
    trials: Trials,
    unread: list[Unread],
    checks: list[Table],
    *,
    stopped: str | None,
) -> tuple[Trials, str | None]:
    """The trials of one test with the answers, and why asking was stopped, if it was."""
    questions = [portion["questions"] for portion in unread]
    run = asking.run
    checked = _about(asking, f"known replies of {test}, to check it by", trials, checks, stopped=stopped)
    distrust = _distrust(run, checked)
    if distrust:
        outcome, warnings = (
            checked,
            [f"{test}: {_rows(questions):,} replies that could not be read stay so. {distrust}"],
        )
    else:
        outcome = _about(asking, f"replies of {test}", checked.trials, questions, stopped=checked.stopped)
        warnings = _warnings(run, test, outcome, questions)
    warnings = [*trials.warnings, *warnings]
    return replace(outcome.trials, warnings=warnings, made_up=checked.made_up, distrust=distrust), outcome.stopped


def _asks_back(run: Run, plan: Plan, trials: Trials) -> bool:
    """Whether the model is asked about unread replies of a test; without likelihoods, where these did not decide."""
    likelihoods = "none" if trials.read_instead else run.provider.likelihoods(run.spec)
    return plan.probe_settings.asks_back(likelihoods)


def _unread(run: Run, plan: Plan, trials: Trials, heard: Heard) -> list[Unread]:
    """Questions about the replies in each table of trials."""
    name = run.config.embedding_model
    model = {"embedding_model": name, "embedding_revision": revision(name)}
    again = run.config.refresh
    submitted = {
        table["sha256"]: run.workers.submit(find_unread, again, plan=plan, trials=table, **model)
        for table in trials.tables
        if table["sha256"] not in heard.unread
    }
    heard.unread.update({sha256: pending.outcome() for sha256, pending in submitted.items()})
    return [heard.unread[table["sha256"]] for table in trials.tables]


def _checks(unread: list[Unread]) -> list[Table]:
    """For each table of trials, questions about known replies: no more in all than could not be read.

    Half of them are about made-up replies, the others about replies that rules read.
    """
    most = min(CHECKS, _rows(portion["questions"] for portion in unread))
    known = [read(portion["checks"], FollowUp) if most else [] for portion in unread]
    every = [check for table in known for check in table]
    chosen = {
        *drawn((check for check in every if check.made_up), share_of(most)),
        *drawn((check for check in every if not check.made_up), most - share_of(most)),
    }
    return [write((check for check in table if check in chosen), FollowUp) for table in known]


def _rows(tables: Iterable[Table]) -> int:
    return sum(table["rows"] for table in tables)


def _about(asking: Asking, label: str, trials: Trials, follow_ups: list[Table], *, stopped: str | None) -> AskedBack:
    """The trials of one test with the answers."""
    run = asking.run
    tables, of_model, missing = list(trials.tables), dict(trials.of_model), 0
    counts: list[Asked] = []
    for place, asked in _asked_about(asking, label, list(tables), follow_ups, stopped=stopped):
        tables[place] = asked["table"]
        if stopped is None and asked["stopped"] is not None:
            stopped = of_reader(asked["stopped"]) if run.reader else asked["stopped"]
        missing += follow_ups[place]["rows"] - asked["answered"]
        counts.append(asked)
        of_model = {**_named(run, asked["warnings"]), **of_model}
    return AskedBack(
        replace(trials, tables=tables, of_model=of_model),
        stopped,
        missing,
        read=_summed(asked["read"] for asked in counts),
        made_up=_summed(asked["made_up"] for asked in counts),
    )


def _summed(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    agreed, compared = zip((0, 0), *counts, strict=True)
    return sum(agreed), sum(compared)


def _asked_about(
    asking: Asking, label: str, tables: list[Table], follow_ups: list[Table], *, stopped: str | None
) -> Iterator[tuple[int, Asked]]:
    """What came of the questions about the replies in each table of trials that has some, with its place."""
    known, submitted = asking.heard.asked, []
    for place, questions in enumerate(follow_ups):
        if not questions["rows"]:
            continue
        key = (tables[place]["sha256"], questions["sha256"])
        part = f", part {place + 1}" if len(follow_ups) > 1 else ""
        pending = None if key in known else _submit(asking, label + part, tables[place], questions, stopped=stopped)
        if pending is not None and pending.done and stopped is None:
            stopped = pending.outcome()["stopped"]
        submitted.append((place, key, pending))
    for place, key, pending in submitted:
        asked = known[key] if pending is None else pending.outcome()
        if asked["stopped"] is None:
            known[key] = asked
        yield place, asked


def _submit(asking: Asking, label: str, trials: Table, questions: Table, *, stopped: str | None) -> Submitted[Asked]:
    return asking.run.workers.submit(
        ask_about,
        label=f"{questions['rows']:,} {label}",
        trials=trials,
        follow_ups=questions,
        stopped=stopped,
        terms=asking.terms,
    )


def _named(run: Run, warnings: Mapping[str, str]) -> dict[str, str]:
    """Warnings about how the answers came, apart from those about the model under test where a reader gave them."""
    if run.reader is None:
        return dict(warnings)
    return {f"{run.reader_name} {kind}": f"{run.reader_name}: {of_reader(text)}" for kind, text in warnings.items()}


def _distrust(run: Run, checked: AskedBack) -> str:
    """Why the model is not asked about unread replies: it reads badly what is known. Empty where it may be asked."""
    (agreed, compared), (right, made_up) = checked.read, checked.made_up
    if reads_badly(agreed, compared):
        return (
            f"Of {compared:,} replies that rules could read, {run.reader_name}, asked back, read {agreed:,} as they "
            f"do; at least {100 * LEAST_AGREEMENT:.0f} % are wanted."
        )
    if reads_badly(right, made_up, least=LEAST_MADE_UP_AGREEMENT):
        return (
            f"Of {made_up:,} made-up replies, which choose a wrong option or none, {run.reader_name} read {right:,} "
            "correctly: it may answer the question instead of reading the reply."
        )
    return ""


def _warnings(run: Run, test: str, outcome: AskedBack, follow_ups: list[Table]) -> list[str]:
    """That replies stay unread because the model was not asked about them, or failed to answer."""
    if not outcome.missing:
        return []
    total = _rows(follow_ups)
    why = outcome.stopped or "the calls failed"
    who = f" (reader: {run.reader_name})" if run.reader else ""
    missing = f"{outcome.missing:,} of {total:,} replies that could not be read were not asked about either"
    return [f"{test}: {missing}{who}: {why}."]
