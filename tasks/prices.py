"""What tokens cost."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from contrapose.tasks.records import Usage

LISTED_HOST = "api.openai.com"
"""The endpoint whose prices are listed; the same name elsewhere may cost anything."""

SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


class Price(BaseModel):
    """Price of a model's tokens; also the configuration's key `price`."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Price")

    input: FiniteFloat = Field(ge=0, description="US dollars per million tokens read.")
    output: FiniteFloat = Field(ge=0, description="US dollars per million tokens written.")
    as_of: date | None = Field(default=None, description="Day on which the price was looked up.")

    def of(self, usage: Usage) -> float:
        """US dollars that some usage costs."""
        return (usage.prompt_tokens * self.input + usage.completion_tokens * self.output) / 1_000_000


LOCAL = ("embedded", "hf", "mock")
"""Providers whose models run on the user's own machine."""

FREE = Price(input=0, output=0)
"""Of local models."""


def price_of(model_id: str, override: Price | None = None, *, args: Mapping[str, Any] | None = None) -> Price | None:
    """What a model's tokens cost.

    Args:
        model_id: such as `openai/gpt-4o-mini` or `hf/<org>/<name>`.
        override: what the user says that it costs; it wins.
        args: the provider's arguments; of them `base_url` counts, which the environment can give too.

    Returns:
        None where it is not known: a model that is not listed, or an endpoint that is not OpenAI's own.
    """
    provider, _, name = model_id.partition("/")
    if override is not None:
        return override
    if provider in LOCAL:
        return FREE
    if provider != "openai" or not _is_openai(args or {}):
        return None
    listed = listed_prices()
    return listed.get(name) or listed.get(SNAPSHOT.sub("", name))


def _is_openai(args: Mapping[str, Any]) -> bool:
    url = args.get("base_url") or os.environ.get("OPENAI_BASE_URL")
    return not url or urlsplit(str(url)).hostname == LISTED_HOST


@cache
def listed_prices() -> Mapping[str, Price]:
    """The bundled table, by name of the model."""
    text = files("contrapose.data").joinpath("prices.csv").read_text(encoding="utf-8")
    return {
        row["model"]: Price(
            input=float(row["input_usd_per_million"]),
            output=float(row["output_usd_per_million"]),
            as_of=date.fromisoformat(row["as_of"]),
        )
        for row in csv.DictReader(text.splitlines())
    }
