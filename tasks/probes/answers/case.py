"""The case of a changed text: two prompts, with options where the sample has them, and how a guesser fares."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case, Likelihoods, LossOf, TextSample
from contrapose.tasks.probes.answers.settings import AnswerSettings, Scorer
from contrapose.tasks.probes.base import letters, with_options
from contrapose.tasks.probes.values import numbers_of, texts_of, truths_of

_LOSS_OF: dict[str, LossOf] = {"loss": "expected_result", "langtest_loss": "prompt"}


def scorer_for(sample: TextSample, scorer: Scorer, *, likelihoods: Likelihoods, where: str) -> str:
    """The scorer of a sample's case: the chosen one, or for `auto` the best that the provider and the sample allow.

    Raises:
        ConfigError: the scorer needs log-likelihoods, and the provider gives none; `where` names the setting.
    """
    if scorer == "auto":
        return "choice" if sample.options else "loss" if likelihoods == "all" else "embedding"
    if scorer in _LOSS_OF and likelihoods != "all":
        raise ConfigError(
            f"scorer {scorer!r} with a provider that gives no log-likelihoods of texts",
            expected="a scorer that works on replies alone",
            remedy="Use scorer 'embedding', or 'choice' for samples with options.",
            where=where,
        )
    return scorer


def text_case(
    sample: TextSample,
    *,
    probe: str,
    version: str,
    original: str,
    perturbed: str | None,
    skip_reason: str | None,
    confidence: str | None,
    scorer: str,
    likelihoods: Likelihoods,
    by_likelihood: bool,
    settings: AnswerSettings,
    stays: bool = False,
) -> Case:
    """The case of one changed text; skipped as `no_options` where the scorer is `choice` and there are none.

    With `documents_scores` a model that can is also asked for the loss that the design documents compare. A case
    passes when its answer changed, or, with `stays`, when it did not.
    """
    no_options = scorer == "choice" and not sample.options
    if no_options:
        original, perturbed, skip_reason, confidence = sample.text, None, "no_options", None
    return Case(
        id=f"{probe}/{sample.id}",
        sample_id=sample.id,
        probe=probe,
        version=version,
        original=original,
        perturbed=perturbed,
        original_prompt=with_options(original, sample.options),
        perturbed_prompt=None if perturbed is None else with_options(perturbed, sample.options),
        scorer=scorer,
        asks="choose" if scorer == "choice" and by_likelihood else "generate",
        loss_of=_LOSS_OF.get(scorer, "expected_result" if settings.documents_scores and likelihoods == "all" else None),
        labels=letters(len(sample.options)),
        options=sample.options,
        skip_reason=skip_reason,
        confidence=confidence,
        chance=_chance(sample, settings, scorer, stays=stays, by_likelihood=by_likelihood),
        slice=sample.slice,
        cluster=sample.cluster,
        details={"likelihoods": likelihoods} | ({} if sample.answer is None else {"answer": sample.answer}),
    )


def stays_by_chance(case: Case, *, stays: bool) -> float | None:
    """Probability that a guesser's answer to the control of a case stays as it was, which is when a control passes."""
    return case.chance if case.chance is None or stays else 1 - case.chance


def _chance(
    sample: TextSample, settings: AnswerSettings, scorer: str, *, stays: bool, by_likelihood: bool
) -> float | None:
    if scorer != "choice":
        return None
    band = settings.band("choice")
    guesser = guess(len(sample.options), upper=band and band[1], by_likelihood=by_likelihood)
    return guesser and (guesser.stays if stays else guesser.changes)


def expected_pass(part: pa.Table, settings: AnswerSettings, *, stays: bool = False) -> np.ndarray:
    """Whether each row should pass: its answer changed where the score lies outside the band, and a control must not.

    Args:
        part: result rows.
        settings: of the test.
        stays: whether the answers of the cases, too, should stay as they were.

    Returns:
        (rows,) float64: 1 or 0; NaN where the band is not known.
    """
    score, scorer = numbers_of(part, "eval_score"), texts_of(part, "scorer")
    low, high = _bands(part, settings, scorer)
    other = texts_of(part, "chosen_before") != texts_of(part, "chosen_after")
    changed = np.where(scorer == "choice", other | (score > high), (score < low) | (score > high))
    keeps = np.logical_or(truths_of(part, "control"), stays)
    return np.where(np.isnan(low) | np.isnan(high), np.nan, changed != keeps)


def _bands(part: pa.Table, settings: AnswerSettings, scorer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of each row's band; NaN where it is not known. A band from the controls stands in the row itself."""
    if settings.calibrated:
        return numbers_of(part, "threshold_low"), numbers_of(part, "threshold_high")
    ends = np.full((2, len(scorer)), np.nan)
    for name in dict.fromkeys(scorer):
        band = settings.band(name) if name in ("embedding", "loss", "choice", "langtest_loss") else None
        if band is not None:
            ends[:, scorer == name] = np.array(band)[:, None]
    return ends[0], ends[1]


DRAWS = 20_000
"""Pairs of distributions that a guesser of likelihoods draws: their share has a standard error under 0.4 %."""
SEED = 20


class Guess(NamedTuple):
    """A model that guesses among the options."""

    changes: float
    """Probability that its answer counts as changed."""

    @property
    def stays(self) -> float:
        """Probability that its answer counts as the same."""
        return 1 - self.changes


def guess(options: int, *, upper: float | None, by_likelihood: bool) -> Guess | None:
    """A model that draws both its answers evenly, whatever is asked; None without options.

    Args:
        options: to choose from.
        upper: divergence in bits above which an answer counts as changed though the same option leads; None: unknown.
        by_likelihood: whether the model gives a distribution over the options. Then both are drawn evenly from all
            distributions there are, else each is one option.
    """
    if options < 2:
        return None
    other = 1 - 1 / options
    if upper is None or not by_likelihood:
        return Guess(other)
    return Guess(other + _moved(options, upper))


@cache
def _moved(options: int, upper: float) -> float:
    """Share of pairs of distributions, both drawn evenly, in which the same option leads and the divergence exceeds."""
    from scipy.spatial.distance import jensenshannon

    rng = np.random.default_rng(SEED)
    first, second = (rng.dirichlet(np.ones(options), size=DRAWS) for _ in range(2))
    same = first.argmax(axis=1) == second.argmax(axis=1)
    divergence = jensenshannon(first, second, axis=1, base=2) ** 2
    return float(np.mean(same & (divergence > upper)))
