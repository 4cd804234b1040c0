"""Scores item_order: whether the answer stayed, whether it was right, and where what it names stood in the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from contrapose.tasks.core.records import Case, Completion, ItemSample, Score, Trial
from contrapose.tasks.probes.answers.figures import COLUMNS as OF_ANSWERS
from contrapose.tasks.probes.answers.scores import gives_right_answer, holds, score_trials
from contrapose.tasks.probes.base import Column, Embed, Value
from contrapose.tasks.probes.item_order.settings import ItemOrderSettings, Order

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
    **OF_ANSWERS,
}
"""Result columns: where things stood, then those of every test that compares two answers."""


def details_of(sample: ItemSample, order: Order) -> dict[str, str]:
    """What scoring needs of a sample and an order of its items, as numbers from 1 in words."""
    numbers = {
        "order": " ".join(str(place + 1) for place in order),
        "sources": ",".join(str(source or "") for source in _sources(sample)),
    }
    return numbers if sample.relevant is None else {**numbers, "relevant": str(sample.relevant)}


def _sources(sample: ItemSample) -> list[int | None]:
    """For each option the place of the only item that holds its text; None where none or several do."""
    items = [_plain(item) for item in sample.items]
    holding = [
        [place for place, item in enumerate(items, start=1) if holds(item, _plain(option))] for option in sample.options
    ]
    return [places[0] if len(places) == 1 else None for places in holding]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def score_lists(trials: Sequence[Trial], settings: ItemOrderSettings, *, embed: Embed) -> list[Score]:
    """A score for each trial, which passes when the answer stayed, with the columns of this test."""
    scores = score_trials(trials, settings, embed=embed, stays=True)
    return [
        replace(score, columns={**score.columns, **_columns(trial, score.columns)})
        for trial, score in zip(trials, scores, strict=True)
    ]


def _columns(trial: Trial, read: Mapping[str, Value]) -> dict[str, Value]:
    case = trial.case
    order, relevant = numbers(case.details["order"]), case.details.get("relevant")
    before, after = (_index(case, read.get(name)) for name in ("chosen_before", "chosen_after"))
    return {
        "item_count": len(order),
        "order": case.details["order"],
        "relevant_place": None if relevant is None else int(relevant),
        "moved_relevant_place": None if relevant is None else order.index(int(relevant)) + 1,
        "answer_place": source_of(case, before),
        "moved_answer_place": _moved(source_of(case, after), order),
        "right_after": _is_right(case, trial.actual, after),
    }


def numbers(order: str) -> tuple[int, ...]:
    """An order as its case has it: places in the given order, from 1."""
    return tuple(map(int, order.split()))


def source_of(case: Case, option: int | None) -> int | None:
    """Place in the given order, from 1, of the only item that holds an option; None where no one item does."""
    sources = case.details["sources"].split(",")
    return int(sources[option]) if option is not None and sources[option] else None


def _index(case: Case, letter: Value) -> int | None:
    return case.labels.index(letter) if isinstance(letter, str) else None


def _moved(place: int | None, order: Sequence[int]) -> int | None:
    return None if place is None else order.index(place) + 1


def _is_right(case: Case, reply: Completion, chosen: int | None) -> bool | None:
    """Whether a reply gives a right answer; None where none is known, or it names no option or says nothing."""
    if not case.answers or (chosen is None and (case.options or not (reply.text or "").strip())):
        return None
    return gives_right_answer(case, reply.text, chosen)
