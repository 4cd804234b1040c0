"""Tasks: infer, and ask back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, TypedDict

import pyarrow.compute as pc

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.records import Case, FollowUp, Trial, Usage
from contrapose.tasks.core.registry import find
from contrapose.tasks.core.reply_outcomes import AskedAgain
from contrapose.tasks.infer.adapting import adapt, adapted
from contrapose.tasks.infer.ask import about, ask, ask_back, said_about, unasked
from contrapose.tasks.infer.base import NO_PASSAGES, KnowsCases, Model, ReturnsPassages
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.meter import Meter, current_meter, doing, metered
from contrapose.tasks.infer.team import TeamBudget, reporting
from contrapose.tasks.probes.reading_checks import agreement
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import identity_of_store
from contrapose.tasks.tables.columnar import from_arrow, schema_of, to_arrow
from contrapose.tasks.tables.table import Table, neighbours, read, read_arrow, write_arrow


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """Portions that are asked at the same time, and what they share."""

    id: str
    """Its name in the store."""
    spent: Usage
    """What the run had spent on the model when the team began."""
    beside: Usage
    """What it had spent on its other model."""
    processes: int
    """How many processes ask."""
    store: str
    """The response store, which every process must use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Who is asked, and what that may take: the same for every question of a run to one model."""

    spec: ModelSpec
    """The model and its settings."""
    identity: Mapping[str, str]
    """What the provider found the model to be; part of every answer's key."""
    run: str
    """Id of the run; what it has spent so far is in the store."""
    limits: Limits
    """What the run may spend."""
    price: Price | None = None
    """What the model's tokens cost; None where it is unknown."""
    beside_price: Price | None = None
    """What those of the run's other model cost, if it has one."""
    reads: bool = False
    """Whether the model is the run's reader, and not the one under test."""
    again: bool = False
    """Take only answers that this run asked for itself."""
    ask_again: tuple[AskedAgain, ...] = ()
    """Outcomes of answers that are asked for again."""
    team: Team | None = None
    """The portions that are asked at the same time; None where one is asked after the other."""


_OPENED: dict[str, Model] = {}
"""The local model that was opened last, and endpoints opened since, by their specifications as JSON."""
_OPENING = Lock()
"""Portions that are asked in threads wait for one of them to open it."""


class Asked(TypedDict):
    """What came of some cases."""

    table: Table
    """Their trials."""
    unasked: int
    """Trials in which something was not asked, because the run was stopped."""
    answered: int
    """Questions about replies to which the model gave an answer."""
    read: tuple[int, int]
    """Of replies that rules read: how many the model reads as they do, and of how many it told what it reads."""
    made_up: tuple[int, int]
    """The same of made-up replies: how many the model reads as what they say."""
    stopped: str | None
    """Why the run was stopped, if it was."""
    read_instead: int
    """Cases that were to be judged by likelihood, and whose labels held too little of the probability: their replies
    are read."""
    unread: dict[str, int]
    """How many replies have no text to read, by their outcome; `empty`: the model wrote none."""
    warnings: dict[str, str]
    """What people should know of how the model answered, by its kind."""
    notes: dict[str, str | float]
    """What the model says about how it computed; empty where it was not needed."""


@room_task("infer", run_name="infer {label}", persist=False)
def infer(
    label: str,
    cases: Table,
    rows: tuple[int, int],
    terms: Terms,
    stopped: str | None = None,
    only_likelihoods: bool = False,
) -> Asked:
    """Put some cases to the model; the response store keeps every answer, and is asked first.

    Args:
        label: which part of which test, for people.
        cases: of that test.
        rows: places of the first of these cases, from 0, and of what comes after the last; skipped ones are left out.
        terms: who is asked, and what that may take.
        stopped: why nothing is to be asked any more, where an earlier part of the run was stopped.
        only_likelihoods: whether cases that compare likelihoods must not be read where the endpoint gives none.
    """
    notes: dict[str, str | float] = {}
    part = neighbours(cases, *rows)
    part = part.filter(pc.is_null(part["skip_reason"])).combine_chunks()
    chosen: list[Case] = from_arrow(part, Case)

    def asking(broker: StoreBroker, model: Callable[[], Model]) -> list[Trial]:
        model = partial(_expecting, model, chosen)
        provider = find("providers", terms.spec.provider)()
        settled = adapted(chosen, broker, model=model, provider=provider, only_likelihoods=only_likelihoods)
        # Answers that were found in the store were asked so, too.
        if settled.form is not None:
            notes["constrained"] = "no" if settled.form == "plain" else settled.form
        if settled.changes:
            notes["changed_settings"] = json.dumps(settled.changes)
        return ask(settled.cases, broker, model=model, form=settled.form or "plain")

    asked = _put(asking, terms, cases=part.to_struct_array(), label=label, stopped=stopped)
    return {**asked, "notes": {**asked["notes"], **notes}}


@room_task("ask back", run_name="ask back {label}", persist=False)
def ask_about(
    label: str,
    trials: Table,
    follow_ups: Table,
    terms: Terms,
    stopped: str | None = None,
) -> Asked:
    """Ask which option replies choose; stored, counted and paid for as any other question.

    Args:
        label: which part of which test, for people.
        trials: with the replies.
        follow_ups: questions about them.
        terms: who is asked, and what that may take.
        stopped: why nothing is to be asked any more, where an earlier part of the run was stopped.
    """
    questions, stored = read(follow_ups, FollowUp), read_arrow(trials)
    said: dict[FollowUp, str] = {}
    cases: dict[str, Case] = {}

    def asking(broker: StoreBroker, model: Callable[[], Model]) -> list[Trial]:
        provider, trials = find("providers", terms.spec.provider)(), from_arrow(stored, Trial)
        try:
            adapt(list(dict.fromkeys(map(about, questions))), broker, model=model, provider=provider)
            answered = ask_back(trials, questions, broker, model=model)
        except ModelError as error:
            # It leaves replies unread, and no verdict incomplete: only what is stored is taken.
            broker.stop(str(error))
            answered = ask_back(trials, questions, broker, model=model)
        said.update(said_about(questions, broker.answers))
        cases.update((trial.case.id, trial.case) for trial in answered)
        return answered

    asked = _put(asking, terms, cases=stored["case"], label=label, stopped=stopped)
    return {
        **asked,
        "answered": len(said),
        "read": agreement(cases, said),
        "made_up": agreement(cases, said, made_up=True),
    }


def _put(
    asking: Callable[[StoreBroker, Callable[[], Model]], list[Trial]],
    terms: Terms,
    *,
    cases: Any,
    label: str,
    stopped: str | None,
) -> Asked:
    """Ask about some cases, which are there as a column too, at a broker of the run's store and budget."""
    spec, run, team = terms.spec, terms.run, terms.team
    keys = Keys(spec, terms.identity)
    shared = {"identity": dict(terms.identity), "processes": team.processes if team else 1}
    with _portion(team, label) as (owner, meter):
        budget = _budget(terms) if owner is None or team is None else _team_budget(terms, team, owner)
        broker = StoreBroker(
            keys,
            run=run,
            model=spec.id,
            budget=budget,
            again=terms.again,
            ask_again=terms.ask_again,
            stopped=stopped,
            reads=terms.reads,
        )

        def model() -> Model:
            return _open(broker.keys.spec.model_copy(update=shared).model_dump_json())

        with broker, nullcontext() if owner is None else reporting(owner, broker, meter):
            trials = asking(broker, model)
            notes = dict(model().notes()) if broker.asked else {}
            read_instead = sum(
                trial.case.asks != asks
                for trial, asks in zip(trials, pc.struct_field(cases, "asks").to_pylist(), strict=True)
            )
            # Answers are still being written meanwhile; only what is all written leaves this room.
            known = {} if read_instead else {"case": cases}
            table = write_arrow([to_arrow(trials, Trial, known=known)], schema_of(Trial))
    Store().runs.add_hits(run, broker.hits)
    return Asked(
        table=table,
        unasked=sum(unasked(trial) for trial in trials),
        answered=0,
        read=(0, 0),
        made_up=(0, 0),
        read_instead=read_instead,
        unread=_unread(trials),
        stopped=broker.stopped,
        warnings={**_without_passages(trials, spec), **broker.warnings},
        notes=notes,
    )


def _unread(trials: Sequence[Trial]) -> dict[str, int]:
    """Counts of the replies that are there, and have no text to read."""
    replies = (reply for trial in trials for reply in (trial.expected, trial.actual) if reply.error is None)
    named = (reply.outcome if reply.is_unread else "empty" if reply.text == "" else "" for reply in replies)
    return dict(Counter(filter(None, named)))


def _without_passages(trials: Sequence[Trial], spec: ModelSpec) -> Mapping[str, str]:
    """A warning where replies, fresh ones or stored ones, lack the passages that they were to come with."""
    provider = find("providers", spec.provider)()
    if not (isinstance(provider, ReturnsPassages) and provider.returns_passages(spec)):
        return {}
    replies = (reply for trial in trials for reply in (trial.expected, trial.actual))
    lacking = any(reply.error is None and reply.passages is None for reply in replies)
    return {"passages": f"{NO_PASSAGES}: they came without."} if lacking else {}


@contextmanager
def _portion(team: Team | None, label: str) -> Iterator[tuple[str | None, Meter]]:
    """The row of a portion in its team, and what it counts on; no row where it is asked alone.

    Raises:
        ConfigError: this process uses another store than the flow.
    """
    if team is None:
        yield None, current_meter()
        return
    if (own := identity_of_store()) != team.store:
        raise ConfigError(
            f"a worker keeps answers in {own}",
            expected=f"the store of the flow, {team.store}",
            remedy="Name one PostgreSQL database in CONTRAPOSE_STORE, for the flow and for every worker.",
            where="runner",
        )
    with metered(Meter()) as meter:
        yield Store().teams.join(team.id, label), meter


def _budget(terms: Terms) -> Budget:
    """What may still be spent: model and reader have spent what is in the store."""
    own, beside = spent_so_far(terms)
    return Budget(limits=terms.limits, price=terms.price, spent=own, beside=beside, beside_price=terms.beside_price)


def spent_so_far(terms: Terms) -> tuple[Usage, Usage]:
    """What a run has spent on the model that is asked, and on its other one."""
    both, reader = Store().runs.spent(terms.run), Store().runs.read(terms.run).spent
    return (reader, both - reader) if terms.reads else (both - reader, reader)


def _team_budget(terms: Terms, team: Team, owner: str) -> Budget:
    """What the portion may spend, which the whole team must be able to."""
    return TeamBudget(
        limits=terms.limits,
        price=terms.price,
        spent=team.spent,
        beside=team.beside,
        beside_price=terms.beside_price,
        team=team.id,
        owner=owner,
    )


def _expecting(model: Callable[[], Model], cases: Sequence[Case]) -> Model:
    """The model, which has taken note of the cases that ask."""
    opened = model()
    if isinstance(opened, KnowsCases):
        opened.expect(cases)
    return opened


def _open(spec: str) -> Model:
    """One loaded model a process; the next task run of the same model finds it ready.

    Other weights in the same folder, or another address in the environment, are another identity. A local model is let
    go before another one is loaded: a run's model and its reader need not fit into memory together.
    """
    with _OPENING:
        if spec not in _OPENED:
            chosen = ModelSpec.model_validate_json(spec)
            provider = find("providers", chosen.provider)()
            if provider.local:
                _OPENED.clear()
            with doing("loading the model"):
                _OPENED[spec] = provider.open(chosen)
        return _OPENED[spec]
