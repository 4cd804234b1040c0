"""Task: infer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypedDict

from contrapose.tasks.infer.ask import ask, unasked
from contrapose.tasks.infer.base import Model
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.desk import StoreDesk
from contrapose.tasks.infer.forms import form_for, forms_of
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.store import open_runs
from contrapose.tasks.model_spec import ModelSpec
from contrapose.tasks.policy import room_task
from contrapose.tasks.prices import Price
from contrapose.tasks.records import Case, Trial
from contrapose.tasks.registry import find
from contrapose.tasks.tables import Table, read, write


class Asked(TypedDict):
    """What came of some cases."""

    table: Table
    """Their trials."""
    unasked: int
    """Trials in which something was not asked, because the run was stopped."""
    stopped: str | None
    """Why the run was stopped, if it was."""
    notes: dict[str, str | float]
    """What the model says about how it computed; empty where it was not needed."""


@room_task("infer", sources=(), run_name="infer {label}", persist=False)
def infer(
    label: str,
    cases: Table,
    spec: ModelSpec,
    identity: Mapping[str, str],
    run: str,
    limits: Limits,
    price: Price | None = None,
    again: bool = False,
    stopped: str | None = None,
) -> Asked:
    """Put some cases to the model; the response store keeps every answer, and is asked first.

    Args:
        label: which part of which test, for people.
        cases: cases without a skip reason.
        spec: the model and its settings.
        identity: what the provider found the model to be; part of every answer's key.
        run: id of the run; what it has spent so far is in the store.
        limits: what the run may spend.
        price: what tokens cost; None where it is unknown.
        again: take only answers that this run asked for itself.
        stopped: why nothing is to be asked any more, where an earlier part of the run was stopped.
    """
    budget = Budget(limits=limits, price=price, spent=open_runs().spent(run))
    notes: dict[str, str | float] = {}

    def model() -> Model:
        return _open(spec.model_copy(update={"found": dict(identity)}).model_dump_json())

    desk = StoreDesk(Keys(spec, identity), run=run, model=spec.id, budget=budget, again=again, stopped=stopped)
    with desk:
        chosen = read(cases, Case)
        form = form_for(chosen, desk, model=model, forms=forms_of(find("providers", spec.provider)(), spec))
        found = ask(chosen, desk, model=model, form=form or "plain")
        if desk.asked:
            notes = dict(model().notes())
        if form is not None:
            # Answers that were found in the store were asked in it, too.
            notes["constrained"] = "no" if form == "plain" else form
    open_runs().add_hits(run, desk.hits)
    return Asked(
        table=write(found, Trial),
        unasked=sum(unasked(trial) for trial in found),
        stopped=desk.stopped,
        notes=notes,
    )


@lru_cache(maxsize=1)
def _open(spec: str) -> Model:
    """One loaded model a process; the next task run of the same model finds it ready.

    Other weights in the same folder, or another address in the environment, are another identity.
    """
    chosen = ModelSpec.model_validate_json(spec)
    model: Model = find("providers", chosen.provider)().open(chosen)
    return model
