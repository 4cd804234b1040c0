"""The entrance: a configuration resolved, and its model found, before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import cast

from contrapose.tasks.config import ModelSpec, Plan, RunConfig, plans
from contrapose.tasks.infer.base import Provider
from contrapose.tasks.registry import find


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What stays the same from the first room to the last."""

    config: RunConfig
    """As it was given."""
    plans: list[Plan]
    """The selected tests with nothing left open."""
    spec: ModelSpec
    """The model and its settings."""
    provider: Provider
    """How the model is reached."""
    identity: Mapping[str, str]
    """What the provider found the model to be."""
    started: datetime
    """In UTC."""
    clock: float = field(default_factory=monotonic)
    """Seconds, to tell how long the run took."""
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds spent in each room so far; the only thing that the rooms add to."""


def enter(config: RunConfig) -> Run:
    """Resolve the configuration and find the model, before anything is computed."""
    selected = plans(config)
    spec = config.model_spec()
    provider = cast(Provider, find("providers", spec.provider)())
    return Run(
        config=config,
        plans=selected,
        spec=spec,
        provider=provider,
        identity=provider.identity(spec),
        started=datetime.now(UTC),
    )
