"""A model and how its replies are generated: what an answer depends on beside the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat


def _whole_or_auto(value: object) -> object:
    if value != "auto" and not (str(value).isdecimal() and 1 <= int(str(value)) <= 4096):
        raise ValueError("a whole number from 1 to 4096, or auto")
    return value


BatchSize = Annotated[
    Annotated[int, Field(ge=1, le=4096)] | Literal["auto"],
    BeforeValidator(_whole_or_auto, json_schema_input_type=Annotated[int, Field(ge=1, le=4096)] | Literal["auto"]),
]
"""Prompts that a local model reads at once; one message, not one for each member of the union."""


class Generation(BaseModel):
    """How replies are generated. The defaults are greedy: the same prompt gives the same reply."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Generation")

    max_new_tokens: int = Field(default=32, ge=1, le=32768, description="Longest reply, in tokens.")
    temperature: FiniteFloat | None = Field(
        default=0.0, ge=0, le=2, description="0 is greedy; empty leaves it to the endpoint, and is 0 for local models."
    )
    top_p: FiniteFloat | None = Field(default=None, gt=0, le=1, description="Nucleus sampling; empty: off.")
    stop: tuple[str, ...] = Field(default=(), description="Texts that end a reply.")


class ModelSpec(BaseModel):
    """A model and everything that could change its answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    args: Mapping[str, Any] = Field(default_factory=dict)
    generation: Generation = Generation()
    system_instruction: str | None = None
    apply_chat_template: bool | None = None
    batch_size: BatchSize = "auto"
    identity: Mapping[str, str] = Field(default_factory=dict)
    """The identity that its provider found when the run began; empty before."""
    processes: int = 1
    """How many processes ask it at the same time for one run: they share its limits, and change no answer."""

    @property
    def provider(self) -> str:
        """The part of the id before the first slash: a name in `PROVIDERS`."""
        return self.id.partition("/")[0]

    @property
    def name(self) -> str:
        """The part of the id after the first slash; empty for a provider with one model."""
        return self.id.partition("/")[2]
