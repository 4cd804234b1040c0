"""Suite files: load a configuration by suite name or YAML path, with `key=value` changes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from contrapose.tasks.config.langtest_dialect import translate
from contrapose.tasks.config.model_spec import find_provider_name
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.wrong_values import find_place_keys, make_value_error
from contrapose.tasks.core import bounds
from contrapose.tasks.core.errors import ConfigError, Problems, suggest_name


def bundled_suites() -> list[str]:
    """Return the names of the suites that the package contains."""
    entries = files("contrapose.data").joinpath("suites").iterdir()
    return sorted(entry.name.removesuffix(".yaml") for entry in entries if entry.name.endswith(".yaml"))


def load_config(
    suite: str | Mapping[str, Any], overrides: Mapping[str, Any] | None = None
) -> tuple[RunConfig, list[str]]:
    """Return a suite with overrides applied, and warnings about LangTest's keys, or raise ConfigError.

    `suite`: a bundled suite's name, the path of a YAML file (Contrapose's or LangTest's), or such a file's content;
    `overrides`: dotted keys and their values, applied after the file.
    """
    changes = overrides or {}
    file: Path | None = None
    if not isinstance(suite, str):
        where, values = "suite", dict(suite)
    elif (path := Path(os.path.expanduser(suite))).suffix in (".yaml", ".yml"):
        where, file, values = suite, Path(suite), {"suite": path.stem, **read_values(suite)}
    elif suite in bundled_suites():
        text = files("contrapose.data").joinpath("suites", f"{suite}.yaml").read_text(encoding="utf-8")
        where, values = f"suite {suite}", _parse(text, suite)
    else:
        raise ConfigError(
            f"unknown suite {suite!r}",
            expected=f"one of {', '.join(bundled_suites())}, or the path of a .yaml file",
            remedy=suggest_name(suite, bundled_suites(), otherwise="Correct --suite."),
        )
    values, warnings = translate(values)
    # A limit that is changed is the suite's no longer.
    if "limit" in changes:
        values = {**values, "limit_from": "given"}
    elif values.get("limit") is not None:
        values = {"limit_from": "bundled" if where == f"suite {suite}" else "suite", **values}
    for key, value in changes.items():
        values = set_key(values, key.split("."), value)
    problems = Problems()
    with problems.gathered():
        values = load_prompt_files(values, problems, beside=file)
        config = validate(values, where=where)
    problems.refuse()
    return config, warnings


def read_values(file: str) -> dict[str, Any]:
    """Return the values in a YAML file, or raise ConfigError if it cannot be read or has no keys and values."""
    try:
        text = bounds.read_bytes(Path(os.path.expanduser(file))).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"cannot read the file ({getattr(error, 'strerror', None) or 'it is not UTF-8'})",
            expected="a YAML file in UTF-8",
            remedy=f"Correct the path, or name a bundled suite: {', '.join(bundled_suites())}.",
            where=file,
        ) from error
    except yaml.YAMLError as error:
        raise _yaml_error(error, file) from error
    return _parse(text, file)


def _parse(text: str, where: str) -> dict[str, Any]:
    """Return the values of a YAML text, or raise ConfigError."""
    try:
        values = bounds.parse_yaml(text)
    except yaml.YAMLError as error:
        raise _yaml_error(error, where) from error
    if not isinstance(values, dict) or not values:
        raise ConfigError(
            "the file is empty" if not values else f"the file holds a {type(values).__name__}",
            expected="a mapping with keys such as model and tests",
            remedy="Write a suite with `contrapose init --out FILE --force`.",
            where=where,
        )
    return values


def _yaml_error(error: yaml.YAMLError, where: str) -> ConfigError:
    """Return an error of the YAML reader as a ConfigError."""
    place, observed, expected = bounds.describe_yaml_problem(error, where, expected="keys and values in YAML")
    return ConfigError(observed, expected=expected, remedy="Correct that line.", where=place)


def load_prompt_files(values: Mapping[str, Any], problems: Problems, *, beside: Path | None = None) -> dict[str, Any]:
    """Return values with the content of the prompt files that tests name; nothing else reads these files.

    A form or an announcement cannot name one: what it named would be sent to a model, whatever it holds. Files are
    looked for next to the file of the suite, `beside`, or in the current folder; `problems` takes errors.
    """

    def with_prompt(settings: Any, where: str) -> Any:
        for name, file in (("prompt", "prompt_file"), ("reworded", "reworded_file"), ("wordings", "wordings_files")):
            if not isinstance(settings, Mapping) or (paths := settings.get(file)) is None:
                continue
            settings = {key: value for key, value in settings.items() if key != file}
            with problems.gathered():
                if settings.get(name) is not None:
                    raise ConfigError(
                        f"{name} and {file} are both there",
                        expected="one of them",
                        remedy="Leave one out.",
                        where=where,
                    )
                named = paths if isinstance(paths, list | tuple) else (paths,)
                texts = [_read_template(path, beside, where=f"{where}.{file}") for path in named]
                settings[name] = texts if name == "wordings" else texts[0]
        return settings

    tests = values.get("tests")
    if not isinstance(tests, Mapping):
        return dict(values)
    filled = dict(tests)
    for category, members in tests.items():
        if isinstance(members, Mapping) and category != "defaults":
            filled[category] = {name: with_prompt(own, f"tests.{category}.{name}") for name, own in members.items()}
    return {**values, "tests": filled}


def _read_template(path: object, beside: Path | None, *, where: str) -> str:
    """Return the content of a template file next to `beside` or in the current folder, or raise ConfigError."""
    named = Path(os.path.expanduser(str(path)))
    place = named if beside is None or not (beside.parent / named).exists() else beside.parent / named
    Permissions.here().refuse_file(str(place), where=where)
    try:
        return bounds.read_bytes(place).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(
            f"{place} cannot be read ({getattr(error, 'strerror', None) or 'it is not UTF-8, or too large'})",
            expected="a template in UTF-8",
            remedy="Correct the path.",
            where=where,
        ) from error


def validate(values: Mapping[str, Any], *, where: str) -> RunConfig:
    """Return values as a RunConfig, or raise a ConfigError that names every wrong key.

    Where some are, the model and the tests that the others come to are looked at too: they would be refused next.
    """
    _refuse_surrogates(values, where)
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        problems = Problems()
        problems.errors.append(make_value_error(error, RunConfig, where=where))
        with problems.gathered():
            _refuse_rest(values, error)
        try:
            problems.refuse()
        except ConfigError as together:
            raise together from error
        raise


def _refuse_surrogates(value: object, where: str) -> None:
    """Raise ConfigError if a text holds half of a surrogate pair, because no file can store it."""
    if isinstance(value, str) and bounds.holds_surrogate(value):
        raise ConfigError(
            f"half of a surrogate pair alone in {value[:40]!a}",
            expected="characters that UTF-8 can hold",
            remedy="Remove it, or write the text again in UTF-8.",
            where=where,
        )
    if isinstance(value, Mapping):
        for key, part in value.items():
            _refuse_surrogates(key, where)
            _refuse_surrogates(part, f"{where}: {key}")
    elif isinstance(value, list | tuple):
        for part in value:
            _refuse_surrogates(part, where)


def _refuse_rest(values: Mapping[str, Any], error: ValidationError) -> None:
    """Raise the errors that would come next after the known ones are fixed, if these can be found."""
    wrong = [find_place_keys(problem) for problem in error.errors(include_url=False)]
    if not all(wrong) or {"model", "model_args", "gen_kwargs"} & {str(path[0]) for path in wrong}:
        return
    rest = dict(values)
    for path in wrong:
        rest = _remove_value(rest, path) or {}
    with suppress(ValidationError):
        config, problems = RunConfig.model_validate(rest), Problems()
        with problems.gathered():
            find_provider_name(config.model)
        if any(config.tests.model_dump(exclude_unset=True, exclude={"defaults"}).values()):
            with problems.gathered():
                plans(config)
        problems.refuse()


def _remove_value(values: Any, path: Sequence[str | int]) -> Any:
    """Return values without the one at a path, or None if they cannot be valid without it."""
    head, *rest = path
    if not isinstance(values, Mapping) or (head not in values and not rest):
        return None
    if head not in values:
        return values
    inner = _remove_value(values[head], rest) if rest else None
    others = {key: value for key, value in values.items() if key != head}
    return others if inner is None else {**others, head: inner}


def set_key(values: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Return a copy of nested mappings with one value changed; data given as a plain source keep that source."""
    head, *rest = path
    inner = values.get(head)
    if head == "data" and isinstance(inner, str):
        inner = {"source": inner}
    return {**values, head: set_key(inner if isinstance(inner, Mapping) else {}, rest, value) if rest else value}
