"""Errors about values that a pydantic model refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from contrapose.tasks.core.errors import ConfigError, join_errors, suggest_name


def make_value_error(error: ValidationError, model: type[BaseModel], *, where: str) -> ConfigError:
    """Return one error with every problem that a pydantic model found in values."""
    return join_errors([_to_error(problem, model, where) for problem in error.errors(include_url=False)])


def find_place_keys(problem: Mapping[str, Any]) -> list[str | int]:
    """Return the keys that lead to a wrong value, without pydantic's names of types."""
    path = [part for part in problem["loc"] if not str(part).startswith(("function-", "constrained-", "literal["))]
    return path[:-1] if path and path[-1] in ("bool", "str") else path


def _to_error(problem: Mapping[str, Any], model: type[BaseModel], where: str) -> ConfigError:
    """Return a problem as an error; our own checks may write `observed; expected …` and a remedy after a full stop."""
    path = [str(part) for part in find_place_keys(problem)]
    place = f"{where}: {'.'.join(path)}" if path else where
    words = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    observed, _, expected = words.rpartition("; expected ")
    expected, _, own = expected.partition(". ") if observed else (expected, "", "")
    observed, remedy = observed or f"{problem['input']!r}"[:120], f"{own}." if own else "Correct the value."
    if problem["type"] == "extra_forbidden":
        for part in path[:-1]:
            if part not in model.model_fields:
                continue
            hint = model.model_fields[part].annotation
            models = [
                kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and issubclass(kind, BaseModel)
            ]
            if not models:
                break
            model = models[0]
        known = list(model.model_fields)
        observed, expected = f"unknown key {path[-1]!r}", f"one of {', '.join(known)}"
        remedy = suggest_name(path[-1], known, otherwise="Remove it.")
    elif problem["type"] == "missing" and path == ["data", "source"]:
        observed, expected = "settings of data without a source", "a file, an address or a bundled name"
        remedy = "Name it with --data, or add source: to these settings."
    elif problem["type"] == "missing":
        observed, expected = "nothing", "a value"
    return ConfigError(observed, expected=expected, remedy=remedy, where=place)
