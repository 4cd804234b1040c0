"""The entrance: a configuration resolved, and its model found, before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import cast

from contrapose.flows.embedding import refuse_unreadable
from contrapose.flows.reader import Reader, find_reader
from contrapose.flows.reruns import begun, note
from contrapose.flows.resumption import refuse_other
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.prices import Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.registry import find
from contrapose.tasks.infer.base import Provider
from contrapose.tasks.infer.budget import Limits, open_budget
from contrapose.tasks.report.evidence import THE_MODEL
from contrapose.tasks.report.publish import run_id
from contrapose.tasks.store import open_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What stays the same from the first room to the last."""

    config: RunConfig
    """As it was given."""
    id: str = ""
    """Its name in the response store and of its folder; empty before it has begun."""
    plans: list[Plan]
    """The selected tests with nothing left open."""
    spec: ModelSpec
    """The model and its settings."""
    provider: Provider
    """How the model is reached."""
    identity: Mapping[str, str]
    """What the provider found the model to be."""
    limits: Limits
    """What it may spend."""
    price: Price | None
    """What the model's tokens cost; None where it is unknown."""
    reader: Reader | None = None
    """Another model that is asked what replies choose; None where that is the model itself, or nobody is asked."""
    started: datetime
    """In UTC."""
    clock: float = field(default_factory=monotonic)
    """Seconds, to tell how long the run took."""
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds spent in each room so far; the only thing that the rooms add to."""

    @property
    def reader_name(self) -> str:
        """Who is asked what replies choose, for people."""
        return self.reader.spec.id if self.reader else THE_MODEL


def enter(config: RunConfig) -> Run:
    """Resolve the configuration and find the models, before anything is computed.

    Raises:
        ContraposeError: the configuration is wrong, or a model that the run may need cannot be found.
    """
    selected = plans(config)
    spec = config.model_spec()
    provider = cast(Provider, find("providers", spec.provider)())
    budget = open_budget(config)
    identity = provider.identity(spec)
    likelihoods = provider.likelihoods(spec)
    refuse_unreadable(config, selected, likelihoods=likelihoods)
    return Run(
        config=config,
        plans=selected,
        spec=spec,
        provider=provider,
        identity=identity,
        limits=budget.limits,
        price=budget.price,
        reader=find_reader(config, selected, likelihoods=likelihoods),
        started=datetime.now(UTC),
    )


def begin(config: RunConfig, *, resumed: str | None = None) -> Run:
    """Enter, and note in the response store that a run begins.

    Args:
        config: the run.
        resumed: id of an unfinished run that goes on; empty: the one that this flow run began before, if it did.

    Raises:
        ConfigError: the run to be resumed is not there, has ended, is going on, or was begun with something else.
    """
    run = enter(config)
    store = open_runs()
    if resumed is not None:
        if (row := store.get(resumed)) is not None:
            refuse_other(config, row)
        store.again(resumed)
        return replace(run, id=resumed)
    if (found := begun(store)) is not None and store.take_over(found):
        return replace(run, id=found)
    name = run_id(run.started.strftime("%Y%m%dT%H%M%SZ"), config)
    chosen = store.begin(name, config=config.model_dump_json(), folder=str(Path.cwd()))
    note(chosen)
    return replace(run, id=chosen)


def alive(run: Run) -> AbstractContextManager[None]:
    """Let the store know that a run goes on, until the end of the context: nobody else may resume it meanwhile."""
    return open_runs().alive(run.id)
