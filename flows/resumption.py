"""What a run that is resumed must agree with: the configuration that it began with."""

from __future__ import annotations

from pydantic import ValidationError

from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.store.runs import RunRow

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
    own, given = (each.model_dump(mode="json", exclude=BUDGET) for each in (config_of(row), config))
    differing = [name for name in own if own[name] != given[name]]
    if differing:
        raise ConfigError(
            f"the configuration is not the run's own: {', '.join(differing)}",
            expected=f"the same, but for {', '.join(sorted(BUDGET))}",
            remedy="`contrapose resume` takes the run's own, or start a new run: what was answered is not asked twice.",
            where=row.id,
        )
