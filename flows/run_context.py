"""Context of a run: a configuration resolved once into tests, models, prices, budget and workers, for every stage.

Prefect is not imported here: a command that only checks waits for no orchestrator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypedDict, TypeVar, cast

from contrapose.flows.orchestration.spinner import show_step
from contrapose.flows.orchestration.workers import Workers
from contrapose.flows.reader import Reader, find_reader
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.prices import Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.core.registry import find, probe
from contrapose.tasks.core.validation import Suite
from contrapose.tasks.evaluate.embeddings import resolve_model, resolve_revision
from contrapose.tasks.infer.base import DescribesModel, Provider
from contrapose.tasks.infer.budget import Limits, open_budget
from contrapose.tasks.load.samples import Drawing
from contrapose.tasks.report.evidence import THE_MODEL
from contrapose.tasks.tables.large_blocks import give_back
from contrapose.tasks.tables.table import Table

if TYPE_CHECKING:
    from contrapose.flows.early_stopping import Schedule
    from contrapose.tasks.infer.task import InferOutcome, Terms

P = ParamSpec("P")
R = TypeVar("R")


class Embedding(TypedDict):
    """The model with which scorers compute embeddings."""

    embedding_model: str
    embedding_revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The context of a run: every stage receives it, and reads no global state."""

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
    likelihoods: Likelihoods
    """Which likelihoods the model gives."""
    identity: Mapping[str, str]
    """What the provider found the model to be."""
    limits: Limits
    """What it may spend."""
    price: Price | None
    """What the model's tokens cost; None where it is unknown."""
    reader: Reader | None = None
    """Another model that reads unread replies; None where the model under test does, or nobody is asked."""
    embedding: Embedding
    """The model that scorers embed by, and what its name stands for now."""
    suites: list[Suite] = field(default_factory=list)
    """Expectations of the user's own files; known when the run has begun."""
    started: datetime
    """In UTC."""
    clock: float = field(default_factory=monotonic)
    """Seconds, to measure how long the run takes."""
    workers: Workers = field(default_factory=Workers)
    """Who computes its portions."""
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds spent in each stage so far; the stages add to it."""
    remarks: list[str] = field(default_factory=list)
    """What people should know of the model, or of the replies that a recording has, and lacks; `perturb` adds to it."""

    @property
    def reader_name(self) -> str:
        """Name of the model that reads unread replies, for people."""
        return self.reader.spec.id if self.reader else THE_MODEL

    def terms(self) -> Terms:
        """Return the terms for asking the model under test: settings, price, limits."""
        from contrapose.tasks.infer.task import Terms

        return Terms(
            spec=self.spec,
            identity=self.identity,
            run=self.id,
            limits=self.limits,
            price=self.price,
            beside_price=self.reader.price if self.reader else None,
            again=self.config.refresh,
            ask_again=self.config.ask_again,
        )

    def reading_terms(self) -> Terms:
        """Return the terms for asking the reader, or else the model under test, about unread replies.

        Examples are left out: they show how the test's own prompts are answered.
        """
        own, reader = self.terms(), self.reader
        if reader is None:
            return replace(own, spec=own.spec.model_copy(update={"few_shot": ()})) if own.spec.few_shot else own
        return replace(
            own, spec=reader.spec, identity=reader.identity, price=reader.price, beside_price=self.price, reads=True
        )


def resolve_run(config: RunConfig) -> Run:
    """Resolve the configuration and find the models, before any work begins.

    Raises:
        ContraposeError: the configuration is wrong, or a model that the run may need cannot be found.
    """
    selected = plans(config)
    spec = config.model_spec()
    provider = find("providers", spec.known_provider)()
    budget = open_budget(config)
    identity = provider.identity(spec)
    likelihoods = provider.likelihoods(spec)
    _refuse_missing_embedding(config, selected, likelihoods=likelihoods)
    name = config.embedding_model
    return Run(
        config=config,
        plans=selected,
        spec=spec,
        provider=provider,
        likelihoods=likelihoods,
        identity=identity,
        limits=budget.limits,
        price=budget.price,
        reader=find_reader(config, selected, likelihoods=likelihoods),
        embedding={"embedding_model": name, "embedding_revision": resolve_revision(name)},
        workers=Workers(config.runner, config.runner_args, local=provider.local),
        started=datetime.now(UTC),
        remarks=provider.describe(identity) if isinstance(provider, DescribesModel) else [],
    )


def _refuse_missing_embedding(config: RunConfig, selected: Sequence[Plan], *, likelihoods: Likelihoods) -> None:
    """Raise ConfigError if a run would pay for replies that it could not read afterwards."""
    try:
        resolve_model(config.embedding_model)
    except ConfigError as error:
        readers = [plan.test for plan in selected if _may_embed(plan, likelihoods, seed=config.seed)]
        if readers:
            expected = f"the embedding model, with which {' and '.join(readers)} may have to read replies"
            raise ConfigError(error.found, expected=expected, remedy=error.remedy, where=error.where) from None


def _may_embed(plan: Plan, likelihoods: Likelihoods, *, seed: int) -> bool:
    """Return True if a reply may be read by embedding; read the data only if their options decide that."""
    samples = plan.probe_settings.embeds(likelihoods)
    if samples != "without_options":
        return samples == "all"
    chosen = probe(plan.test)
    drawing = Drawing(
        data=plan.data,
        sample_type=chosen.sample_type,
        limit=plan.limit,
        seed=seed,
        uses_answers=chosen.uses_answers,
    )
    return any(not sample.options for sample in drawing.samples())


def time_stage(stage: Callable[Concatenate[Run, P], R]) -> Callable[Concatenate[Run, P], R]:
    """Decorate a stage: show it at a terminal, and note its duration in `Run.timings`."""

    @wraps(stage)
    def run_stage(run: Run, *args: P.args, **kwargs: P.kwargs) -> R:
        start, name = monotonic(), getattr(stage, "__name__", "")
        try:
            with show_step(name):
                return stage(run, *args, **kwargs)
        finally:
            run.timings[name] = round(monotonic() - start, 3)
            give_back()

    return cast(Callable[Concatenate[Run, P], R], run_stage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The trials of one test; empty at first."""

    tables: list[Table] = field(default_factory=list)
    """In the order of the cases."""
    asked: int = 0
    """Number of cases in them."""
    unasked: int = 0
    """Cases in which something was not asked, because the run was stopped."""
    stopped: str | None = None
    """Why it was stopped, if it was."""
    notes: dict[str, str | float] = field(default_factory=dict)
    """What the model says about how it computed."""
    read_instead: int = 0
    """Cases whose replies are read, since likelihoods of their labels decide nothing."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """Replies without text to read, by their outcome; `empty`: the model wrote none."""
    thinks: bool = False
    """Whether some replies begin within a thought, which they close."""
    warnings: list[str] = field(default_factory=list)
    """What people should know of the asking."""
    made_up: tuple[int, int] = (0, 0)
    """Made-up replies that the reader read as what they say, and all that it read."""
    distrust: str = ""
    """Why the reader was asked about no unread reply, in a sentence; empty where it could be asked."""
    of_model: dict[str, str] = field(default_factory=dict)
    """Warnings about how the model answers, by their kind: a run shows each kind once."""
    schedule: Schedule | None = None
    """When the test was compared with its gates while it was asked; None where that comes when all is asked."""
    saved: int = 0
    """Questions that were not asked, since the test was decided without them."""

    def plus(self, asked: InferOutcome) -> Trials:
        """Return the trials with those of a further portion."""
        return replace(
            self,
            tables=[*self.tables, asked["table"]],
            asked=self.asked + asked["table"]["rows"],
            unasked=self.unasked + asked["unasked"],
            stopped=asked["stopped"] or self.stopped,
            notes={**self.notes, **asked["notes"]},
            read_instead=self.read_instead + asked["read_instead"],
            unread=Counter(self.unread) + Counter(asked["unread"]),
            thinks=self.thinks or asked["thinks"],
            of_model={**asked["warnings"], **self.of_model},
        )
