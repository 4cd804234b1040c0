"""Reading a configuration: a suite's name or a YAML file, changed by `key=value`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from contrapose.tasks.config import RunConfig
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.langtest import translate


def bundled_suites() -> list[str]:
    """Names of the suites that ship with the package."""
    found = files("contrapose.data").joinpath("suites").iterdir()
    return sorted(entry.name.removesuffix(".yaml") for entry in found if entry.name.endswith(".yaml"))


def load_config(suite: str, overrides: Mapping[str, Any] | None = None) -> tuple[RunConfig, list[str]]:
    """A suite with overrides applied.

    Args:
        suite: name of a bundled suite, or path of a YAML file of ours or of LangTest's.
        overrides: dotted keys and their values, applied after the file.

    Returns:
        The configuration, and warnings about keys that were understood but are not ours.

    Raises:
        ConfigError: the file cannot be read, or a key or value in it is wrong.
    """
    where, values = _read(suite)
    values, warnings = translate(values)
    for key, value in (overrides or {}).items():
        values = put(values, key.split("."), value)
    return validate(values, where=where), warnings


def validate(values: Mapping[str, Any], *, where: str) -> RunConfig:
    """Values as a RunConfig, or a ConfigError that names the key."""
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise _told(error, where) from error


def put(values: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """A copy of nested mappings with one value changed; data that are named by their source alone keep it."""
    head, *rest = path
    inner = values.get(head)
    if head == "data" and isinstance(inner, str):
        inner = {"source": inner}
    return {**values, head: put(inner if isinstance(inner, Mapping) else {}, rest, value) if rest else value}


def _read(suite: str) -> tuple[str, dict[str, Any]]:
    path = Path(os.path.expanduser(suite))
    if path.suffix not in (".yaml", ".yml"):
        return f"suite {suite}", _parse(_bundled(suite), suite)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"cannot read the file ({getattr(error, 'strerror', None) or 'it is not UTF-8'})",
            expected="a YAML file in UTF-8",
            remedy=f"Correct the path, or name a bundled suite: {', '.join(bundled_suites())}.",
            where=suite,
        ) from error
    return suite, {"suite": path.stem, **_parse(text, suite)}


def _bundled(suite: str) -> str:
    if suite not in bundled_suites():
        raise ConfigError(
            f"unknown suite {suite!r}",
            expected=f"one of {', '.join(bundled_suites())}, or the path of a .yaml file",
            remedy="Correct --suite.",
        )
    return files("contrapose.data").joinpath("suites", f"{suite}.yaml").read_text(encoding="utf-8")


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{where}, line {mark.line + 1}, column {mark.column + 1}" if mark else where
        raise ConfigError(
            f"not YAML ({getattr(error, 'problem', None) or 'unreadable'})",
            expected="keys and values in YAML",
            remedy="Correct that line.",
            where=place,
        ) from error
    if not isinstance(values, dict) or not values:
        raise ConfigError(
            "the file is empty" if not values else f"the file holds a {type(values).__name__}",
            expected="a mapping with keys such as model and tests",
            remedy="See data/suites/quickstart.yaml for an example.",
            where=where,
        )
    return values


def _told(error: ValidationError, where: str) -> ConfigError:
    """The first problem in words; how many more there are."""
    problems = error.errors(include_url=False)
    first = problems[0]
    path = [str(part) for part in first["loc"] if not str(part).startswith(("function-", "constrained-"))]
    place = f"{where}: {'.'.join(path)}" if path else where
    more = f" ({len(problems) - 1} more such problems follow.)" if len(problems) > 1 else ""
    if first["type"] == "extra_forbidden":
        return _unknown_key(path, place, more)
    found, expected = _found_and_expected(first)
    return ConfigError(
        found,
        expected=expected,
        remedy=f"Correct the value.{more}",
        where=place,
    )


def _found_and_expected(problem: Mapping[str, Any]) -> tuple[str, str]:
    """What was met and what would be right; our own checks may say both, with `; expected ` between them."""
    if problem["type"] == "missing":
        return "nothing", "a value"
    told = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    found, _, expected = told.rpartition("; expected ")
    return found or f"{problem['input']!r}"[:120], expected


def _unknown_key(path: Sequence[str], place: str, more: str) -> ConfigError:
    known = _fields(path[:-1])
    close = difflib.get_close_matches(path[-1], known, n=1)
    return ConfigError(
        f"unknown key {path[-1]!r}",
        expected=f"one of {', '.join(known)}",
        remedy=(f"Did you mean {close[0]!r}?" if close else "Correct or remove it.") + more,
        where=place,
    )


def _fields(path: Sequence[str]) -> list[str]:
    """Names of the fields at a place inside RunConfig."""
    model: type[BaseModel] = RunConfig
    for part in path:
        hint = model.model_fields[part].annotation if part in model.model_fields else None
        found = [each for each in (hint, *get_args(hint)) if isinstance(each, type) and issubclass(each, BaseModel)]
        if not found:
            break
        model = found[0]
    return list(model.model_fields)
