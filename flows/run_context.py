"""A configuration resolved, and its models found, before anything is computed.

Prefect is not imported here: a command that only checks waits for no orchestrator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from contrapose.flows.orchestration.workers import Workers
from contrapose.flows.reader import Reader, find_reader
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.prices import Price
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.core.registry import find, probe
from contrapose.tasks.evaluate.embeddings import located
from contrapose.tasks.infer.base import Provider
from contrapose.tasks.infer.budget import Limits, open_budget
from contrapose.tasks.load.samples import Drawing
from contrapose.tasks.probes.base import uses_answers
from contrapose.tasks.report.evidence import THE_MODEL
from contrapose.tasks.tables.table import Table

if TYPE_CHECKING:
    from contrapose.flows.look_schedule import Schedule
    from contrapose.tasks.infer.task import Asked, Terms


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
    """Seconds spent in each room so far; the rooms add to it."""
    remarks: list[str] = field(default_factory=list)
    """What people should know of the replies that a recording has, and lacks; `perturb` adds to it."""

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
    provider = find("providers", spec.known_provider)()
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
    chosen = probe(plan.test)
    drawing = Drawing(
        data=plan.data,
        sample_type=chosen.sample_type,
        limit=plan.limit,
        seed=seed,
        uses_answers=uses_answers(chosen),
    )
    return any(not sample.options for sample in drawing.samples())


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
    read_instead: int = 0
    """Cases whose replies are read, since likelihoods of their labels decide nothing."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """How many replies have no text to read, by their outcome; `empty`: the model wrote none."""
    warnings: list[str] = field(default_factory=list)
    """What people should know of the asking."""
    made_up: tuple[int, int] = (0, 0)
    """Made-up replies that the reader read as what they say, and all of which it said what it reads."""
    distrust: str = ""
    """Why the reader was asked about no unread reply, in a sentence; empty where it could be asked."""
    of_model: dict[str, str] = field(default_factory=dict)
    """What they should know of how the model answers, by its kind: a run tells each kind once."""
    schedule: Schedule | None = None
    """When the test was held against its gates while it was asked; None where that comes when all is asked."""
    saved: int = 0
    """Questions that were not asked, since the test was decided without them."""

    def plus(self, asked: Asked) -> Trials:
        """The same, and those of a further portion."""
        return replace(
            self,
            tables=[*self.tables, asked["table"]],
            asked=self.asked + asked["table"]["rows"],
            unasked=self.unasked + asked["unasked"],
            stopped=asked["stopped"] or self.stopped,
            notes={**self.notes, **asked["notes"]},
            read_instead=self.read_instead + asked["read_instead"],
            unread=Counter(self.unread) + Counter(asked["unread"]),
            of_model={**asked["warnings"], **self.of_model},
        )


def no_trials() -> Trials:
    """Those of a test of which nothing was asked yet."""
    return Trials(tables=[], asked=0, unasked=0, stopped=None, notes={})


def terms(run: Run) -> Terms:
    """How the model under test is asked."""
    from contrapose.tasks.infer.task import Terms

    return Terms(
        spec=run.spec,
        identity=run.identity,
        run=run.id,
        limits=run.limits,
        price=run.price,
        beside_price=run.reader.price if run.reader else None,
        again=run.config.refresh,
        ask_again=run.config.ask_again,
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
