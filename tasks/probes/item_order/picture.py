"""The picture of item_order: what became of the answers, and how they depend on places in the list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes.item_order.figures import COMPARED, PLACES, answered_cases, askings, outcomes, replies
from contrapose.tasks.probes.panels import Bars, Panel, PanelShare, Quantity, Sheet, shares

STANDS = {"first": "first", "middle": "in between", "last": "last"}
"""Places as people read them."""


class Places:
    """Counts of what became of the answers, and of right and of all answers by their place in the list."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._right: Counter[str] = Counter()
        self._relevant: Counter[str] = Counter()
        self._asked_last: Set[tuple[object, ...]] = frozenset()

    def add(self, rows: pd.DataFrame) -> None:
        """Count the cases that were answered; all orders of a sample stand together."""
        rows = answered_cases(rows[rows["error"].isna()])
        if rows.empty:
            return
        judged = outcomes(rows)
        self._outcomes.update({name: int(np.nansum(met)) for name, met in judged.items()})
        answered_replies = replies(rows, known=self._asked_last)
        for name in PLACES:
            right = answered_replies.loc[answered_replies["relevant"].eq(name), "right"].dropna()
            self._relevant[name] += len(right)
            self._right[name] += int(right.sum())
        self._asked_last = frozenset(askings(rows))

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Bars of the outcomes and of accuracy by place, and a table of the places that answers come from."""
        return [*self._stayed(), *self._by_place(outcome), *_favoured(outcome)]

    def _stayed(self) -> Iterator[Panel]:
        if not self._outcomes.total():
            return
        named = {"stayed and right": "consistent_and_right", "stayed and wrong": "consistent_and_wrong"}
        named["changed with the order"] = "follows_the_order"
        yield Bars(
            title="What became of the answer in another order",
            shares=shares({name: self._outcomes[counted] for name, counted in named.items()}),
        )

    def _by_place(self, outcome: Outcome) -> Iterator[Panel]:
        if not self._relevant.total():
            return
        yield Bars(
            title="Right answers by where the relevant item stands",
            shares=tuple(
                PanelShare(name=STANDS[name], count=self._right[name], total=self._relevant[name]) for name in PLACES
            ),
            sentence=_better(outcome),
        )


def _better(outcome: Outcome) -> str:
    """Where the relevant item is clearly better placed: what is claimed has an interval that leaves out 0."""
    signs = {pair: _sign(outcome, "_over_".join(pair)) for pair in COMPARED}
    claims = [
        f"{'more' if sign > 0 else 'less'} often {STANDS[better]} than {STANDS[other]}"
        for (better, other), sign in signs.items()
        if sign
    ]
    if not claims:
        return "Where the relevant item stands makes no clear difference."
    return f"Where the relevant item stands matters: right {', '.join(claims)}."


def _sign(outcome: Outcome, name: str) -> int:
    """1 or -1 where all of a figure's interval lies on that side of 0, else 0."""
    estimate = outcome["estimates"].get(name)
    interval = estimate["interval"] if estimate else None
    if interval is None:
        return 0
    return 1 if interval[0] > 0 else -1 if interval[1] < 0 else 0


def _favoured(outcome: Outcome) -> Iterator[Panel]:
    """How much more often answers come from a place than items stand there; nothing where no answer has a place."""
    estimates = outcome["estimates"]
    names = {name: f"favours_{name}" for name in PLACES if f"favours_{name}" in estimates}
    if not names:
        return
    rows = tuple(
        (
            STANDS[name],
            (Quantity(value=estimates[figure]["value"], interval=estimates[figure]["interval"], is_change=True),),
        )
        for name, figure in names.items()
    )
    yield Sheet(
        caption="Answers that come from an item, beyond the share of the items that stand there",
        header=("item", "beyond its share"),
        rows=rows,
        figures=frozenset(names.values()),
    )
