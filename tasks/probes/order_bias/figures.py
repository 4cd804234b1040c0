"""What order_bias reports: outcomes, accuracy, position bias, what likelihoods add; and its picture."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes.base import Measure
from contrapose.tasks.probes.in_words import EXPLANATIONS as IN_WORDS_EXPLAINED
from contrapose.tasks.probes.in_words import in_words_measures
from contrapose.tasks.probes.known_errors import step_figures
from contrapose.tasks.probes.order_bias.score import UNPARSED
from contrapose.tasks.probes.panels import Grid, Heading, Panel, PanelShare, pattern
from contrapose.tasks.probes.reading_checks import EXPLANATIONS as CHECKS_EXPLAINED
from contrapose.tasks.probes.reading_checks import check_measures
from contrapose.tasks.probes.values import if_any, numbers, where
from contrapose.tasks.statistics.families import discordant

ABILITY_AND_BIAS: Mapping[str, tuple[str, ...]] = {
    "consistent_and_right": ("AB",),
    "consistent_and_wrong": ("BA",),
    "follows_the_position": ("AA", "BB"),
}
"""Shares of the pairs with a choice in both orders, by their outcomes: they add up to 1."""
PAIRS = ("AB", "AA", "BB", "BA")
"""Outcomes with a choice in both orders."""


EXPLANATIONS: Mapping[str, str] = {
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
    "reply": "The choice is read from the reply in words.",
    "label": "The choice is the label of the prompt that the reply ends on.",
    **IN_WORDS_EXPLAINED,
    **CHECKS_EXPLAINED,
}
"""What the figures and the scorers are."""


def figures(results: pd.DataFrame, *, unpaired: Sequence[str] = (UNPARSED,)) -> Mapping[str, float | int | None]:
    """Counts of the outcomes, and how the choices were read; rows without one (errors, unscored) are left out.

    Args:
        results: result rows.
        unpaired: outcomes of the pairs that lack a choice in one order or both.
    """
    counted = results["outcome"].value_counts() if "outcome" in results else pd.Series(dtype=int)
    counts = {name: int(counted.get(name, 0)) for name in (*PAIRS, *unpaired)}
    if "result_step" not in results:
        return counts
    judged = results[results["outcome"].notna()]
    if judged.empty:
        return dict.fromkeys(counts)
    return {
        **counts,
        **position_bias(counts["AA"], counts["BB"]),
        **step_figures((judged["result_step"], judged["swapped_step"])),
    }


def position_bias(first: int, second: int) -> dict[str, float]:
    """`position_bias_p`, the two-sided exact p value of two counts if each position were chosen as often.

    It is McNemar's exact test of the pairs in which the position decided, and takes pairs as independent. Nothing where
    there are none.
    """
    return {"position_bias_p": discordant(first, second).p} if first + second else {}


def measures(results: pd.DataFrame) -> Iterator[Measure]:
    """What is a mean over pairs.

    Args:
        results: cases and controls. Controls have no outcome.

    Yields:
        `accuracy` over both orders and in each, where an unread reply is not right, and where the right summary is the
        longer and the shorter one; ability and bias apart, among the
        parsed pairs: consistent and right, consistent and wrong, following the position; `position_bias_index`,
        (share of AA - share of BB)/2 among the parsed pairs, -0.5 to 0.5; `content_score` and `position_score` in
        nats; `debiased_accuracy`, the share of pairs with a positive content score, where a tie counts half, as in
        the area under a ROC curve; `debiased_tied`, since low precision makes ties common; what PriDe gives;
        `choice_changed`, the share of pairs in which the order changed which summary was chosen, or whether one was,
        with its effect: beyond what other words for the question change; what replies in words say beside likelihoods;
        how well the model reads replies when it is asked back.
    """
    if "outcome" not in results:
        return
    outcome = results["outcome"]
    judged, parsed = outcome.notna(), outcome.isin(PAIRS)
    read = [judged & results[name].isin(("A", "B")) for name in ("result", "swapped_result")]
    right = where(judged, results["result"] == "A"), where(judged, results["swapped_result"] == "B")
    accuracy = if_any(read[0] | read[1], (right[0] + right[1]) / 2)
    yield Measure(name="accuracy", values=accuracy, bounds=(0, 1))
    yield from _by_length(results, accuracy)
    yield Measure(name="accuracy_original", share=True, values=if_any(read[0], right[0]))
    yield Measure(name="accuracy_swapped", share=True, values=if_any(read[1], right[1]))
    del read, right
    for name, outcomes in ABILITY_AND_BIAS.items():
        yield Measure(name=name, share=True, values=where(parsed, outcome.isin(outcomes)))
    index = where(parsed, ((outcome == "AA") * 1 - (outcome == "BB")) / 2)
    yield Measure(name="position_bias_index", values=index, bounds=(-0.5, 0.5))
    del index
    yield from _by_likelihood(results, accuracy)
    yield Measure(name="choice_changed", share=True, values=_changed(results), net="net_order_sensitivity")
    yield from in_words_measures(results)
    yield from check_measures(results)


def _by_likelihood(results: pd.DataFrame, accuracy: np.ndarray) -> Iterator[Measure]:
    """What the log-likelihoods of the letters add."""
    content, position = numbers(results["content_score"]), numbers(results["position_score"])
    calibrating = np.asarray(results["calibrates"].eq(True))
    yield Measure(name="content_score", values=content)
    yield Measure(name="position_score", values=position)
    yield Measure(name="debiased_accuracy", values=(np.sign(content) + 1) / 2, bounds=(0, 1))
    yield Measure(name="debiased_tied", share=True, values=where(np.isfinite(content), content == 0))
    yield from pride(content, position, calibrating=calibrating, accuracy=accuracy)


def _by_length(results: pd.DataFrame, accuracy: np.ndarray) -> Iterator[Measure]:
    """Accuracy where the right one is longer, and where it is shorter: who prefers length is better at the former."""
    if "right_is_longer" not in results:
        return
    for name, longer in (("accuracy_where_longer", True), ("accuracy_where_shorter", False)):
        values = np.where(results["right_is_longer"].eq(longer), accuracy, np.nan)
        yield Measure(name=name, values=values, bounds=(0, 1))


def _changed(results: pd.DataFrame) -> np.ndarray:
    """Whether another summary was chosen, or one in a single reply; unknown where none was in both.

    Under a control, where the order stays, that is what fails.
    """
    first, second = (results[name].isin(("A", "B")) for name in ("result", "swapped_result"))
    control = results["control"].astype(bool)
    known = np.where(control, results["pass"].notna(), first | second)
    changed = np.where(control, results["pass"].eq(False), results["outcome"].isin(("AA", "BB")) | (first != second))
    return np.where(known, changed.astype(float), np.nan)


class Positions:
    """Counts of the pairs of orders by their outcome."""

    def __init__(self, sentences: Mapping[str, str], unpaired: Sequence[str] = (UNPARSED,)) -> None:
        self._sentences, self._unpaired = sentences, unpaired
        self._outcomes: Counter[str] = Counter()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the pairs that were scored; those in error have no second result."""
        self._outcomes.update(rows.loc[rows["swapped_result"].notna(), "outcome"].dropna())

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """The grid of the four outcomes; none where no pair was scored."""
        if not self._outcomes:
            return []
        counts = {pair: self._outcomes[pair] for pair in self._sentences}
        others = {name: self._outcomes[name] for name in self._unpaired}
        total = sum(counts.values())
        cell = {pair: PanelShare(name=pair, count=count, total=total) for pair, count in counts.items()}
        return [
            Grid(
                caption="Choices in both orders",
                columns=(Heading(name="swapped: B", note="right"), Heading(name="swapped: A", note="wrong")),
                rows=(
                    (Heading(name="original: A", note="right"), (cell["AB"], cell["AA"])),
                    (Heading(name="original: B", note="wrong"), (cell["BB"], cell["BA"])),
                ),
                sentence=pattern(counts, self._sentences, without_choice=sum(others.values())),
                note=" ".join(f"{name.capitalize()}: {count:,}." for name, count in others.items()),
                figures=frozenset({*counts, *others}),
            )
        ]


def calibrates(sample_id: str, share: float) -> bool:
    """Whether a pair belongs to the calibrating share, 0 to 1: by its id alone, in whatever order pairs come."""
    digest = hashlib.sha256(f"pride\x00{sample_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def pride(
    content: np.ndarray, position: np.ndarray, *, calibrating: np.ndarray, accuracy: np.ndarray
) -> Sequence[Measure]:
    """PriDe: what the letters alone are worth to a model, learned from a few pairs and taken out of the others.

    Source: C. Zheng, H. Zhou, F. Meng, J. Zhou, M. Huang, Large Language Models Are Not Robust Multiple Choice
    Selectors, ICLR 2024 (arXiv 2309.03882). The paper asks the calibrating pairs in both orders and the others in one.
    Here all are asked in both, and so each of the others tells twice what one order would have given.

    Args:
        content: (rows,) of content scores in nats; NaN where there are no likelihoods.
        position: (rows,) of position scores; NaN in the same rows.
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
