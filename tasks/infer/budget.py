"""Budget of a run: usage is reserved before each request, and corrected to the real usage afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price, add_costs
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Usage, add_usages
from contrapose.tasks.core.registry import names, provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of what a run may spend; None means no limit."""

    max_calls: int | None = None
    """Requests, the failed ones too."""
    max_tokens: int | None = None
    """Tokens read and written."""
    max_cost: float | None = None
    """US dollars."""


@dataclass(slots=True)
class Budget:
    """RunSpending of one run; it stays within the limits if no request uses more than it reserved."""

    limits: Limits = field(default_factory=Limits)
    """The most that may be spent."""
    price: Price | None = None
    """Price of tokens; None if it is unknown, and then there must be no `max_cost`."""
    spent: Usage = field(default_factory=Usage)
    """RunSpending so far, earlier parts of a resumed run included."""
    beside: Usage = field(default_factory=Usage)
    """RunSpending of the run on another model: it counts against the same limits."""
    beside_price: Price | None = None
    """Price of that model's tokens."""
    reserved: Usage = field(default_factory=Usage)
    """Greatest usage of the requests under way."""
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        refuse_unpriced(self.limits.max_cost, self.price)

    def reserve(self, most: Usage) -> bool:
        """Reserve the greatest usage of a request; if it does not fit, reserve nothing and return False."""
        with self._lock:
            if self._exceeded_limit(self.spent + self.reserved + most) is not None:
                return False
            self.reserved += most
            return True

    def settle(self, most: Usage, used: Usage) -> None:
        """Replace a reservation by the real usage; if a count is below 0, the reserved usage counts."""
        used = replace_invalid_usage(used, most)
        with self._lock:
            self.reserved -= most
            self.spent += used

    def reserve_first(self, most: Sequence[Usage]) -> int:
        """Reserve usage for the first of some requests, as many as fit; return how many."""
        return next((number for number, one in enumerate(most) if not self.reserve(one)), len(most))

    def settle_all(self, most: Sequence[Usage], used: Sequence[Usage]) -> None:
        """Replace reservations by the real usages, in the same order; requests without a usage used nothing."""
        taken = (replace_invalid_usage(one, held) for one, held in zip(used, most, strict=False))
        self.settle(add_usages(most), add_usages(taken))

    def base_usage(self) -> Usage:
        """Return the usage that counts against the limits before any reservation."""
        return self.spent

    def is_idle(self) -> bool:
        """Return whether no request is under way; if so, what does not fit now never will."""
        return self.reserved.calls <= 0

    def explain(self, most: Usage) -> str:
        """Return a message: which limit a further request would exceed, and how much was spent."""
        with self._lock:
            name = self._exceeded_limit(self.base_usage() + self.reserved + most)
        limit = f"{name} = {getattr(self.limits, name)}" if name else "that was set"
        return f"the budget {limit} does not allow another request ({self.describe_spending()} spent)"

    def describe_spending(self) -> str:
        """Return the spending as text."""
        before = self.base_usage()
        spent, cost = before + self.beside, self._cost(before)
        tokens = spent.prompt_tokens + spent.completion_tokens
        return f"{spent.calls:,} calls, {tokens:,} tokens" + (f", ${cost:.4f}" if cost else "")

    def cost(self) -> float | None:
        """Return US dollars spent on both models, or None if a price is unknown."""
        return self._cost(self.spent)

    def _cost(self, own: Usage) -> float | None:
        return add_costs((own, self.price), (self.beside, self.beside_price))

    def _exceeded_limit(self, own: Usage) -> str | None:
        limits, after = self.limits, own + self.beside
        if limits.max_calls is not None and after.calls > limits.max_calls:
            return "max_calls"
        if limits.max_tokens is not None and after.prompt_tokens + after.completion_tokens > limits.max_tokens:
            return "max_tokens"
        cost = self._cost(own)
        over = limits.max_cost is not None and (cost is None or cost > limits.max_cost)
        return "max_cost" if over else None


def replace_invalid_usage(used: Usage, most: Usage) -> Usage:
    """Return the usage of a request; if a count is below 0, return the reserved usage `most`."""
    return most if min(used.calls, used.prompt_tokens, used.completion_tokens) < 0 else used


def refuse_unpriced(max_cost: float | None, price: Price | None, *, what: str = "model", key: str = "price") -> None:
    """Raise ConfigError if the cost is limited and the price of a model is unknown."""
    if max_cost is not None and price is None:
        raise ConfigError(
            f"{max_cost:g}, and what the {what} costs is not known",
            expected=f"a {what} with a known price",
            remedy=f"Set {key} to {{input: …, output: …}}, in US dollars per million tokens, or use max_tokens.",
            where="max_cost",
        )


def find_price(model_id: str, override: Price | None = None, *, args: Mapping[str, Any] | None = None) -> Price | None:
    """Return the price of a model's tokens: the one that you set, or its provider's; None if unknown."""
    spec = ModelSpec(id=model_id, args=args or {})
    if override is not None or spec.provider not in names("providers"):
        return override
    return provider(spec.provider).price(spec)


def find_reader_price(config: RunConfig) -> Price | None:
    """Return the price of the reader model; None without one, or if it is unknown and no cost limit is set."""
    if config.reader is None:
        return None
    price = find_price(config.reader, config.reader_price, args=config.reader_args)
    refuse_unpriced(config.max_cost, price, what="reader", key="reader_price")
    return price


def open_budget(config: RunConfig, *, spent: Usage | None = None) -> Budget:
    """Return the budget that a configuration sets, or raise ConfigError as `refuse_unpriced` does."""
    return Budget(
        limits=Limits(max_calls=config.max_calls, max_tokens=config.max_tokens, max_cost=config.max_cost),
        price=find_price(config.model, config.price, args=config.model_args),
        spent=spent or Usage(),
    )
