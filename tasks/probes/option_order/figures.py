"""What option_order reports: what the choice follows, accuracy, how even the letters are; and its picture."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes.base import RIGHT_RATE, Measure, letters
from contrapose.tasks.probes.in_words import EXPLANATIONS as IN_WORDS_EXPLAINED
from contrapose.tasks.probes.in_words import in_words_measures
from contrapose.tasks.probes.known_errors import step_figures
from contrapose.tasks.probes.option_order.score import NO_CHOICE
from contrapose.tasks.probes.panels import Bars, Panel, pattern, shares
from contrapose.tasks.probes.reading_checks import EXPLANATIONS as CHECKS_EXPLAINED
from contrapose.tasks.probes.reading_checks import check_measures
from contrapose.tasks.probes.values import where

OUTCOMES = ("text", "letter", "other", "tied", "unparsed")


EXPLANATIONS: Mapping[str, str] = {
    "samples": "Questions with a scored pair of orders; each time that one is asked counts.",
    "samples_following_the_option": "Those of them whose choice follows its option in every order.",
    "outcome_text": "Pairs of orders in which the choice followed the option: the content decided.",
    "outcome_letter": "Pairs of orders in which the choice stayed with the letter: the position decided.",
    "outcome_other": "Pairs of orders in which another option and another letter was chosen.",
    "outcome_tied": "Pairs of orders in which two letters are equally likely.",
    "outcome_unparsed": "Pairs of orders in which no choice could be read from one of the replies, or from both.",
    "*_against_uniform": "How often the letter was chosen, by how often an even choice would take it: 1 is even, 2 is "
    "twice as often.",
    RIGHT_RATE: "Share of the pairs of orders that kept to the right option. Whoever keeps to a wrong one is steady, "
    "and wrong.",
    "accuracy": "Share of right choices over all orders of the options.",
    "accuracy_given_order": "Share of right choices in the given order of the options.",
    "right_in_all_orders": "Share of the questions answered rightly in every order: what the model knows rather than "
    "guesses.",
    "consistent_and_right": "Share of the pairs with a choice in both orders that kept to the right option.",
    "consistent_and_wrong": "Share of the pairs with a choice in both orders that kept to a wrong option: a lack of "
    "knowledge, not of steadiness.",
    "share_following_the_letter": "Share of the pairs with a choice in both orders that kept to the letter: the order "
    "decided, not the content.",
    "choice_changed": "Share of the pairs in which the order changed which option was chosen, or whether one was.",
    "likelihood": "The letter that the model holds likeliest is its choice; nothing has to be read.",
    "reply": "The choice is read from the reply in words.",
    "label": "The choice is the label of the prompt that the reply ends on.",
    **IN_WORDS_EXPLAINED,
    **CHECKS_EXPLAINED,
}
"""What the figures and the scorers are."""


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """Figures over the scored rows; the reply to a sample's given order counts once.

    Args:
        results: result rows without controls; rows without an outcome (errors, unscored) are left out.

    Returns:
        `samples`, and how many of them follow their option in every order; the outcomes as counts;
        `<letter>_against_uniform`, how often a letter was chosen by how often an even choice takes it; how the choices
        were read.
    """
    rows = results[results["outcome"].notna()] if "outcome" in results else results.iloc[:0]
    if rows.empty:
        return {"samples": 0}
    askings = rows.drop_duplicates(_asked(rows))
    counts = {name: int((rows["outcome"] == name).sum()) for name in OUTCOMES}
    return {
        "samples": len(askings),
        "samples_following_the_option": _consistent(rows) if rows["outcome"].isin(OUTCOMES[:3]).any() else None,
        **{f"outcome_{name}": count for name, count in counts.items()},
        **_letters(askings, rows),
        **(step_figures((askings["choice_step"], rows["rotated_choice_step"])) if "choice_step" in rows else {}),
    }


def measures(results: pd.DataFrame) -> Sequence[Measure]:
    """Accuracy as means over samples, the others as means over pairs of orders.

    Args:
        results: cases and controls. Controls have no outcome.

    Returns:
        `accuracy` over all orders and in the given one, and the share `right_in_all_orders`, where an unread reply is
        not right, each asking of a sample counted once; among the pairs with a choice in both orders, the shares that
        kept to the right option, to a wrong one, and to the letter;
        `choice_changed`, the share in which the order changed which option was chosen, or whether one was, with its
        effect; what replies in words say beside likelihoods; how well the model reads replies when it is asked back.
    """
    if "outcome" not in results:
        return []
    parsed = results["outcome"].isin(OUTCOMES[:3])
    known, kept, right = parsed & results["correct"].notna(), results["outcome"] == "text", results["correct"].eq(True)
    chosen = results["letter"].notna() | results["rotated_letter"].notna()
    return [
        *_accuracy(results),
        Measure(name="consistent_and_right", share=True, values=where(known, kept & right)),
        Measure(name="consistent_and_wrong", share=True, values=where(known, kept & ~right)),
        Measure(name="share_following_the_letter", share=True, values=where(parsed, results["outcome"] == "letter")),
        Measure(
            name="choice_changed",
            share=True,
            values=where(chosen & results["pass"].notna(), results["pass"].eq(False)),
            net="net_order_sensitivity",
        ),
        *in_words_measures(results),
        *check_measures(results),
    ]


def followed(results: pd.DataFrame) -> np.ndarray:
    """(rows,) float64: whether the choice followed its option; NaN where there was none in one of the orders."""
    return where(results["outcome"].isin(OUTCOMES[:3]), results["outcome"].eq("text"))


def _accuracy(results: pd.DataFrame) -> Sequence[Measure]:
    """Of a sample's replies in all its orders, and of those to the given one, which each of its rows repeats.

    The first row of an asking stands for it, so that samples with many options weigh no more than others.
    """
    read = results["letter"].notna() | results["rotated_letter"].notna()
    judged = results["outcome"].notna() & results["correct"].notna()
    original, rotated = (where(judged, results[name].eq(True)) for name in ("correct", "rotated_correct"))
    reply = results.assign(right=rotated)[judged].groupby(_asked(results))["right"]
    first = reply.cumcount().reindex(results.index).eq(0).to_numpy()
    rows, right = (reply.transform(name).reindex(results.index).to_numpy(dtype=float) for name in ("size", "sum"))
    first = first & bool((judged & read).any())
    return [
        Measure(name="accuracy", values=np.where(first, (original + right) / (rows + 1), np.nan), bounds=(0, 1)),
        Measure(name="accuracy_given_order", share=True, values=np.where(first, original, np.nan)),
        Measure(
            name="right_in_all_orders", share=True, values=np.where(first, (original == 1) & (right == rows), np.nan)
        ),
    ]


def _asked(results: pd.DataFrame) -> list[str]:
    """The columns that tell one asking of a sample, in all its orders, from another."""
    return [name for name in ("sample_id", "repeat") if name in results]


def _consistent(rows: pd.DataFrame) -> int:
    """Samples whose rotations were all scored, and all followed the option."""
    askings = rows.assign(same=rows["outcome"] == "text").groupby(_asked(rows))
    together = askings.agg(same=("same", "sum"), count=("option_count", "first"))
    return int((together["same"] == together["count"] - 1).sum())


def _letters(askings: pd.DataFrame, rows: pd.DataFrame) -> dict[str, float | int | None]:
    """How often each letter was chosen, against an even choice among the letters that were there."""
    replies = [*zip(askings["letter"], askings["option_count"], strict=True)]
    replies += zip(rows["rotated_letter"], rows["option_count"], strict=True)
    read = [(letter, int(count)) for letter, count in replies if isinstance(letter, str)]
    chosen = Counter(letter for letter, _ in read)
    counts = [count for _, count in read]
    against_uniform: dict[str, float | int | None] = {}
    for place, letter in enumerate(letters(max(counts, default=0)), start=1):
        even = math.fsum(1 / count for count in counts if count >= place)
        against_uniform[f"{letter}_against_uniform"] = chosen[letter] / even
    return against_uniform


SENTENCES = {
    "text": "chooses the same option wherever it stands: the content decides.",
    "letter": "chooses the same letter whatever stands there: the position decides, not the content.",
    "other": "changes to another option and another letter: neither content nor position decides.",
}
"""By what the choice followed."""


class Rotations:
    """Counts of the pairs of orders by what the choice followed, and of the letters."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._letters: Counter[str] = Counter()
        self._asked_last: set[tuple[object, ...]] = set()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the pairs that were scored; all orders of a sample stand together."""
        pairs = rows[rows["rotation"].notna() & rows["outcome"].notna()]
        self._outcomes.update(pairs["outcome"])
        self._letters.update(pairs["rotated_letter"].dropna())
        # Each row of an asking repeats the reply to the given order; with `repeats` a sample is asked several times.
        askings = pairs.drop_duplicates(["sample_id", "repeat"])
        asked = list(zip(askings["sample_id"], askings["repeat"], strict=True))
        letters = zip(asked, askings["letter"], strict=True)
        self._letters.update(
            letter for asking, letter in letters if asking not in self._asked_last and isinstance(letter, str)
        )
        self._asked_last = set(asked) if asked else self._asked_last

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Bars of what the choices followed; none where no pair was scored."""
        if not self._outcomes:
            return []
        followed = {name: self._outcomes[name] for name in SENTENCES}
        untold = {name: self._outcomes[name] for name in NO_CHOICE}
        sentence = pattern(followed, SENTENCES, without_choice=sum(untold.values()))
        if sum(untold.values()) <= sum(followed.values()):
            chosen = ", ".join(f"{letter} {self._letters[letter]:,}" for letter in sorted(self._letters))
            sentence = f"{sentence} Letters chosen: {chosen}."
        return [
            Bars(
                title="What the choice followed",
                shares=shares({**followed, **untold}),
                sentence=sentence,
                figures=frozenset(f"outcome_{name}" for name in (*SENTENCES, *NO_CHOICE)),
            )
        ]
