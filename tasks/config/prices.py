"""Prices of tokens, and the cost of a model's usage."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files

from pydantic import Field, FiniteFloat

from contrapose.tasks.core.records import Usage
from contrapose.tasks.core.user_settings import UserSettings

SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


class Price(UserSettings):
    """The price of a model's tokens; also the configuration's key `price`."""

    input: FiniteFloat = Field(ge=0, description="US dollars per million tokens read.")
    output: FiniteFloat = Field(ge=0, description="US dollars per million tokens written.")
    as_of: date | None = Field(default=None, description="Day on which the price was looked up.")

    def of(self, usage: Usage) -> float:
        """Return the cost of a usage in US dollars."""
        return (usage.prompt_tokens * self.input + usage.completion_tokens * self.output) / 1_000_000


def add_costs(own: tuple[Usage, Price | None], beside: tuple[Usage, Price | None]) -> float | None:
    """Return the cost of two models in US dollars, or None if a used model has no known price."""
    (usage, price), (other, others) = own, beside
    if price is None or (others is None and other != Usage()):
        return None
    return price.of(usage) + (others.of(other) if others else 0.0)


FREE = Price(input=0, output=0)


def find_listed_price(name: str) -> Price | None:
    """Return the price of an OpenAI model at OpenAI's own endpoint, or None if it is not listed."""
    listed = load_listed_prices()
    return listed.get(name) or listed.get(SNAPSHOT.sub("", name))


@cache
def load_listed_prices() -> Mapping[str, Price]:
    """Return the bundled prices, by name of the model."""
    text = files("contrapose.data").joinpath("prices.csv").read_text(encoding="utf-8")
    names = {"input": "input_usd_per_million", "output": "output_usd_per_million", "as_of": "as_of"}
    return {
        row["model"]: Price.model_validate({name: row[column] for name, column in names.items()})
        for row in csv.DictReader(text.splitlines())
    }
