"""The calls of a run that took most, from the answers that were kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, case, literal, select, union_all

from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.records import Call, Calls, Usage
from contrapose.tasks.store.patience import StorePart, patient
from contrapose.tasks.store.schema import ANSWERS

MOST = 5
"""Calls of each kind."""

TOKENS = Price(input=1_000_000, output=1_000_000)
"""What makes every token count the same."""


class CallTable(StorePart):
    """Calls in a database."""

    @patient
    def most(self, run: str, *, prices: Mapping[str, Price | None]) -> Calls:
        """The slowest and the dearest calls among those that a run made itself.

        Args:
            run: its id.
            prices: of each model's tokens, by its id; where one is unknown, or all are free, the dearest calls took
                most tokens.
        """
        wanted = union_all(_greatest(run, "slowest", ANSWERS.c.seconds), _greatest(run, "dearest", _weight(prices)))
        columns = (
            ANSWERS.c.model,
            ANSWERS.c.question,
            ANSWERS.c.seconds,
            ANSWERS.c.prompt_tokens,
            ANSWERS.c.completion_tokens,
        )
        greatest = wanted.subquery()
        whole = select(greatest.c.kind, greatest.c.weight, *columns).join(ANSWERS, ANSWERS.c.key == greatest.c.key)
        with self.reading.begin() as connection:
            rows = connection.execute(whole.order_by(greatest.c.weight.desc(), ANSWERS.c.key)).all()
        slowest, dearest = (
            tuple(_call(row, prices.get(row.model)) for row in rows if row.kind == kind)
            for kind in ("slowest", "dearest")
        )
        return Calls(slowest=slowest, dearest=dearest)


def _greatest(run: str, kind: str, weight: ColumnElement[Any]) -> Any:
    """Keys only: the database then sorts no prompts."""
    columns = (literal(kind).label("kind"), ANSWERS.c.key, weight.label("weight"))
    ordered = select(*columns).where(ANSWERS.c.run == run).order_by(weight.desc(), ANSWERS.c.key).limit(MOST)
    # SQLite takes an order and a limit inside a union only where they stand in a query of their own.
    return select(ordered.subquery())


def _weight(prices: Mapping[str, Price | None]) -> ColumnElement[Any]:
    known = {model: price for model, price in prices.items() if price is not None}
    if len(known) < len(prices) or not any(price.input or price.output for price in known.values()):
        return _cost(TOKENS)
    return case(*((ANSWERS.c.model == model, _cost(price)) for model, price in known.items()), else_=0)


def _cost(price: Price) -> ColumnElement[Any]:
    return ANSWERS.c.prompt_tokens * price.input + ANSWERS.c.completion_tokens * price.output


def _call(row: Any, price: Price | None) -> Call:
    usage = Usage(calls=1, prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens)
    return Call(
        prompt=str(json.loads(row.question)["prompt"]),
        seconds=row.seconds,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost=None if price is None else price.of(usage),
    )
