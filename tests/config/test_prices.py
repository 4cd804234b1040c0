"""Prices: the bundled table, what it covers, and what the user says instead."""

from __future__ import annotations

import csv
from datetime import date
from hashlib import sha256
from importlib.resources import files

import pytest

from contrapose.tasks.config.prices import FREE, Price, load_listed_prices
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.budget import find_price

ELSEWHERE = {"base_url": "http://localhost:8000/v1"}


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_every_row_names_its_day_and_its_source() -> None:
    text = files("contrapose.data").joinpath("prices.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len({row["model"] for row in rows}) == len(rows) == len(load_listed_prices())
    for row in rows:
        assert date(2025, 1, 1) <= date.fromisoformat(row["as_of"]) <= date.today()
        assert row["source"].startswith("https://github.com/")
        assert 0 < float(row["input_usd_per_million"]) <= float(row["output_usd_per_million"])


def test_the_table_is_on_the_data_card_with_its_hash() -> None:
    folder = files("contrapose.data")
    assert sha256(folder.joinpath("prices.csv").read_bytes()).hexdigest() in folder.joinpath("README.md").read_text()


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("openai/gpt-4o-mini", Price(input=0.15, output=0.6, as_of=date(2025, 7, 4))),
        ("openai/gpt-4o-2024-05-13", Price(input=5, output=15, as_of=date(2026, 4, 23))),
        *((f"openai/{name}", None) for name in ("gpt-4o-mini-tts", "ft:gpt-4o:me", "gpt-4o-2024", "", "GPT-4o")),
        *((name, FREE) for name in ("embedded", "hf/org/name", "mock")),
        ("elsewhere/gpt-4o", None),
    ],
)
def test_a_listed_model_has_its_price_a_local_one_is_free_and_any_other_unknown(
    model: str, price: Price | None
) -> None:
    assert find_price(model) == price


def test_a_dated_snapshot_costs_what_its_model_costs() -> None:
    assert find_price("openai/gpt-4o-2024-08-06") == find_price("openai/gpt-4o")


def test_the_same_name_at_another_endpoint_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_price("openai/gpt-4o", args=ELSEWHERE) is None
    assert find_price("openai/gpt-4o", args={"base_url": "https://api.openai.com/v1"}) is not None
    monkeypatch.setenv("OPENAI_BASE_URL", ELSEWHERE["base_url"])
    assert find_price("openai/gpt-4o") is None


def test_what_the_user_says_wins() -> None:
    own = Price(input=1, output=2)
    assert find_price("openai/gpt-4o", own) == find_price("openai/llama", own, args=ELSEWHERE) == own


def test_the_cost_is_that_of_tokens_read_and_written() -> None:
    assert Price(input=2, output=8).of(Usage(prompt_tokens=500_000, completion_tokens=250_000)) == 3
