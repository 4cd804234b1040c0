"""A configuration resolved, and its models found, before anything is computed; a run begun or gone on with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext
from pydantic import ValidationError

from contrapose.flows.orchestration.workers import Workers
from contrapose.flows.reader import Reader, find_reader
from contrapose.flows.serve.temporary_server import is_kept
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.prices import Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.core.registry import find, probe
from contrapose.tasks.evaluate.embeddings import located
from contrapose.tasks.infer.base import Provider
from contrapose.tasks.infer.budget import Limits, open_budget
from contrapose.tasks.infer.task import Terms
from contrapose.tasks.load.samples import Drawing
from contrapose.tasks.report.evidence import THE_MODEL
from contrapose.tasks.report.publish import run_id
from contrapose.tasks.store import Store
from contrapose.tasks.store.runs import RunRow, Runs
from contrapose.tasks.tables.table import Table


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
    workers: Workers = field(default_factory=Workers)
    """Who computes its portions."""
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
    provider = find("providers", spec.provider)()
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
        workers=Workers(config.runner, config.runner_args, local=provider.local),
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
    store = Store().runs
    if resumed is not None:
        if (row := store.get(resumed)) is not None:
            refuse_other(config, row)
        store.again(resumed)
        return replace(run, id=resumed)
    if (earlier := begun(store)) is not None and store.take_over(earlier):
        return replace(run, id=earlier)
    name = run_id(run.started.strftime("%Y%m%dT%H%M%SZ"), config)
    chosen = store.begin(name, config=config.model_dump_json(), folder=str(Path.cwd()))
    note(chosen)
    return replace(run, id=chosen)


def alive(run: Run) -> AbstractContextManager[None]:
    """Let the store know that a run goes on, until the end of the context: nobody else may resume it meanwhile."""
    return Store().runs.alive(run.id)


def refuse_unreadable(config: RunConfig, selected: Sequence[Plan], *, likelihoods: Likelihoods) -> None:
    """Refuse a run whose replies would be paid for, and then could not be read.

    Args:
        config: the run.
        selected: its tests.
        likelihoods: which of them the model gives.

    Raises:
        ConfigError: a test may read a reply by embedding, and the embedding model is missing.
        DataError: the model is missing, and the data that tell whether it is needed cannot be read.
    """
    try:
        located(config.embedding_model)
    except ConfigError as error:
        readers = [plan.test for plan in selected if _embeds(plan, likelihoods, seed=config.seed)]
        if readers:
            expected = f"the embedding model, with which {' and '.join(readers)} may have to read replies"
            raise ConfigError(error.found, expected=expected, remedy=error.remedy, where=error.where) from None


def _embeds(plan: Plan, likelihoods: Likelihoods, *, seed: int) -> bool:
    """Whether a reply may be read by embedding; the data are looked at only where that hangs on options."""
    samples = plan.probe_settings.embeds(likelihoods)
    if samples != "without_options":
        return samples == "all"
    drawing = Drawing(data=plan.data, sample_type=probe(plan.test).sample_type, limit=plan.limit, seed=seed)
    return any(not sample.options for sample in drawing.samples())


LABEL = "contrapose.run"
"""Of a flow run: id of the run that it began."""
STARTS = 5
"""A flow run that crashed so often will crash again: what crashes starts again by itself, and would never end."""


def begun(store: Runs) -> str | None:
    """Id of the unfinished run that this flow run began when it started before; None where there is none.

    Raises:
        ContraposeError: it was started too often.
    """
    flow_run = _here()
    if flow_run is None or flow_run.run_count <= 1:
        return None
    if flow_run.run_count > STARTS:
        raise ContraposeError(
            f"the flow run was started {flow_run.run_count} times, and never came to its end",
            expected=f"at most {STARTS} starts",
            remedy="Its log tells what ended it. Start a new run: what was answered is not asked again.",
            where=flow_run.name,
        )
    with get_client(sync_client=True) as client:
        name = client.read_flow_run(flow_run.id).labels.get(LABEL)
    row = store.get(str(name)) if name else None
    return row.id if row is not None and row.state in ("running", "incomplete") else None


def note(run: str) -> None:
    """Keep the id of the run that this flow run began."""
    flow_run = _here()
    if flow_run is not None:
        with get_client(sync_client=True) as client:
            client.update_flow_run_labels(flow_run.id, {LABEL: run})


def _here() -> FlowRun | None:
    """This flow run, where a server keeps it: Prefect's temporary one ends with the process."""
    context = FlowRunContext.get()
    return context.flow_run if context is not None and is_kept() else None


BUDGET = {"max_calls", "max_tokens", "max_cost"}
"""Keys that may change: they decide how far a run comes, and nothing that it finds."""


def config_of(row: RunRow) -> RunConfig:
    """The configuration that a run began with.

    Raises:
        ConfigError: it is not one of this version.
    """
    try:
        return RunConfig.model_validate_json(row.config)
    except ValidationError as error:
        raise ConfigError(
            "the run was started by another version of Contrapose, whose configuration differs",
            expected="a configuration of this version",
            remedy="Start a new run: what was answered is not asked twice.",
            where=row.id,
        ) from error


def refuse_other(config: RunConfig, row: RunRow) -> None:
    """Refuse a configuration that would make another run of this one.

    Raises:
        ConfigError: it differs in more than the budget.
    """
    own, wanted = (configuration.model_dump(mode="json", exclude=BUDGET) for configuration in (config_of(row), config))
    differing = [name for name in own if own[name] != wanted[name]]
    if differing:
        raise ConfigError(
            f"the configuration is not the run's own: {', '.join(differing)}",
            expected=f"the same, but for {', '.join(sorted(BUDGET))}",
            remedy="`contrapose resume` takes the run's own, or start a new run: what was answered is not asked twice.",
            where=row.id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The trials of one test."""

    tables: list[Table]
    """In the order of the cases."""
    asked: int
    """How many cases they hold."""
    unasked: int
    """Those among them in which something was not asked, because the run was stopped."""
    stopped: str | None
    """Why it was stopped, if it was."""
    notes: dict[str, str | float]
    """What the model says about how it computed."""
    silent: int = 0
    """Replies without text."""
    warnings: list[str] = field(default_factory=list)
    """What people should know of the asking."""
    of_model: dict[str, str] = field(default_factory=dict)
    """What they should know of how the model answers, by its kind: a run tells each kind once."""


def terms(run: Run) -> Terms:
    """How the model under test is asked."""
    return Terms(
        spec=run.spec,
        identity=run.identity,
        run=run.id,
        limits=run.limits,
        price=run.price,
        beside_price=run.reader.price if run.reader else None,
        again=run.config.refresh,
    )


def reading_terms(run: Run) -> Terms:
    """How whoever reads what could not be read is asked: the run's reader, or else the model under test.

    Examples are none of it: they show how the test's own prompts are answered.
    """
    own = terms(run)
    if (reader := run.reader) is None:
        return replace(own, spec=own.spec.model_copy(update={"few_shot": ()})) if own.spec.few_shot else own
    return replace(
        own, spec=reader.spec, identity=reader.identity, price=reader.price, beside_price=run.price, reads=True
    )
