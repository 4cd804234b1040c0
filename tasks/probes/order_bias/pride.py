"""PriDe: what the letters alone are worth to a model, learned from a few pairs and taken out of the others.

Source: C. Zheng, H. Zhou, F. Meng, J. Zhou, M. Huang, Large Language Models Are Not Robust Multiple Choice Selectors,
ICLR 2024 (arXiv 2309.03882). The paper asks the calibrating pairs in both orders and the others in one. Here all are
asked in both, and so each of the others tells twice what one order would have given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from contrapose.tasks.probes.base import Measure


def calibrates(sample_id: str, share: float) -> bool:
    """Whether a pair belongs to the calibrating share, 0 to 1: by its id alone, in whatever order pairs come."""
    digest = hashlib.sha256(f"pride\x00{sample_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def pride(
    content: np.ndarray, position: np.ndarray, *, calibrating: np.ndarray, accuracy: np.ndarray
) -> Sequence[Measure]:
    """What the estimate gives.

    Args:
        content: (rows,) of content scores in nats; NaN where there are no likelihoods.
        position: (rows,) of position scores, likewise.
        calibrating: (rows,) of booleans.
        accuracy: (rows,) without debiasing; NaN where a row does not count.

    Returns:
        `pride_prior_a`, the probability of A that the letters alone give, over the calibrating pairs; over the other
        pairs, `pride_accuracy`, where the probabilities of each order alone are divided by the prior, and
        `pride_gain`, the same minus the accuracy. Intervals take the prior as known.
    """
    from scipy.special import expit

    weighed = np.isfinite(content)
    prior = np.where(weighed & calibrating, expit(position), np.nan)
    right = np.where(weighed & ~calibrating, debiased(content, position, prior), np.nan)
    return [
        Measure(name="pride_prior_a", values=prior, bounds=(0, 1)),
        Measure(name="pride_accuracy", values=right, bounds=(0, 1)),
        Measure(name="pride_gain", values=right - accuracy, bounds=(-1, 1)),
    ]


def debiased(content: np.ndarray, position: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Share of both orders in which the right summary leads once the letters' prior is divided out.

    Args:
        content: (pairs,), in nats.
        position: (pairs,), in nats. A leads by position + content first, and by position - content once swapped.
        prior: (pairs,) of each calibrating pair, as the paper has it: in log space over a pair's orders; their mean
            is the prior of all. NaN for the others.

    Returns:
        (pairs,) of 0, 0.5 and 1; NaN everywhere if no pair calibrates. A tie is no choice.
    """
    known = prior[np.isfinite(prior)]
    if not len(known):
        return np.full(len(content), np.nan)
    pull = np.log(known.mean()) - np.log1p(-known.mean())
    left = position - pull
    return np.asarray(((left + content > 0) * 1.0 + (left - content < 0)) / 2)
