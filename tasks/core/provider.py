"""Facts that a provider declares about itself, so that shared code needs no provider's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from contrapose.tasks.config.model_spec import ModelSpec
    from contrapose.tasks.config.prices import Price


Role = Literal["answers", "pace", "key", "block"]
"""What an argument decides: which answers come, only how fast they come, or only where the key is found; `block` where
that is a Prefect Secret block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument in a provider's `model_args`."""

    type: str
    """What its value is, in a few words: `whole number`, `true or false`."""
    description: str
    """What it does, in a sentence."""
    default: Any = None
    """Its value where none is given; None if there is none."""
    role: Role = "answers"
    """What it decides. No argument holds a secret: it may name the place of one."""


@runtime_checkable
class AnswersOnly(Protocol):
    """Facts about a provider that cannot read replies for Contrapose, because it is a recording or no model."""

    answers_only: ClassVar[Literal[True]]
    """Always."""


State = Literal["ok", "warning", "problem"]
"""`problem`: something does not work; `warning`: it works, and not as it could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of checking a model before a run."""

    state: State
    """Whether a run could ask it."""
    observed: str
    """What was met, for people."""
    remedy: str = ""
    """What to do about it."""


class Described(Protocol):
    """Facts about a provider that are known before a model is opened."""

    local: ClassVar[bool]
    """Whether its models run on this machine: they cost nothing, and reply greedily where no temperature is given."""
    knows_weights: ClassVar[bool]
    """Whether it looks into the model itself, so that one training is told from another without a label."""
    concurrency: ClassVar[int]
    """Default number of requests at a time; 1 for a provider without requests."""
    arguments: ClassVar[Mapping[str, Argument]]
    """Its `model_args`, by name; every other one is refused."""

    def price(self, spec: ModelSpec) -> Price | None:
        """Return the price of the model's tokens, or None if it is not known."""

    def check(self, spec: ModelSpec) -> Check:
        """Check whether a run could use the model now, without loading or calling it, or raise ContraposeError."""
