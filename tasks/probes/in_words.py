"""The worth of letters' likelihoods: how likely any letter is, and whether replies in words say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.core.records import LEAST_LABEL_MASS
from contrapose.tasks.probes.base import Column, Measure
from contrapose.tasks.probes.values import where

COLUMNS: Mapping[str, Column] = {
    "in_words_choice": Column(
        "string",
        "Letter that the model chooses when it answers the unchanged prompt in words; empty where none could be "
        "read, missing where it was not asked.",
    ),
    "words_agree": Column("bool", "Whether that letter is the likeliest one; missing where none could be read."),
}
"""The letter that the reply to the original prompt says, empty where it could not be read, and whether it is the
likeliest one; both missing where no such reply was asked for."""

LEAST_AGREEMENT = 0.9
"""Below it a verdict by likelihood says too little about what the model replies, and a warning stands beside it."""


def in_words_columns(reply: str | None, *, read: str | None, likeliest: str | None) -> dict[str, str | bool | None]:
    """Return the columns of one case."""
    if reply is None:
        return {}
    agree = None if read is None or likeliest is None else read == likeliest
    return {"in_words_choice": read or "", "words_agree": agree}


EXPLANATIONS: Mapping[str, str] = {
    "reply_agreement": "Share of the replies in words that say the option which the likelihoods choose. "
    f"Below {LEAST_AGREEMENT:.0%} the likelihoods say too little about what the model replies.",
    "reply_unread": "Share of the replies in words in which no option could be read.",
}
"""Meanings of the figures."""


def in_words_measures(results: pd.DataFrame) -> Sequence[Measure]:
    """Return `reply_agreement` over the replies that could be read, and `reply_unread`, the share of the others."""
    if not set(COLUMNS) <= set(results.columns):
        return []
    asked, known = results["in_words_choice"].notna(), results["words_agree"].notna()
    return [
        Measure(name="reply_agreement", share=True, values=where(known, results["words_agree"].eq(True))),
        Measure(name="reply_unread", share=True, values=where(asked, results["in_words_choice"].eq(""))),
    ]


MASSES: Mapping[str, Column] = {
    "expected_label_mass": Column(
        "float",
        "Share of the next token's probability on the letters after the unchanged prompt, at least; where it is below "
        f"{LEAST_LABEL_MASS:g} after either prompt, both replies are read.",
        "1",
    ),
    "actual_label_mass": Column("float", "The same after the changed prompt.", "1"),
}
"""Result columns of every test: missing where no letters were compared, or their share is unknown."""

MASS_EXPLANATIONS: Mapping[str, str] = {
    "label_mass_median": "Share of the probability that lies on the letters where the reply begins: the median over "
    "all prompts whose letters were compared.",
    "label_mass_least": "The least such share.",
    "read_instead": f"Cases whose letters hold less than {LEAST_LABEL_MASS:.0%} of the probability after one prompt or "
    "both. Their likelihoods decide nothing: both replies were written and read.",
}
"""Meanings of the figures."""


def mass_figures(results: pd.DataFrame) -> dict[str, float | int | None]:
    """Return how much of the probability the letters have, and how many cases were read as it was too little."""
    if not set(MASSES) <= set(results.columns):
        return {}
    masses = results[list(MASSES)].to_numpy(dtype=float)
    known = masses[~np.isnan(masses)]
    if not len(known):
        return {}
    return {
        "label_mass_median": float(np.median(known)),
        "label_mass_least": float(known.min()),
        # Where one of the two is unknown, so is the least: the case was not answered twice.
        "read_instead": int((masses.min(axis=1) < LEAST_LABEL_MASS).sum()),
    }
