"""What item_order reports: what changed with the order, accuracy and answers by place in the list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np
import pandas as pd

from contrapose.tasks.probes.answers.figures import EXPLANATIONS as ANSWERS_EXPLAINED
from contrapose.tasks.probes.answers.figures import figures as figures_of_answers
from contrapose.tasks.probes.answers.figures import measures as measures_of_answers
from contrapose.tasks.probes.base import Criterion, Measure, right_rate
from contrapose.tasks.probes.values import if_any, numbers, where

PLACES = ("first", "middle", "last")
"""Where an item stands: at the beginning of its list, at the end, or somewhere between."""
COMPARED = (("first", "middle"), ("last", "middle"), ("first", "last"))
"""Places whose accuracy is compared, within each sample."""
HALF = 0.5
"""The default gate of answers that stay and are right, where guessing does not reach it."""


EXPLANATIONS: Mapping[str, str] = {
    **ANSWERS_EXPLAINED,
    "samples": "Samples that were answered; each time that one is asked counts.",
    "samples_that_stay": "Those of them whose answer stayed in every order of the list.",
    "accuracy": "Share of right replies over all orders of the list.",
    "accuracy_given_order": "Share of right replies to the list in its given order.",
    "right_in_all_orders": "Share of the samples answered rightly in every order. It is what you can rely on when the "
    "order is not yours.",
    "accuracy_relevant_*": "Share of right replies where the item that holds the answer stands there in the list.",
    "lost_in_the_middle": "Accuracy with the relevant item at an end minus that with it in the middle. Above 0 the "
    "model overlooks the middle of a list.",
    "*_over_*": "Accuracy with the relevant item at the first of the two places minus that at the second, within each "
    "sample. Near 0 the place makes no difference.",
    "favours_*": "How often the answer comes from the item there, beyond the share of items that stand there. Above 0 "
    "the model favours that place.",
    "consistent_and_right": "Share of the pairs of orders with the right answer in both.",
    "consistent_and_wrong": "Share of the pairs of orders with the same wrong answer in both: a lack of knowledge, not "
    "of steadiness.",
    "follows_the_order": "Share of the pairs of orders whose answer changed with the order.",
    "right_rate": "Share of the cases whose answer stays and is right in both orders.",
}
"""What the figures, the gate and the scorers are."""


def figures(results: pd.DataFrame) -> Mapping[str, float | int | None]:
    """Counts over the results of the cases.

    Returns:
        `samples`, each asking of one counted, and those of them whose answer stayed in all orders that were asked;
        then what every test reports that compares two answers.
    """
    rows = answered_cases(results)
    if rows.empty:
        return {"samples": 0, **figures_of_answers(results)}
    stayed = rows["answer_changed"].eq(False).groupby(askings(rows)).all()
    return {"samples": len(stayed), "samples_that_stay": int(stayed.sum()), **figures_of_answers(results)}


def answered_cases(results: pd.DataFrame) -> pd.DataFrame:
    """The rows of cases that were answered."""
    if "item_count" not in results or "answer_changed" not in results:
        return results.iloc[:0]
    rows = results[results["item_count"].notna()]
    return rows[~rows["control"].astype(bool)] if "control" in rows else rows


def askings(rows: pd.DataFrame) -> pd.Series:
    """(rows,) of what tells one asking of a sample, in all its orders, from another."""
    parts = [rows[name] for name in ("sample_id", "repeat") if name in rows]
    return pd.Series(list(zip(*parts, strict=True)), index=rows.index, dtype=object)


def replies(rows: pd.DataFrame, *, known: Set[tuple[object, ...]] = frozenset()) -> pd.DataFrame:
    """A row for each reply: that to the given order once for each asking, and those to the others.

    Args:
        rows: of cases; each repeats the reply to the given order.
        known: askings whose reply to the given order was counted before.

    Returns:
        `row`, the first one of the asking; `count` of items; `relevant` and `source`, the place of the item that holds
        the answer and of the one that the answer comes from, as named in `PLACES`; `right`, NaN where nobody knows,
        and 0 of a reply that says nothing; `read`, whether it says something.
    """
    asking = askings(rows)
    first = pd.Series(rows.index, index=rows.index).groupby(asking).transform("first")
    given_order = ~asking.duplicated() & ~asking.isin(known)
    parts = [
        _replies(rows[chosen], first[chosen], relevant=relevant, source=source, right=right)
        for chosen, relevant, source, right in (
            (given_order, "relevant_place", "answer_place", "right_before"),
            (first.notna(), "moved_relevant_place", "moved_answer_place", "right_after"),
        )
    ]
    return pd.concat(parts, ignore_index=True)


def _replies(rows: pd.DataFrame, first: pd.Series, *, relevant: str, source: str, right: str) -> pd.DataFrame:
    count = numbers(rows["item_count"])
    return pd.DataFrame(
        {
            "row": first.to_numpy(),
            "count": count,
            "relevant": _named(numbers(rows[relevant]), count),
            "source": _named(numbers(rows[source]), count),
            "right": where(rows["answer_known"].eq(True), rows[right].eq(True)),
            "read": rows[right].notna().to_numpy(),
        }
    )


def _named(place: np.ndarray, count: np.ndarray) -> np.ndarray:
    names = np.where(place == 1, PLACES[0], np.where(place == count, PLACES[2], PLACES[1])).astype(object)
    names[np.isnan(place)] = None
    return names


def measures(results: pd.DataFrame) -> Sequence[Measure]:
    """Means over samples, or over pairs of orders.

    Args:
        results: cases and controls.

    Returns:
        What every test reports that compares two answers; of `answer_changed` all cases count, and its effect is
        `net_order_sensitivity`. Where the answer is known: `accuracy` over all orders and in the given one,
        `right_in_all_orders`, an unread reply counted as not right; `accuracy_relevant_first`, `_middle` and `_last`,
        by where the relevant item stands, `lost_in_the_middle`, the mean of first and last minus the middle, and each
        two of them, as `first_over_last`, first minus last; among the pairs of orders with an answer each, the shares
        that kept to the right one, kept to a wrong one, and changed. `favours_first`, `_middle` and `_last`: how often
        the answer comes from there, minus the share of the items that stand there.
    """
    general = [measure for measure in measures_of_answers(results) if measure.name != "answer_changed"]
    if not general or "item_count" not in results:
        return general
    changed = Measure(
        name="answer_changed", share=True, values=numbers(results["answer_changed"]), net="net_order_sensitivity"
    )
    rows = answered_cases(results)
    return [changed, *_outcomes(results), *([] if rows.empty else _by_place(replies(rows), results.index)), *general]


def _outcomes(results: pd.DataFrame) -> Iterator[Measure]:
    """What became of an answer that is known to be right or wrong."""
    for name, met in outcomes(results).items():
        yield Measure(name=name, share=True, values=met)


def outcomes(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """What became of an answer that is known to be right or wrong: three shares that add up to 1, by name.

    Of controls, and where an answer could not be read, NaN.
    """
    changed, right = (numbers(rows[name]) for name in ("answer_changed", "right_before"))
    control = rows["control"].astype(bool).to_numpy() if "control" in rows else np.zeros(len(rows), dtype=bool)
    judged = ~(np.isnan(changed) | np.isnan(right) | control)
    both = right * np.nan_to_num(numbers(rows["right_after"]))
    return {
        "consistent_and_right": where(judged, (changed == 0) & (both == 1)),
        "consistent_and_wrong": where(judged, (changed == 0) & (both != 1)),
        "follows_the_order": where(judged, changed == 1),
    }


def _by_place(answers: pd.DataFrame, index: pd.Index) -> Iterator[Measure]:
    """Means over the replies of each asking, whose first row stands for it."""

    def of_askings(values: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
        kept = pd.Series(values)[np.isfinite(values) if chosen is None else chosen & np.isfinite(values)]
        return np.asarray(kept.groupby(answers["row"]).mean().reindex(index), dtype=float)

    right = if_any(answers["read"], answers["right"].to_numpy(dtype=float))
    given_order = ~answers["row"].duplicated().to_numpy()
    yield Measure(name="accuracy", values=of_askings(right), bounds=(0, 1))
    yield Measure(name="accuracy_given_order", share=True, values=of_askings(right, given_order))
    everywhere = of_askings(right)
    yield Measure(name="right_in_all_orders", share=True, values=where(np.isfinite(everywhere), everywhere == 1))
    placed = {name: of_askings(right, answers["relevant"].eq(name).to_numpy()) for name in PLACES}
    for name, values in placed.items():
        yield Measure(name=f"accuracy_relevant_{name}", values=values, bounds=(0, 1))
    ends = (placed["first"] + placed["last"]) / 2
    yield Measure(name="lost_in_the_middle", values=ends - placed["middle"], bounds=(-1, 1))
    for better, other in COMPARED:
        yield Measure(name=f"{better}_over_{other}", values=placed[better] - placed[other], bounds=(-1, 1))
    known = answers["source"].notna().to_numpy()
    for name, even in _even(answers["count"].to_numpy(dtype=float)).items():
        beyond = where(known, answers["source"].eq(name).to_numpy() - even)
        yield Measure(name=f"favours_{name}", values=of_askings(beyond), bounds=(-1, 1))


def _even(count: np.ndarray) -> dict[str, np.ndarray]:
    """Share of the items that stand at each place, of lists of so many."""
    return {"first": 1 / count, "middle": (count - 2) / count, "last": 1 / count}


def criteria(results: pd.DataFrame, wanted: float | None) -> Sequence[Criterion]:
    """The rate of answers that stay and are right, where the right one is known."""
    right = numbers(results["right_before"]), numbers(results["right_after"])
    return right_rate(results, 1 - numbers(results["answer_changed"]), *right, wanted=wanted, least=HALF)
