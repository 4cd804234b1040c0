"""A value that its model refuses, told as an error of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from contrapose.tasks.core.errors import ConfigError, meant, together


def refused_value(error: ValidationError, model: type[BaseModel], *, where: str) -> ConfigError:
    """Every problem of values from some place that a model refused, in words."""
    return together([_in_words(problem, model, where) for problem in error.errors(include_url=False)])


def place_of(problem: Mapping[str, Any]) -> list[str | int]:
    """The keys that lead to what is wrong."""
    return [part for part in problem["loc"] if not str(part).startswith(("function-", "constrained-"))]


def _in_words(problem: Mapping[str, Any], model: type[BaseModel], where: str) -> ConfigError:
    path = [str(part) for part in place_of(problem)]
    place = f"{where}: {'.'.join(path)}" if path else where
    if problem["type"] == "extra_forbidden":
        known = _fields(model, path[:-1])
        return ConfigError(
            f"unknown key {path[-1]!r}",
            expected=f"one of {', '.join(known)}",
            remedy=meant(path[-1], known, otherwise="Correct or remove it."),
            where=place,
        )
    if problem["type"] == "missing" and path == ["data", "source"]:
        return ConfigError(
            "settings of data without a source",
            expected="a file, an address or a bundled name",
            remedy="Name it with --data, or as source beside them.",
            where=place,
        )
    observed, expected = _found_and_expected(problem)
    return ConfigError(observed, expected=expected, remedy="Correct the value.", where=place)


def _found_and_expected(problem: Mapping[str, Any]) -> tuple[str, str]:
    """What was met and what would be right; our own checks may say both, with `; expected ` between them."""
    if problem["type"] == "missing":
        return "nothing", "a value"
    words = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    observed, _, expected = words.rpartition("; expected ")
    return observed or f"{problem['input']!r}"[:120], expected


def _fields(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    """Names of the fields at a place inside a model."""
    for part in path:
        hint = model.model_fields[part].annotation if part in model.model_fields else None
        models = [kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not models:
            break
        model = models[0]
    return list(model.model_fields)
