"""What the infer room hands on, and what every question of a run is asked under."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from contrapose.flows.run_context import Run
from contrapose.tasks.infer.task import Terms
from contrapose.tasks.tables.table import Table


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
    """How whoever reads what could not be read is asked: the run's reader, or else the model under test."""
    own = terms(run)
    if (reader := run.reader) is None:
        return own
    return replace(
        own, spec=reader.spec, identity=reader.identity, price=reader.price, beside_price=run.price, reads=True
    )
