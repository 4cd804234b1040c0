"""Prefect tasks of the infer stage: ask the model the prompts of cases, and ask the reader model about replies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import NotRequired, TypedDict

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.provider import AnswersOnly
from contrapose.tasks.core.records import Case, Completion, FollowUp, Trial, Usage
from contrapose.tasks.core.registry import find
from contrapose.tasks.core.reply_outcomes import AskedAgain
from contrapose.tasks.infer.adapting import adapt, adapt_to_cases
from contrapose.tasks.infer.ask import ask, ask_about_replies, collect_answers, is_unasked, make_reader_question
from contrapose.tasks.infer.base import NO_PASSAGES, KnowsCases, Model, Provider, ReturnsPassages
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.meter import Meter, current_meter, show_work, use_meter
from contrapose.tasks.infer.team import TeamBudget, report_progress
from contrapose.tasks.infer.thoughts import has_unopened_thoughts, mark_if_cut_off
from contrapose.tasks.language.replies.cut_off import is_thought_alone
from contrapose.tasks.probes.reader_questions import count_agreed
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import get_store_identity
from contrapose.tasks.tables.table import Table, read, read_rows, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """Facts that portions of a run share if they are asked at the same time."""

    id: str
    """Its name in the store."""
    spent: Usage
    """RunSpending of the run on the model when the team began."""
    beside: Usage
    """Spending of the run on its other model."""
    processes: int
    """Number of processes that ask."""
    store: str
    """The response store, which every process must use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Model, price and limits that all questions of a run to one model share."""

    spec: ModelSpec
    """The model and its settings."""
    identity: Mapping[str, str]
    """Identity of the model, by its provider; part of every answer's key."""
    run: str
    """Id of the run; its spending is in the store."""
    limits: Limits
    """Limits of the run."""
    price: Price | None = None
    """Price of the model's tokens; None if it is unknown."""
    beside_price: Price | None = None
    """Price of the run's other model, if it has one."""
    reads: bool = False
    """Whether the model is the run's reader, and not the one under test."""
    again: bool = False
    """Take only answers that this run asked for itself."""
    ask_again: tuple[AskedAgain, ...] = ()
    """Outcomes of answers that are asked for again."""
    team: Team | None = None
    """The team of portions that are asked at the same time; None if they are asked one after the other."""


_OPENED: dict[str, Model] = {}
"""The local model that was opened last, and endpoints opened since, by their specifications as JSON."""
_OPENING = Lock()
"""Portions that are asked in threads wait for one of them to open it."""


class InferOutcome(TypedDict):
    """Trials and counts of some cases after they were asked."""

    table: Table
    """Their trials."""
    unasked: int
    """Number of trials with a prompt that was not asked because the run was stopped."""
    answered: int
    """Questions about replies to which the model gave an answer."""
    read: tuple[int, int]
    """Of replies that rules read: the number that the model reads alike, and the number that it read."""
    made_up: tuple[int, int]
    """The same of made-up replies, by their true meaning."""
    stopped: str | None
    """Why the run was stopped, if it was."""
    read_instead: int
    """Cases that were to be judged by likelihood, and whose labels held too little of the probability: their replies
    are read."""
    unread: dict[str, int]
    """Number of replies without an answer to read, by outcome; `empty`: no text, `thought`: a thought alone."""
    thinks: bool
    """Whether some replies begin within a thought, which they close."""
    warnings: dict[str, str]
    """Warnings about the answers, by kind."""
    calls: NotRequired[int]
    """Answers that the model was asked for."""
    from_store: NotRequired[int]
    """Answers that were there."""
    notes: dict[str, str | float]
    """Notes of the model about how it computed; empty if it was not needed."""


@room_task("infer", run_name="infer {label}", persist=False)
def infer(
    label: str,
    cases: Table,
    rows: tuple[int, int],
    terms: Terms,
    stopped: str | None = None,
    only_likelihoods: bool = False,
) -> InferOutcome:
    """Ask the model the prompts of some cases; answers in the response store are taken first.

    `rows` are the places of the first of these cases, from 0, and after the last; skipped ones are left out.
    """
    notes: dict[str, str | float] = {}
    chosen = [case for case in read_rows(cases, Case, first=rows[0], end=rows[1]) if case.skip_reason is None]

    def asking(broker: StoreBroker, model: Callable[[], Model], provider: Provider) -> list[Trial]:
        def expecting() -> Model:
            opened = model()
            if isinstance(opened, KnowsCases):
                opened.expect(chosen)
            return opened

        settled = adapt_to_cases(chosen, broker, model=expecting, provider=provider, only_likelihoods=only_likelihoods)
        # Answers that were found in the store were asked so, too.
        if settled.form is not None:
            notes["constrained"] = "no" if settled.form == "plain" else settled.form
        if settled.changes:
            notes["changed_settings"] = json.dumps(settled.changes)
        return ask(settled.cases, broker, model=expecting, form=settled.form or "plain")

    asked = _ask_portion(asking, terms, cases=chosen, label=label, stopped=stopped)
    return {**asked, "notes": {**asked["notes"], **notes}}


@room_task("ask back", run_name="ask back {label}", persist=False)
def ask_reader_model(
    label: str,
    trials: Table,
    follow_ups: Table,
    terms: Terms,
    stopped: str | None = None,
) -> InferOutcome:
    """Ask the reader model which option replies choose; each question is stored and counted like any other."""
    questions, stored = read(follow_ups, FollowUp), read(trials, Trial)
    said: dict[FollowUp, str] = {}
    cases: dict[str, Case] = {}

    def asking(broker: StoreBroker, model: Callable[[], Model], provider: Provider) -> list[Trial]:
        try:
            adapt(list(dict.fromkeys(map(make_reader_question, questions))), broker, model=model, provider=provider)
            answered = ask_about_replies(stored, questions, broker, model=model)
        except ModelError as error:
            # It leaves replies unread, and no verdict incomplete: only what is stored is taken.
            broker.stop(str(error))
            answered = ask_about_replies(stored, questions, broker, model=model)
        said.update(collect_answers(questions, broker.answers))
        cases.update((trial.case.id, trial.case) for trial in answered)
        return answered

    asked = _ask_portion(asking, terms, cases=[trial.case for trial in stored], label=label, stopped=stopped)
    return {
        **asked,
        "answered": len(said),
        "read": count_agreed(cases, said),
        "made_up": count_agreed(cases, said, made_up=True),
    }


def _ask_portion(
    asking: Callable[[StoreBroker, Callable[[], Model], Provider], list[Trial]],
    terms: Terms,
    *,
    cases: Sequence[Case],
    label: str,
    stopped: str | None,
) -> InferOutcome:
    """Open a broker with the run's store and budget, call `asking` with it, and return the trials and counts."""
    spec, run, team = terms.spec, terms.run, terms.team
    provider = find("providers", spec.provider)()
    shared = {"identity": dict(terms.identity), "processes": team.processes if team else 1}
    with _join_team(team, label) as (owner, meter):
        broker = StoreBroker(
            Keys(spec, terms.identity),
            run=run,
            model=spec.id,
            budget=_open_budget(terms, owner),
            again=terms.again,
            ask_again=terms.ask_again,
            stopped=stopped,
            reads=terms.reads,
        )

        def model() -> Model:
            return open_model(broker.keys.spec.model_copy(update=shared).model_dump_json())

        with broker, nullcontext() if owner is None else report_progress(owner, broker, meter):
            trials = asking(broker, model, provider)
            if isinstance(provider, AnswersOnly):
                trials = list(map(mark_if_cut_off, trials))
            notes = dict(model().notes()) if broker.asked else {}
            # Answers are still being written meanwhile; this room is left only when all are.
            table = write(trials, Trial)
    Store().runs.add_hits(run, broker.hits)
    replies = [reply for trial in trials for reply in (trial.expected, trial.actual) if reply.error is None]
    return InferOutcome(
        table=table,
        unasked=sum(is_unasked(trial) for trial in trials),
        answered=0,
        read=(0, 0),
        made_up=(0, 0),
        read_instead=sum(trial.case.asks != case.asks for trial, case in zip(trials, cases, strict=True)),
        unread=dict(Counter(filter(None, map(_classify_unread_reply, replies)))),
        thinks=has_unopened_thoughts(replies),
        stopped=broker.stopped,
        warnings={**_make_passage_warning(replies, provider, spec), **broker.warnings},
        calls=broker.asked,
        from_store=broker.hits,
        notes=notes,
    )


def _classify_unread_reply(reply: Completion) -> str:
    """Return why a reply has nothing to read: its outcome, `empty` or `thought`; an empty text if it has."""
    if reply.is_unread:
        return reply.outcome
    return "empty" if reply.text == "" else "thought" if is_thought_alone(reply.text or "") else ""


def _make_passage_warning(replies: Iterable[Completion], provider: Provider, spec: ModelSpec) -> Mapping[str, str]:
    """Return a warning if a reply, new or stored, lacks the passages that it should have."""
    wants = isinstance(provider, ReturnsPassages) and provider.returns_passages(spec)
    lacking = wants and any(reply.passages is None for reply in replies)
    return {"passages": f"{NO_PASSAGES}: they came without."} if lacking else {}


@contextmanager
def _join_team(team: Team | None, label: str) -> Iterator[tuple[str | None, Meter]]:
    """Add a portion to its team, and yield its id and its meter; the id is None without a team."""
    if team is None:
        yield None, current_meter()
        return
    if (own := get_store_identity()) != team.store:
        raise ConfigError(
            f"a worker keeps answers in {own}",
            expected=f"the store of the flow, {team.store}",
            remedy="Name one PostgreSQL database in CONTRAPOSE_STORE, for the flow and for every worker.",
            where="runner",
        )
    with use_meter(Meter()) as meter:
        yield Store().teams.join(team.id, label), meter


def _open_budget(terms: Terms, owner: str | None) -> Budget:
    """Return the budget with the spending in the store; in a team, the budget of one portion."""
    if terms.team is None or owner is None:
        own, beside = read_spending(terms)
        return Budget(limits=terms.limits, price=terms.price, spent=own, beside=beside, beside_price=terms.beside_price)
    return TeamBudget(
        limits=terms.limits,
        price=terms.price,
        spent=terms.team.spent,
        beside=terms.team.beside,
        beside_price=terms.beside_price,
        team=terms.team.id,
        owner=owner,
    )


def read_spending(terms: Terms) -> tuple[Usage, Usage]:
    """Return the spending of a run on the model that is asked, and on its other model."""
    both, reader = Store().runs.usage(terms.run), Store().runs.read(terms.run).spent
    return (reader, both - reader) if terms.reads else (both - reader, reader)


def open_model(spec: str) -> Model:
    """Return a loaded model, which is kept in this process for the next task run.

    Other weights in the same folder, or another address in the environment, are another identity. A local model is
    released before another one is loaded, so that a run's model and its reader need not fit into memory together.
    """
    with _OPENING:
        if spec not in _OPENED:
            chosen = ModelSpec.model_validate_json(spec)
            provider = find("providers", chosen.provider)()
            if provider.local:
                _OPENED.clear()
            with show_work("loading the model"):
                _OPENED[spec] = provider.open(chosen)
        return _OPENED[spec]
