"""Values of `model_args` that several providers accept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument

DAY = 86_400.0
"""Seconds: the longest that anything is waited for."""
PACE: Mapping[str, Argument] = {
    "concurrency": Argument(type="whole number", description="Most prompts at a time.", default=4, role="pace"),
    "timeout": Argument(type="seconds", description="For one request.", default=60, role="pace"),
    "total_timeout": Argument(type="seconds", description="For one prompt with all retries.", default=600, role="pace"),
    "retries": Argument(type="whole number", description="For failures.", default=8, role="pace"),
    "requests_per_minute": Argument(type="number", description="The account's limit.", role="pace"),
    "tokens_per_minute": Argument(type="number", description="The account's limit.", role="pace"),
}
"""What `read_pace` reads."""


def read_pace(spec: ModelSpec, *, concurrency: int, timeout: float) -> dict[str, Any]:
    """Return the fields of `AskingPace` beside the address, by the defaults of a provider."""
    rates = {
        name: None if spec.args.get(name) is None else number(spec, name, 0, low=0.001, high=1e12)
        for name in ("requests_per_minute", "tokens_per_minute")
    }
    return {
        "concurrency": whole_number(spec, "concurrency", concurrency, low=1, high=1000),
        "timeout": number(spec, "timeout", timeout, low=0.01, high=DAY),
        "total_timeout": number(spec, "total_timeout", 600, low=0.01, high=DAY),
        "retries": whole_number(spec, "retries", 8, low=0, high=100),
        **rates,
    }


def whole_number(spec: ModelSpec, name: str, default: int, *, low: int, high: int) -> int:
    """Return a whole number."""
    value = number(spec, name, default, low=low, high=high)
    if value != int(value):
        raise argument_error(name, spec.args[name], expected=f"a whole number from {low} to {high}")
    return int(value)


def number(spec: ModelSpec, name: str, default: float, *, low: float, high: float) -> float:
    """Return a number."""
    value = spec.args.get(name, default)
    try:
        read = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        read = float("nan")
    if not low <= read <= high:
        raise argument_error(name, value, expected=f"a number from {low:g} to {high:g}")
    return read


def argument_error(name: str, value: object, *, expected: str) -> ModelError:
    """Return the error about an argument that cannot be used."""
    place = f"model_args.{name}"
    return ModelError(f"{name} is {value!r}", expected=expected, remedy=f"Correct {place}.", where=place)
