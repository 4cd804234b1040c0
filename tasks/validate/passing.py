"""Whether a verdict is what the score and the threshold say, computed apart from the code that gave it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from contrapose.tasks.plan import Plan
from contrapose.tasks.probes.answers.settings import AnswerSettings
from contrapose.tasks.probes.toxic_words.settings import AddToxicWordsSettings
from contrapose.tasks.registry import PROBES, probe

ALL_OR_NOTHING = ("likelihood", "reply")
"""Scorers whose score says by itself whether the case passed."""


def wrong_verdict(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a row's verdict contradicts its score; False where there is none, or the rule is not known here."""
    judged = (~_nulls(part, "pass")) & (~np.isnan(_numbers(part, "eval_score")))
    expected, known = _expected(part, plan)
    return pa.array(judged & known & (expected != _truths(part, "pass")))


def _expected(part: pa.Table, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """The verdict by the rule of the test, and the rows in which the rule says one; a test of others has its own."""
    settings, score = plan.probe_settings, _numbers(part, "eval_score")
    if plan.test not in PROBES:
        return score == 1, np.full(len(score), False)
    if isinstance(settings, AddToxicWordsSettings):
        return score <= settings.threshold, np.full(len(score), True)
    if isinstance(settings, AnswerSettings):
        return _by_change(part, settings, stays=getattr(probe(plan.test), "stays", False))
    return score == 1, np.isin(_texts(part, "scorer"), ALL_OR_NOTHING)


def _by_change(part: pa.Table, settings: AnswerSettings, *, stays: bool) -> tuple[np.ndarray, np.ndarray]:
    """An answer changed when its score is outside the band; a control passes when it did not."""
    score, scorer = _numbers(part, "eval_score"), _texts(part, "scorer")
    low, high = _bands(part, settings, scorer)
    other = _texts(part, "chosen_before") != _texts(part, "chosen_after")
    changed = np.where(scorer == "choice", other | (score > high), (score < low) | (score > high))
    keeps = np.logical_or(_truths(part, "control"), stays)
    return changed != keeps, ~(np.isnan(low) | np.isnan(high))


def _bands(part: pa.Table, settings: AnswerSettings, scorer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of each row's band; NaN where it is not known. A band from the controls stands in the row itself."""
    if settings.calibrated:
        return _numbers(part, "threshold_low"), _numbers(part, "threshold_high")
    ends = np.full((2, len(scorer)), np.nan)
    for name in dict.fromkeys(scorer):
        band = settings.band(name) if name in ("embedding", "loss", "choice", "langtest_loss") else None
        if band is not None:
            ends[:, scorer == name] = np.array(band)[:, None]
    return ends[0], ends[1]


def _texts(part: pa.Table, name: str) -> Any:
    """A column's texts; those that are missing are empty."""
    found = part[name].to_numpy() if name in part.column_names else np.full(part.num_rows, None)
    return np.array(["" if each is None else each for each in found], dtype=object)


def _numbers(part: pa.Table, name: str) -> np.ndarray:
    """A column's numbers; NaN where one is missing."""
    if name not in part.column_names:
        return np.full(part.num_rows, np.nan)
    return np.asarray(part[name].cast(pa.float64()).to_numpy(), dtype=float)


def _truths(part: pa.Table, name: str) -> np.ndarray:
    """Where a column is true."""
    return np.asarray(part[name].fill_null(False).to_numpy())


def _nulls(part: pa.Table, name: str) -> np.ndarray:
    return np.asarray(part[name].is_null().to_numpy())
