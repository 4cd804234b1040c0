"""Settings of the tests that compare two answers: the scorer, its thresholds, and what random guessing reaches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, FiniteFloat, TypeAdapter

from contrapose.tasks.core.chats import parse_chat
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Likelihoods, LossOf, TextSample
from contrapose.tasks.core.user_settings import UserSettings
from contrapose.tasks.probes.base import Embeds, Proportion
from contrapose.tasks.probes.prompt_settings import OwnPromptSettings

Scorer = Literal["auto", "embedding", "loss", "choice", "langtest_loss", "langtest"]


def _check_band_order(value: tuple[float, float]) -> tuple[float, float]:
    lower, upper = value
    if lower >= upper:
        raise ValueError(f"threshold ({lower}, {upper}) is reversed; expected (lower, upper) with lower < upper")
    return value


Band = Annotated[tuple[FiniteFloat, FiniteFloat], AfterValidator(_check_band_order)]
"""A closed interval of scores, lower and upper end, inside which the answer stayed the same."""

DOCUMENTED: Band = (-0.2, 0.2)
"""The band of the design documents."""

LEAST_CONTROLS = 20
"""Samples with a scored control from which a scorer's band can be taken."""


class Thresholds(UserSettings):
    """A band of unchanged scores for each scorer; without a band, the rows of that scorer get no score."""

    embedding: Band | None = Field(default=DOCUMENTED, description="Of 1 - cosine of the replies.")
    loss: Band | None = Field(default=DOCUMENTED, description="Of the change in loss of the old reply, in nats.")
    choice: Band | None = Field(default=DOCUMENTED, description="Of the divergence in bits; its upper end counts.")
    langtest_loss: Band | None = Field(default=DOCUMENTED, description="Of the difference of the prompts' losses.")


_BAND: TypeAdapter[tuple[float, float]] = TypeAdapter(Band)


def _parse_one_kind(value: object) -> object:
    """Parse the value as the one type that it resembles, so that an error names only that type."""
    if value == "auto" or isinstance(value, Thresholds):
        return value
    if isinstance(value, Mapping):
        return Thresholds.model_validate(value)
    if isinstance(value, list | tuple):
        return _BAND.validate_python(value)
    raise ValueError("a pair (lower, upper), such a pair for each scorer, or auto")


Threshold = Annotated[
    Band | Thresholds | Literal["auto"],
    BeforeValidator(_parse_one_kind, json_schema_input_type=Band | Thresholds | Literal["auto"]),
]


class AnswerSettings(OwnPromptSettings):
    """Settings of how two answers are compared, and when they count as different."""

    of_scoring: ClassVar[frozenset[str]] = OwnPromptSettings.of_scoring | {
        *("threshold", "scorer", "documents_scores", "min_contrast_rate", "min_noticed_rate")
    }

    threshold: Threshold = Field(
        default=DOCUMENTED,
        description="Scores in this closed interval (lower, upper) mean that the answer stayed the same. One for each "
        "scorer, or auto: as far as the answers to the controls move.",
    )
    scorer: Scorer = Field(
        default="auto",
        description="How answers are compared; auto: choice with options, else loss, else embedding; langtest: "
        "langtest_loss of a local model, else embedding.",
    )
    min_contrast_rate: Proportion = Field(
        default=0.5,
        description="Gate of the contrast rate: share of cases whose answer must change, and stay under the control. "
        "Used where the answer should change and controls are asked.",
    )
    min_noticed_rate: Proportion | None = Field(
        default=None,
        description="Gate of the noticed rate: share of the samples that were right before in which the answer must "
        "change. Used where right answers are known. Empty: halfway between random guessing and 1, or 0.7 without "
        "options.",
    )
    documents_scores: bool = Field(
        default=False,
        description="Also compute the scores of the design documents. This loads the embedding model and asks a local "
        "model for losses.",
    )

    @property
    def calibrated(self) -> bool:
        """Return whether the threshold is computed from the controls."""
        return self.threshold == "auto"

    def embeds(self, likelihoods: Likelihoods) -> Embeds:
        """Return `all` if a setting asks for it; by default the test compares options, or losses if available."""
        if self.documents_scores or self.scorer == "embedding" or (self.scorer == "langtest" and likelihoods != "all"):
            return "all"
        return "without_options" if self.scorer == "auto" and likelihoods != "all" else "none"

    def band(self, scorer: str) -> Band | None:
        """Return the band of a scorer; None if the controls did not give one, or have not yet."""
        if isinstance(self.threshold, Thresholds):
            own: Band | None = getattr(self.threshold, scorer)
            return own
        return None if self.threshold == "auto" else self.threshold


CALLS = "calls"
"""Scorer by the tools that the replies call."""

LOSS_OF: dict[str, LossOf] = {"loss": "expected_result", "langtest_loss": "prompt"}
"""Texts of which the scorers by loss need the loss."""


def has_tools(sample: TextSample) -> bool:
    """Return whether the chat of a sample offers tools that a reply may call."""
    chat = parse_chat(sample.chat or "")
    return chat is not None and bool(chat.tools)


def choose_scorer(sample: TextSample, scorer: Scorer, *, likelihoods: Likelihoods, where: str) -> str:
    """Return the scorer for a sample: the one you set, or for `auto` and `langtest` one that the provider supports.

    Raise ConfigError for a scorer by log-likelihoods if the provider gives none.
    """
    if scorer == "auto" and not sample.options and has_tools(sample):
        return CALLS
    if scorer == "auto":
        return "choice" if sample.options else "loss" if likelihoods == "all" else "embedding"
    if scorer == "langtest":
        return "langtest_loss" if likelihoods == "all" else "embedding"
    if scorer in LOSS_OF and likelihoods != "all":
        raise ConfigError(
            f"scorer {scorer!r} with a provider that gives no log-likelihoods of texts",
            expected="a scorer that works on replies alone",
            remedy="Use scorer 'embedding', or 'choice' for samples with options.",
            where=where,
        )
    return scorer


DRAWS = 20_000
"""Number of random pairs of distributions; the standard error of a share over them is under 0.4 %."""
SEED = 20


@cache
def compute_chance(options: int, *, upper: float | None, by_likelihood: bool) -> float | None:
    """Return the probability that two random answers count as changed; None without options.

    By likelihood both are drawn evenly from all distributions over the options, else each is one option. Above `upper`,
    in bits, an answer counts as changed though the same option leads; None: unknown.
    """
    if options < 2:
        return None
    other = 1 - 1 / options
    if upper is None or not by_likelihood:
        return other
    rng = np.random.default_rng(SEED)
    first, second = (rng.dirichlet(np.ones(options), size=DRAWS) for _ in range(2))
    same = first.argmax(axis=1) == second.argmax(axis=1)
    return other + float(np.mean(same & (compute_jensen_shannon(first, second) > upper)))


def compute_jensen_shannon(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence of each pair of rows, in bits, 0 to 1; both of shape (rows, outcomes).

    Source: J. Lin, IEEE Transactions on Information Theory 37 (1991) 145-151.
    """
    from scipy.spatial.distance import jensenshannon

    # Rounding can push nearly equal distributions below zero, whose root is NaN.
    with np.errstate(invalid="ignore"):
        distances = np.nan_to_num(jensenshannon(first, second, base=2, axis=1))
    return np.asarray(distances**2).clip(0.0, 1.0)
