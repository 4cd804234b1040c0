"""Both ways: does the reply in words say what the likelihoods of the letters say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

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
    """The columns of one case.

    Args:
        reply: to the original prompt; None where there is none, which leaves both columns out.
        read: the letter that rules read in it; None where they read none.
        likeliest: the letter that the likelihoods choose; None where they choose none.
    """
    if reply is None:
        return {}
    agree = None if read is None or likeliest is None else read == likeliest
    return {"in_words_choice": read or "", "words_agree": agree}


EXPLANATIONS: Mapping[str, str] = {
    "reply_agreement": "Share of the replies in words that say the option which the likelihoods choose. "
    f"Below {LEAST_AGREEMENT:.0%} the likelihoods say too little about what the model replies.",
    "reply_unread": "Share of the replies in words in which no option could be read.",
}
"""What the figures are."""


def in_words_measures(results: pd.DataFrame) -> Sequence[Measure]:
    """`reply_agreement` over the replies that could be read, and `reply_unread`, the share of the others."""
    if not set(COLUMNS) <= set(results.columns):
        return []
    asked, known = results["in_words_choice"].notna(), results["words_agree"].notna()
    return [
        Measure(name="reply_agreement", share=True, values=where(known, results["words_agree"].eq(True))),
        Measure(name="reply_unread", share=True, values=np.asarray(where(asked, results["in_words_choice"].eq("")))),
    ]
