"""Figures over the results of a test that compares two answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.probes.base import Column, Measure
from contrapose.tasks.probes.in_words import COLUMNS as IN_WORDS
from contrapose.tasks.probes.in_words import in_words_measures
from contrapose.tasks.probes.reading_checks import COLUMNS as CHECKED
from contrapose.tasks.probes.reading_checks import check_measures
from contrapose.tasks.probes.steps import step_figures
from contrapose.tasks.probes.values import numbers, where

COLUMNS: Mapping[str, Column] = {
    "chosen_before": Column("string", "Letter that was chosen under the unchanged prompt."),
    "chosen_after": Column("string", "Letter that was chosen under the changed prompt."),
    "chosen_before_step": Column("string", "Which step read the choice under the unchanged prompt."),
    "chosen_after_step": Column("string", "Which step read the choice under the changed prompt."),
    "right_before": Column("bool", "Whether the reply to the unchanged prompt was the right answer."),
    "js_divergence": Column(
        "float", "Jensen-Shannon divergence of the two distributions over the options, 0 to 1.", "bit"
    ),
    "answer_changed": Column("bool", "Whether the answer changed."),
    "option_count": Column("int", "Options to choose from.", "1"),
    "right_logprob_change": Column("float", "Log of the right option's share, after - before.", "nat"),
    "gold_lost": Column("bool", "Whether a right answer became a wrong one."),
    "embedding_score": Column("float", "1 - cosine of the embeddings of the two replies.", "1"),
    "loss_score": Column("float", "Mean loss a token of the old reply, after - before.", "nat/token"),
    "letters_only": Column("bool", "Whether both replies are mere letters, whose embeddings mean nothing."),
    "threshold_low": Column(
        "float", "Lower end of the threshold that was taken from the controls.", "depends on scorer"
    ),
    "threshold_high": Column(
        "float", "Upper end of the threshold that was taken from the controls.", "depends on scorer"
    ),
    **IN_WORDS,
    **CHECKED,
}
"""Result columns of such a test."""


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """Counts and bounds over the results of the cases; what no row tells is left out.

    Returns:
        `choices`, pairs of choices that could be read; `letter_only_replies`, pairs whose embeddings mean nothing; the
        ends of each scorer's threshold, where each has its own; how the choices were read.
    """
    if results.empty or not set(COLUMNS) <= set(results.columns):
        return {}
    choices = int((results["chosen_before"].notna() & results["chosen_after"].notna()).sum())
    letters = int((results["letters_only"] == True).sum())  # noqa: E712
    return {
        **({"choices": choices} if choices else {}),
        **({"letter_only_replies": letters} if letters else {}),
        **_thresholds(results),
        **_steps(results),
    }


def _steps(results: pd.DataFrame) -> dict[str, float]:
    """How the choices among options were read."""
    names = ("chosen_before_step", "chosen_after_step")
    choosing = results[results["option_count"].notna()]
    return step_figures(choosing[name] for name in names) if set(names) <= set(choosing.columns) else {}


def _thresholds(results: pd.DataFrame) -> dict[str, float]:
    ends = ["threshold_low", "threshold_high"]
    own = results[["scorer", *ends]].dropna().drop_duplicates("scorer").sort_values("scorer").set_index("scorer")
    return {f"{end}_{scorer}": float(own.loc[scorer, end]) for scorer in own.index for end in ends}


def measures(results: pd.DataFrame, *, net: str = "net_sensitivity") -> Sequence[Measure]:
    """What is a mean over trials.

    Args:
        results: cases and controls.
        net: name of the effect: answers changed, beyond those that a control changes.

    Returns:
        The mean eval_score of each scorer; with options how often the choice changed, was right before, and how far
        the distribution moved; `answer_changed` by whatever scorer, among samples that were not answered wrongly;
        where the answer is known, the change in log-probability of the right option in nats, and `gold_lost`, how
        often a right answer was given to the original and not again; the documents' scores beside other scorers; what
        replies in words say beside likelihoods.
    """
    if "pass" not in results or results.empty:
        return []
    scores, scorer = numbers(results["eval_score"]), results["scorer"].astype(str)
    found = [
        Measure(name=f"mean_eval_score_{name}", values=np.where(scorer == name, scores, np.nan))
        for name in sorted(set(scorer))
    ]
    read = results["chosen_before"].notna() & results["chosen_after"].notna()
    right = numbers(results["right_before"])
    return [
        *found,
        Measure(
            name="choice_changed", share=True, values=where(read, results["chosen_before"] != results["chosen_after"])
        ),
        Measure(name="right_before", share=True, values=right),
        Measure(
            name="answer_changed",
            share=True,
            values=np.where(right == 0, np.nan, _changed(results)),
            among="not answered wrongly before",
            net=net,
        ),
        Measure(name="js_divergence", values=numbers(results["js_divergence"]), bounds=(0, 1), net="net_js_divergence"),
        Measure(
            name="right_logprob_change",
            values=numbers(results["right_logprob_change"]),
            net="net_right_logprob_change",
        ),
        Measure(
            name="gold_lost",
            share=True,
            values=numbers(results["gold_lost"]),
            among="answered rightly before",
            net="net_gold_lost",
        ),
        *(
            Measure(name=f"{name}_score", values=np.where(scorer == name, np.nan, numbers(results[f"{name}_score"])))
            for name in ("embedding", "loss")
        ),
        *in_words_measures(results),
        *check_measures(results),
    ]


def _changed(results: pd.DataFrame) -> np.ndarray:
    return where(results["answer_changed"].notna(), results["answer_changed"] == True)  # noqa: E712
