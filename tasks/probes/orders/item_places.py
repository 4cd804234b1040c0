"""Figures of item_order by the place of an item in the list: columns, measures and chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import ClassVar

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import Case, ItemSample, Trial
from contrapose.tasks.probes.answers import answer_probe as answers
from contrapose.tasks.probes.answers.scores import contains_phrase, is_right_reply
from contrapose.tasks.probes.base import Column, Measure, Value
from contrapose.tasks.probes.choices import RIGHT_ANSWER, RIGHT_ANSWERS, format_right_answers, make_asking_keys
from contrapose.tasks.probes.panels import Bars, Panel, PanelShare, Picture, Sheet, get_quantity, shares
from contrapose.tasks.probes.values import keep_if_any, numbers, where

Order = tuple[int, ...]
"""The item at each place, by its place in the given order, from 0."""
PLACES = ("first", "middle", "last")
"""The place of an item: the beginning of its list, the end, or between."""
STANDS = {"first": "first", "middle": "in between", "last": "last"}
"""Places as people read them."""
COMPARED = (("first", "middle"), ("last", "middle"), ("first", "last"))
"""Places whose accuracy is compared, within each sample."""

COLUMNS: Mapping[str, Column] = {
    "item_count": Column("int", "Items of the list.", "1"),
    "order": Column("string", "Places in the given order of the items as they stand in the changed one, from 1."),
    "relevant_place": Column("int", "Place of the item that holds the answer in the given order, from 1.", "1"),
    "moved_relevant_place": Column("int", "Its place in the changed order.", "1"),
    "answer_place": Column(
        "int",
        "Place of the item that the answer to the given order comes from: the only one that holds the chosen option, "
        "from 1.",
        "1",
    ),
    "moved_answer_place": Column("int", "The same of the answer to the changed order.", "1"),
    "right_after": Column("bool", "Whether the reply to the changed order was the right answer."),
    RIGHT_ANSWER: RIGHT_ANSWERS,
    **answers.COLUMNS,
}
"""Result columns: places, then the columns of every test that compares two answers."""

EXPLANATIONS: Mapping[str, str] = {
    **answers.EXPLANATIONS,
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
    "right_rate": "share of cases whose answer stays and is right in both orders.",
}


def make_place_details(sample: ItemSample, order: Order) -> dict[str, str]:
    """Return the details that scoring needs: the order of the items and the source of each option, numbered from 1.

    `sources` has for each option the place of the only item with its text; empty if none or several have it.
    """
    items = [" ".join(item.casefold().split()) for item in sample.items]
    sources = []
    for option in (" ".join(option.casefold().split()) for option in sample.options):
        places = [str(place) for place, item in enumerate(items, start=1) if contains_phrase(item, option)]
        sources.append(places[0] if len(places) == 1 else "")
    details = {"order": " ".join(str(place + 1) for place in order), "sources": ",".join(sources)}
    return details if sample.relevant is None else {**details, "relevant": str(sample.relevant)}


def find_source_place(case: Case, option: int | None) -> int | None:
    """Return the place in the given order, from 1, of the only item with the text of an option, or None."""
    sources = case.details["sources"].split(",")
    return int(sources[option]) if option is not None and sources[option] else None


def make_place_columns(trial: Trial, read: Mapping[str, Value]) -> dict[str, Value]:
    """Return the columns of a trial about places in the list."""
    case, text = trial.case, trial.actual.text or ""
    order = tuple(map(int, case.details["order"].split()))
    relevant = int(case.details["relevant"]) if "relevant" in case.details else None
    before, after = (
        case.labels.index(letter) if isinstance(letter := read.get(name), str) else None
        for name in ("chosen_before", "chosen_after")
    )
    source = find_source_place(case, after)
    # It is unknown whether a reply is right that names no option, or says nothing.
    judged = case.answers and (after is not None or (not case.options and text.strip()))
    return {
        "item_count": len(order),
        "order": case.details["order"],
        "relevant_place": relevant,
        "moved_relevant_place": None if relevant is None else order.index(relevant) + 1,
        "answer_place": find_source_place(case, before),
        "moved_answer_place": None if source is None else order.index(source) + 1,
        "right_after": is_right_reply(case, text, after) if judged else None,
        RIGHT_ANSWER: format_right_answers(case),
    }


def _select_answered_cases(results: pd.DataFrame) -> pd.DataFrame:
    if "item_count" not in results or "answer_changed" not in results:
        return results.iloc[:0]
    rows = results[results["item_count"].notna()]
    return rows[~rows["control"].astype(bool)] if "control" in rows else rows


def make_reply_rows(rows: pd.DataFrame, *, known: Set[object] = frozenset()) -> pd.DataFrame:
    """Return a row for each reply: the reply to the given order once, and each reply to another order.

    Returns:
        `row`, the first one of the asking; `count` of items; `relevant` and `source`, the place of the item that holds
        the answer and of the one that the answer comes from, as named in `PLACES`; `right`, NaN where that is unknown,
        and 0 of a reply that says nothing; `read`, whether it says something.
    """
    asking = make_asking_keys(rows)
    first = pd.Series(rows.index, index=rows.index).groupby(asking).transform("first")
    given_order = ~asking.duplicated() & ~asking.isin(known)
    parts = []
    for chosen, prefix, right in ((given_order, "", "right_before"), (first.notna(), "moved_", "right_after")):
        part = rows[chosen]
        count = numbers(part["item_count"])
        columns = {"row": first[chosen].to_numpy(), "count": count, "read": part[right].notna().to_numpy()}
        for name, column in (("relevant", f"{prefix}relevant_place"), ("source", f"{prefix}answer_place")):
            place = numbers(part[column])
            named = np.where(place == 1, PLACES[0], np.where(place == count, PLACES[2], PLACES[1])).astype(object)
            named[np.isnan(place)] = None
            columns[name] = named
        columns["right"] = where(part["answer_known"].eq(True), part[right].eq(True))
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def compute_order_outcomes(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return by name whether the answer stayed right, stayed wrong, or changed; the shares add up to 1.

    NaN for controls, and if an answer could not be read, or is not known to be right or wrong.
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


def _yield_place_measures(replies: pd.DataFrame, index: pd.Index) -> Iterator[Measure]:
    """Yield means over the replies to all orders of a sample, in the row of its first order."""

    def average_askings(values: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
        kept = pd.Series(values)[np.isfinite(values) if chosen is None else chosen & np.isfinite(values)]
        return np.asarray(kept.groupby(replies["row"]).mean().reindex(index), dtype=float)

    right = keep_if_any(replies["read"], replies["right"].to_numpy(dtype=float))
    given_order = ~replies["row"].duplicated().to_numpy()
    everywhere = average_askings(right)
    yield Measure(name="accuracy", values=everywhere, bounds=(0, 1))
    yield Measure(name="accuracy_given_order", share=True, values=average_askings(right, given_order))
    yield Measure(name="right_in_all_orders", share=True, values=where(np.isfinite(everywhere), everywhere == 1))
    placed = {name: average_askings(right, replies["relevant"].eq(name).to_numpy()) for name in PLACES}
    for name, values in placed.items():
        yield Measure(name=f"accuracy_relevant_{name}", values=values, bounds=(0, 1))
    ends = (placed["first"] + placed["last"]) / 2
    yield Measure(name="lost_in_the_middle", values=ends - placed["middle"], bounds=(-1, 1))
    for better, other in COMPARED:
        yield Measure(name=f"{better}_over_{other}", values=placed[better] - placed[other], bounds=(-1, 1))
    known, count = replies["source"].notna().to_numpy(), replies["count"].to_numpy(dtype=float)
    for name, share in {"first": 1 / count, "middle": (count - 2) / count, "last": 1 / count}.items():
        beyond = where(known, replies["source"].eq(name).to_numpy() - share)
        yield Measure(name=f"favours_{name}", values=average_askings(beyond), bounds=(-1, 1))


class PlaceCounts:
    """Counts of the outcomes, and of right and all answers by place in the list."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._right: Counter[str] = Counter()
        self._relevant: Counter[str] = Counter()
        self._asked_last: Set[object] = frozenset()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the answered cases; all orders of a sample are consecutive rows."""
        rows = _select_answered_cases(rows[rows["error"].isna()])
        if rows.empty:
            return
        self._outcomes.update({name: int(np.nansum(met)) for name, met in compute_order_outcomes(rows).items()})
        replies = make_reply_rows(rows, known=self._asked_last)
        for name in PLACES:
            right = replies.loc[replies["relevant"].eq(name), "right"].dropna()
            self._relevant[name] += len(right)
            self._right[name] += int(right.sum())
        self._asked_last = frozenset(make_asking_keys(rows))

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return bars of outcomes and of accuracy by place, and a table of the places that answers come from."""
        named = {"stayed and right": "consistent_and_right", "stayed and wrong": "consistent_and_wrong"}
        named["changed with the order"] = "follows_the_order"
        panels: list[Panel] = []
        if self._outcomes.total():
            counts = {name: self._outcomes[counted] for name, counted in named.items()}
            panels.append(Bars(title="What became of the answer in another order", shares=shares(counts)))
        if self._relevant.total():
            bars = (
                PanelShare(name=STANDS[name], count=self._right[name], total=self._relevant[name]) for name in PLACES
            )
            title = "Right answers by place of the relevant item"
            panels.append(Bars(title=title, shares=tuple(bars), sentence=_describe_better_places(outcome)))
        names = {name: f"favours_{name}" for name in PLACES if f"favours_{name}" in outcome["estimates"]}
        rows = tuple((STANDS[name], (get_quantity(outcome, figure, is_change=True),)) for name, figure in names.items())
        sheet = Sheet(
            caption="Answers that come from a place, beyond its share of the items",
            header=("item", "beyond its share"),
            rows=rows,
            figures=frozenset(names.values()),
        )
        return [*panels, sheet] if names else panels


class ItemFigures(answers.AnswerProbe):
    """Figures and chart of a test that shows a list in several orders."""

    columns: ClassVar[Mapping[str, Column]] = COLUMNS
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    stays: ClassVar[bool] = True

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Return counts of samples, of repeated samples, and of samples with the same answer in all orders."""
        rows, general = _select_answered_cases(results), super().summarise(results)
        if rows.empty:
            return {"samples": 0, **general}
        stayed = rows["answer_changed"].eq(False).groupby(make_asking_keys(rows)).all()
        return {"samples": len(stayed), "samples_that_stay": int(stayed.sum()), **general}

    def picture(self) -> Picture:
        """Return a counter for bars of the outcomes, and of answers by place in the list."""
        return PlaceCounts()

    def measures(self, results: pd.DataFrame) -> Sequence[Measure]:
        """Return measures: answers that changed, accuracy by place of the relevant item, and places of the answers.

        `answer_changed` counts all cases. An unread reply is not right in `accuracy` and `right_in_all_orders`.
        """
        general = [measure for measure in super().measures(results) if measure.name != "answer_changed"]
        if not general or "item_count" not in results:
            return general
        changed = numbers(results["answer_changed"])
        rows = _select_answered_cases(results)
        return [
            Measure(name="answer_changed", share=True, values=changed, net="net_order_sensitivity"),
            *(Measure(name=name, share=True, values=met) for name, met in compute_order_outcomes(results).items()),
            *([] if rows.empty else _yield_place_measures(make_reply_rows(rows), results.index)),
            *general,
        ]


def _describe_better_places(outcome: Outcome) -> str:
    """Return a sentence on the places with clearly better accuracy: the interval of the difference excludes 0."""
    claims = []
    for better, other in COMPARED:
        estimate = outcome["estimates"].get(f"{better}_over_{other}")
        low, high = (estimate and estimate["interval"]) or (0, 0)
        if low > 0 or high < 0:
            claims.append(f"{'more' if low > 0 else 'less'} often {STANDS[better]} than {STANDS[other]}")
    if not claims:
        return "The place of the relevant item makes no clear difference."
    return f"The place of the relevant item matters: right {', '.join(claims)}."
