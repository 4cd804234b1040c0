"""Whether an answer changed enough, by what its result row says: the rule of scoring once more, for validation."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.values import numbers_of, texts_of, truths_of


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
