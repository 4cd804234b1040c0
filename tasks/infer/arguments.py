"""Values of `model_args` that several providers have."""

from __future__ import annotations

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError

DAY = 86_400.0
"""Seconds: the longest that anything is waited for."""


def rate(spec: ModelSpec, name: str) -> float | None:
    """An amount a minute; None where none is given."""
    return None if spec.args.get(name) is None else number(spec, name, 0, low=0.001, high=1e12)


def seconds_of(spec: ModelSpec, name: str, default: float) -> float:
    """A time in seconds, a day at most."""
    return number(spec, name, default, low=0.01, high=DAY)


def whole(spec: ModelSpec, name: str, default: int, *, low: int, high: int) -> int:
    """A whole number.

    Raises:
        ModelError: it is none, or out of bounds.
    """
    value = number(spec, name, default, low=low, high=high)
    if value != int(value):
        raise wrong(name, spec.args[name], expected=f"a whole number from {low} to {high}")
    return int(value)


def number(spec: ModelSpec, name: str, default: float, *, low: float, high: float) -> float:
    """A number.

    Raises:
        ModelError: it is none, or out of bounds.
    """
    value = spec.args.get(name, default)
    try:
        read = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        read = float("nan")
    if not low <= read <= high:
        raise wrong(name, value, expected=f"a number from {low:g} to {high:g}")
    return read


def wrong(name: str, value: object, *, expected: str) -> ModelError:
    """What to say of an argument that cannot be used."""
    place = f"model_args.{name}"
    return ModelError(f"{name} is {value!r}", expected=expected, remedy=f"Correct {place}.", where=place)
