"""What a probe is, and the small things that probes share."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from contrapose.tasks.records import Case, Sample, Score, Trial

Embed = Callable[[Sequence[str]], np.ndarray]
"""Texts to unit vectors, shape (n, dimensions), float32."""

ColumnType = Literal["string", "float", "int", "bool"]


class ProbeSettings(BaseModel):
    """Settings that every probe has; each probe adds its own in a subclass."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_pass_rate: FiniteFloat | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of scored samples that must pass; empty: the default of the run.",
    )
    data: Any = Field(default=None, description="Data source of this test; empty: the run's, or the bundled samples.")
    limit: int | None = Field(default=None, ge=1, description="At most this many samples; empty: the limit of the run.")


class Probe(Protocol):
    """One way to change a prompt, and to judge what the change did to the answer."""

    name: ClassVar[str]
    category: ClassVar[str]
    version: ClassVar[str]
    """Raised whenever the same sample and seed give another case or another score."""
    summary: ClassVar[str]
    """One line for `contrapose list`."""
    sample_type: ClassVar[type[Sample]]
    settings_type: ClassVar[type[ProbeSettings]]
    bundled_data: ClassVar[str]
    """Name of the bundled sample set."""
    columns: ClassVar[Mapping[str, ColumnType]]
    """Result columns that only this probe has."""
    chance: ClassVar[float | None]
    """Pass rate of a model that guesses; None where guessing has no meaning."""

    def case(self, sample: Any, settings: Any, *, rng: random.Random, likelihoods: bool) -> Case:
        """Perturb a sample. `likelihoods` tells whether the provider gives log-likelihoods."""
        ...

    def score(self, trials: Sequence[Trial], settings: Any, *, embed: Embed) -> list[Score]:
        """Score trials, one Score each in the same order. Trials with an error are never passed in."""
        ...

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Figures over the results of one run, beyond the pass rate."""
        ...


def rng_for(seed: int, sample_id: str, probe: str) -> random.Random:
    """A generator that depends only on its arguments: same case in any order, on any machine."""
    digest = hashlib.sha256(f"{seed}\x00{sample_id}\x00{probe}".encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


def letters(count: int) -> tuple[str, ...]:
    """The labels A, B, C, … for up to 26 options."""
    return tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count])


def with_options(text: str, options: Sequence[str]) -> str:
    """The prompt for a text: with options they follow, lettered, a line each; without, it is the text itself."""
    lines = [f"{letter}. {option}" for letter, option in zip(letters(len(options)), options, strict=True)]
    return "\n".join([text, *lines, "Answer:"]) if options else text


def unscored(reason: str) -> Score:
    """A score that cannot be computed: never a pass, never zero."""
    return Score(value=None, passed=None, reason=reason)
