"""How a changed text is scored, which rows should pass, and how a guesser fares."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Likelihoods, LossOf, TextSample
from contrapose.tasks.probes.answers.settings import AnswerSettings, Scorer
from contrapose.tasks.probes.values import numbers_of, texts_of, truths_of

LOSS_OF: dict[str, LossOf] = {"loss": "expected_result", "langtest_loss": "prompt"}
"""Texts of which the scorers by loss need the loss."""


def scorer_for(sample: TextSample, scorer: Scorer, *, likelihoods: Likelihoods, where: str) -> str:
    """Return the scorer of a sample's case: the chosen one; for `auto` and `langtest` one that the provider allows.

    Raises:
        ConfigError: the scorer needs log-likelihoods, and the provider gives none; `where` names the setting.
    """
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


def chance_of(sample: TextSample, settings: AnswerSettings, *, stays: bool, by_likelihood: bool) -> float | None:
    """Return the probability that a guesser among the sample's options passes; None without options."""
    band = settings.band("choice")
    changes = guess(len(sample.options), upper=band and band[1], by_likelihood=by_likelihood)
    return 1 - changes if changes is not None and stays else changes


def expected_pass(part: pa.Table, settings: AnswerSettings, *, stays: bool = False) -> np.ndarray:
    """Return what each row should have: its answer changed where the score lies outside the band; controls must not.

    Args:
        part: result rows.
        settings: of the test.
        stays: whether the answers of the cases, too, should stay as they were.

    Returns:
        (rows,) float64: 1 or 0; NaN where the band is not known.
    """
    score, scorer = numbers_of(part, "eval_score"), texts_of(part, "scorer")
    low, high = numbers_of(part, "threshold_low"), numbers_of(part, "threshold_high")
    if not settings.calibrated:
        # A band from the controls stands in the row itself.
        low, high = np.full((2, len(scorer)), np.nan)
        for name in dict.fromkeys(scorer):
            band = settings.band(name) if name in ("embedding", "loss", "choice", "langtest_loss") else None
            if band is not None:
                low[scorer == name], high[scorer == name] = band
    other = texts_of(part, "chosen_before") != texts_of(part, "chosen_after")
    changed = np.where(scorer == "choice", other | (score > high), (score < low) | (score > high))
    keeps = np.logical_or(truths_of(part, "control"), stays)
    return np.where(np.isnan(low) | np.isnan(high), np.nan, changed != keeps)


DRAWS = 20_000
"""Pairs of distributions that a guesser of likelihoods draws: their share has a standard error under 0.4 %."""
SEED = 20


@cache
def guess(options: int, *, upper: float | None, by_likelihood: bool) -> float | None:
    """Return the probability that the answers of a model that draws both evenly count as changed; None without options.

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
