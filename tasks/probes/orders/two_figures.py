"""Figures and chart of tests with two texts in both orders: outcomes, accuracy, position bias, likelihoods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes import choices
from contrapose.tasks.probes.base import Column, Measure, Probe
from contrapose.tasks.probes.known_errors import measure_steps
from contrapose.tasks.probes.panels import Grid, Heading, Panel, PanelShare, Picture, state_pattern
from contrapose.tasks.probes.values import keep_if_any, numbers, where
from contrapose.tasks.statistics.families import compare_discordant

COLUMNS: Mapping[str, Column] = {
    "result": Column("string", "Choice in the unchanged order; empty where none could be read."),
    "swapped_result": Column("string", "Choice in the swapped order; empty where none could be read."),
    "outcome": Column("string", "Both choices, AB, AA, BB or BA, or why there are not two."),
    "result_step": Column("string", "Which step read the choice in the unchanged order."),
    "swapped_step": Column("string", "Which step read the choice in the swapped order."),
    "content_score": Column("float", "Pull of the content towards the right text, (m1 + m2) / 2.", "nat"),
    "position_score": Column("float", "Pull of the letter A, (m1 - m2) / 2.", "nat"),
    "debiased_choice_right": Column("bool", "Whether the content alone speaks for the right text."),
    "right_is_longer": Column("bool", "Whether the right text has more characters; empty where both have as many."),
    "calibrates": Column("bool", "Whether the pair's log-likelihoods tell the pull of the letters."),
    **choices.COLUMNS,
}

ABILITY_AND_BIAS: Mapping[str, tuple[str, ...]] = {
    "consistent_and_right": ("AB",),
    "consistent_and_wrong": ("BA",),
    "follows_the_position": ("AA", "BB"),
}
"""Shares of the pairs with a choice in both orders, by their outcomes: they add up to 1."""
PLACES: Mapping[str, float] = {"A": 1.0, "B": -1.0}
"""Letters of the two positions, as a lean to the first."""
PAIRS = ("AB", "AA", "BB", "BA")
"""Outcomes with a choice in both orders."""

EXPLANATIONS: Mapping[str, str] = {
    **choices.EXPLANATIONS,
    "AB": "Pairs in which the right text is chosen in both orders.",
    "AA": "Pairs in which the first position is chosen in both orders: the position decided.",
    "BB": "Pairs in which the second position is chosen in both orders: the position decided.",
    "BA": "Pairs in which the wrong text is chosen in both orders.",
    "unparsed": "Pairs in which no choice could be read from one of the replies, or from both.",
    "position_bias_p": "Probability of so uneven a use of the two positions if neither were favoured. Below 0.05 the "
    "model hardly favours a position by chance.",
    "accuracy": "Share of right choices over both orders.",
    "accuracy_where_longer": "Accuracy where the right text is the longer one. Far above that where it is shorter, the "
    "model prefers length.",
    "accuracy_where_shorter": "Accuracy where the right text is the shorter one. Far below that where it is longer, "
    "the model prefers length.",
    "accuracy_original": "Share of right choices with the right text first.",
    "accuracy_swapped": "Share of right choices with the right text second.",
    "consistent_and_right": "Share of the pairs with a choice in both orders that chose the right text both times.",
    "consistent_and_wrong": "Share of the pairs with a choice in both orders that chose the wrong text both times: a "
    "lack of knowledge, not of steadiness.",
    "follows_the_position": "Share of the pairs with a choice in both orders that chose the same position both times: "
    "the order decided, not the content.",
    "position_bias_index": "0.5 always chooses the first position, -0.5 always the second; 0 favours neither.",
    "content_score": "How much likelier the right text is than the wrong one with the position taken out, in nats. "
    "Above 0 the content speaks for the right one.",
    "position_score": "How much likelier the first position is than the second with the content taken out, in nats. "
    "Above 0 the model leans to the first.",
    "debiased_accuracy": "Share of the pairs whose content speaks for the right text once the position is taken out: "
    "what the model knows apart from its bias.",
    "debiased_tied": "Share of the pairs whose content speaks for neither text.",
    "pride_prior_a": "Probability of the letter A whatever stands behind it, learned from a few pairs (PriDe). 0.5 is "
    "no preference.",
    "pride_accuracy": "Accuracy once that preference for a letter is taken out (PriDe).",
    "pride_gain": "What taking it out adds to the accuracy. Above 0 the preference for a letter cost right choices.",
    "choice_changed": "Share of the pairs in which the order changed which text was chosen, or whether one was.",
    "likelihood": "The letter that the model holds likelier is its choice; nothing has to be read.",
}


LABELS: Mapping[str, str] = {
    "AB": "AB: right in both orders",
    "AA": "AA: first in both orders",
    "BB": "BB: second in both orders",
    "BA": "BA: wrong in both orders",
    "net_order_sensitivity": "choices changed",
}


def pride(
    content: np.ndarray, position: np.ndarray, *, calibrating: np.ndarray, accuracy: np.ndarray
) -> Sequence[Measure]:
    """Return the measures of PriDe, which learns a model's preference for a letter from a few pairs and removes it.

    Source: C. Zheng, H. Zhou, F. Meng, J. Zhou, M. Huang, Large Language Models Are Not Robust Multiple Choice
    Selectors, ICLR 2024 (arXiv 2309.03882). The paper asks the calibrating pairs in both orders and the others in one.
    Here all are asked in both, and so each of the others shows twice what one order would have given.

    All are (rows,); scores are NaN without likelihoods. A leads by position + content in the first order, and by
    position - content once swapped. `pride_prior_a` is the probability of A that the letters alone give, over the
    calibrating pairs, in log space over a pair's orders. `pride_accuracy` is the share of both orders of the other
    pairs in which the right text leads once the mean prior is divided out; a tie is no choice. Intervals take the prior
    as known. NaN everywhere if no pair calibrates.
    """
    from scipy.special import expit

    weighed = np.isfinite(content)
    prior = np.where(weighed & calibrating, expit(position), np.nan)
    right = np.full(len(content), np.nan)
    if np.isfinite(prior).any():
        mean = prior[np.isfinite(prior)].mean()
        left = position - (np.log(mean) - np.log1p(-mean))
        right = where(weighed & ~calibrating, ((left + content > 0) * 1.0 + (left - content < 0)) / 2)
    return [
        Measure(name="pride_prior_a", values=prior, bounds=(0, 1)),
        Measure(name="pride_accuracy", values=right, bounds=(0, 1)),
        Measure(name="pride_gain", values=right - accuracy, bounds=(-1, 1)),
    ]


class OutcomeCounts:
    """Counts of the pairs by their outcome in both orders."""

    def __init__(self, sentences: Mapping[str, str], unpaired: Sequence[str]) -> None:
        self._sentences, self._unpaired = sentences, unpaired
        self._outcomes: Counter[str] = Counter()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the pairs that were scored; those in error have no second result."""
        self._outcomes.update(rows.loc[rows["swapped_result"].notna(), "outcome"].dropna())

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return the grid of the four outcomes; empty if no pair was scored."""
        if not self._outcomes:
            return []
        counts = {pair: self._outcomes[pair] for pair in self._sentences}
        others = {name: self._outcomes[name] for name in self._unpaired}
        total = sum(counts.values())
        cell = {pair: PanelShare(name=LABELS[pair], count=count, total=total) for pair, count in counts.items()}
        return [
            Grid(
                caption="Choices in both orders",
                columns=(Heading(name="swapped: B", note="right"), Heading(name="swapped: A", note="wrong")),
                rows=(
                    (Heading(name="original: A", note="right"), (cell["AB"], cell["AA"])),
                    (Heading(name="original: B", note="wrong"), (cell["BB"], cell["BA"])),
                ),
                sentence=state_pattern(counts, self._sentences, without_choice=sum(others.values())),
                note=" ".join(f"{name.capitalize()}: {count:,}." for name, count in others.items()),
                figures=frozenset({*counts, *others}),
            )
        ]


class TwoOrderFigures(Probe):
    """Figures and chart of a test that shows two texts in both orders."""

    columns: ClassVar[Mapping[str, Column]] = COLUMNS
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    labels: ClassVar[Mapping[str, str]] = LABELS
    without_choice: ClassVar[tuple[str, ...]] = ("unparsed",)
    unpaired: ClassVar[tuple[str, ...]] = ("unparsed",)
    """Outcomes of the pairs without a choice in both orders; those in `without_choice` are open."""
    choices_read: ClassVar[tuple[str, ...]] = ("A", "B")
    """What a reply may choose."""
    order_decides: ClassVar[tuple[str, ...]] = ("AA", "BB")
    """Outcomes of the pairs in which the order changed the choice."""
    sentences: ClassVar[Mapping[str, str]] = {
        "AB": "picks the right text in both orders: the content decides.",
        "AA": "picks A in both orders: the position decides, not the content.",
        "BB": "picks B in both orders: the position decides, not the content.",
        "BA": "picks the wrong text in both orders.",
    }
    """What a model does that has this outcome, to follow `always`; in the order of the grid."""

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Return counts of the outcomes, and of how choices were read; rows without an outcome are left out.

        `position_bias_p` is the two-sided exact McNemar test of the pairs in which the position decided; it assumes
        independent pairs, and is missing if there are none.
        """
        counted = results["outcome"].value_counts() if "outcome" in results else pd.Series(dtype=int)
        counts = {name: int(counted.get(name, 0)) for name in (*PAIRS, *self.unpaired)}
        if "result_step" not in results:
            return counts
        judged = results[results["outcome"].notna()]
        if judged.empty:
            return dict.fromkeys(counts)
        first, second = counts["AA"], counts["BB"]
        bias = {"position_bias_p": compare_discordant(first, second).p} if first + second else {}
        return {**counts, **bias, **measure_steps((judged["result_step"], judged["swapped_step"]))}

    def position_lean(self, results: pd.DataFrame) -> np.ndarray | None:
        """Return (rows,): P(first) - P(second) over both orders, where the content cancels out; a tie counts 0.

        NaN if a reply names no choice.
        """
        if "outcome" not in results:
            return None
        places = {choice: PLACES.get(choice, 0.0) for choice in self.choices_read}
        first, second = (results[name].map(places).to_numpy(dtype=float) for name in ("result", "swapped_result"))
        return np.asarray((first + second) / 2)

    def picture(self) -> Picture:
        """Return a counter for the grid of choices in both orders."""
        return OutcomeCounts(self.sentences, self.unpaired)

    def measures(self, results: pd.DataFrame) -> Iterator[Measure]:
        """Yield means over pairs; an unread reply is not right, and in `debiased_accuracy` a tie counts half.

        So it does in the area under a ROC curve; low precision makes ties common.
        """
        if "outcome" not in results:
            return
        outcome = results["outcome"]
        judged, parsed = outcome.notna(), outcome.isin(PAIRS)
        first, second = (results[name].isin(self.choices_read) for name in ("result", "swapped_result"))
        right = where(judged, results["result"] == "A"), where(judged, results["swapped_result"] == "B")
        accuracy = keep_if_any(judged & (first | second), (right[0] + right[1]) / 2)
        yield Measure(name="accuracy", values=accuracy, bounds=(0, 1))
        if "right_is_longer" in results:
            # Who prefers length is better where the right one is longer.
            for name, longer in (("accuracy_where_longer", True), ("accuracy_where_shorter", False)):
                values = np.where(results["right_is_longer"].eq(longer), accuracy, np.nan)
                yield Measure(name=name, values=values, bounds=(0, 1))
        yield Measure(name="accuracy_original", share=True, values=keep_if_any(judged & first, right[0]))
        yield Measure(name="accuracy_swapped", share=True, values=keep_if_any(judged & second, right[1]))
        for name, outcomes in ABILITY_AND_BIAS.items():
            yield Measure(name=name, share=True, values=where(parsed, outcome.isin(outcomes)))
        index = where(parsed, ((outcome == "AA") * 1 - (outcome == "BB")) / 2)
        yield Measure(name="position_bias_index", values=index, bounds=(-0.5, 0.5))
        content, position = numbers(results["content_score"]), numbers(results["position_score"])
        yield Measure(name="content_score", values=content)
        yield Measure(name="position_score", values=position)
        yield Measure(name="debiased_accuracy", values=(np.sign(content) + 1) / 2, bounds=(0, 1))
        yield Measure(name="debiased_tied", share=True, values=where(np.isfinite(content), content == 0))
        yield from pride(content, position, calibrating=np.asarray(results["calibrates"].eq(True)), accuracy=accuracy)
        # The order stays under a control, and another choice is what fails; where none was read in both, it is unknown.
        control, passed = results["control"].astype(bool), results["pass"]
        known = np.where(control, passed.notna(), first | second)
        changed = np.where(control, passed.eq(False), outcome.isin(self.order_decides) | (first != second))
        yield Measure(name="choice_changed", share=True, values=where(known, changed), net="net_order_sensitivity")
        yield from choices.yield_reading_measures(results)
