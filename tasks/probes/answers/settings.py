"""Settings of the tests that compare two answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, TypeAdapter

from contrapose.tasks.core.records import Likelihoods
from contrapose.tasks.probes.base import Embeds
from contrapose.tasks.probes.prompt_settings import OwnPromptSettings

Scorer = Literal["auto", "embedding", "loss", "choice", "langtest_loss", "langtest"]


def _in_order(value: tuple[float, float]) -> tuple[float, float]:
    lower, upper = value
    if lower >= upper:
        raise ValueError(f"threshold ({lower}, {upper}) is reversed; expected (lower, upper) with lower < upper")
    return value


Band = Annotated[tuple[FiniteFloat, FiniteFloat], AfterValidator(_in_order)]
"""A closed interval of scores, lower and upper end, inside which the answer stayed the same."""

DOCUMENTED: Band = (-0.2, 0.2)
"""The band of the design documents."""

LEAST_CONTROLS = 20
"""Samples with a scored control from which a scorer's band can be taken."""


class Thresholds(BaseModel):
    """A band for each scorer; empty where none is known, which leaves the scorer's rows without a score."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Thresholds")

    embedding: Band | None = Field(default=DOCUMENTED, description="Of 1 - cosine of the replies.")
    loss: Band | None = Field(default=DOCUMENTED, description="Of the change in loss of the old reply, in nats.")
    choice: Band | None = Field(default=DOCUMENTED, description="Of the divergence in bits; its upper end counts.")
    langtest_loss: Band | None = Field(default=DOCUMENTED, description="Of the difference of the prompts' losses.")


_BAND: TypeAdapter[tuple[float, float]] = TypeAdapter(Band)


def _one_kind(value: object) -> object:
    """Return the value as the one kind that it is meant to be: mistakes name no other kind."""
    if value == "auto" or isinstance(value, Thresholds):
        return value
    if isinstance(value, Mapping):
        return Thresholds.model_validate(value)
    if isinstance(value, list | tuple):
        return _BAND.validate_python(value)
    raise ValueError("a pair (lower, upper), such a pair for each scorer, or auto")


Threshold = Annotated[
    Band | Thresholds | Literal["auto"],
    BeforeValidator(_one_kind, json_schema_input_type=Band | Thresholds | Literal["auto"]),
]


class AnswerSettings(OwnPromptSettings):
    """How two answers are compared, and when they count as different."""

    of_scoring: ClassVar[frozenset[str]] = OwnPromptSettings.of_scoring | {
        *("threshold", "scorer", "documents_scores", "min_contrast_rate", "min_noticed_rate")
    }

    threshold: Threshold = Field(
        default=DOCUMENTED,
        description="Scores inside this closed interval (lower, upper) mean that the answer stayed the same; one for "
        "each scorer; or auto: as far as the answers to the controls move.",
    )
    scorer: Scorer = Field(
        default="auto",
        description="How answers are compared; auto: choice with options, else loss, else embedding; langtest: "
        "langtest_loss of a local model, else embedding.",
    )
    min_contrast_rate: FiniteFloat = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of the cases whose answer must change and yet stay under the control; it counts where the "
        "answer should change and controls are asked.",
    )
    min_noticed_rate: FiniteFloat | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of the samples answered rightly before in which the change must be noticed, where right "
        "answers are known and the answer should change; empty: halfway between what a guesser reaches and 1, or 0.7 "
        "without options.",
    )
    documents_scores: bool = Field(
        default=False,
        description="Also compute the scores of the design documents beside a choice: it loads the embedding model, "
        "and asks a local model for losses.",
    )

    @property
    def calibrated(self) -> bool:
        """Return whether the threshold comes from the controls."""
        return self.threshold == "auto"

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Return `all` where a setting wants it; by itself the test compares options, or else losses where it can."""
        if self.documents_scores or self.scorer == "embedding" or (self.scorer == "langtest" and likelihoods != "all"):
            return "all"
        return "without_options" if self.scorer == "auto" and likelihoods != "all" else "none"

    def band(self, scorer: str) -> Band | None:
        """Return the band of a scorer; None where it could not be taken from the controls, or was not yet."""
        if isinstance(self.threshold, Thresholds):
            own: Band | None = getattr(self.threshold, scorer)
            return own
        return None if self.threshold == "auto" else self.threshold
