"""Command line options into configuration."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from contrapose.tasks.config.chosen_tests import all_tests
from contrapose.tasks.config.langtest_dialect import ALIASES
from contrapose.tasks.config.permissions import allow, named_by_user
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config, set_key, validate, with_prompts
from contrapose.tasks.core import bounds, registry
from contrapose.tasks.core.errors import ConfigError, Problems

SAME = ("model", "reader", "data", "limit", "stop", "skip_bad_rows", "refresh", "ask_again", "expectations")
PLAIN = {name: name for name in (*SAME, "show_toxic", "mlflow", "max_calls", "max_tokens", "max_cost")} | {
    "out": "output"
}
"""Options that set one key, by their names in the parsed arguments."""


def resolve_suite(
    suite: str | Mapping[str, Any] | None, changes: Mapping[str, Any], *, where: str = "command line"
) -> tuple[RunConfig, list[str]]:
    """Return a suite with changes applied, and warnings; without a suite, every test with its default settings.

    What the user names here is allowed: the addresses in `changes`, and the folder of a suite file.
    """
    allow(named_by_user(changes, suite=suite))
    if suite is not None:
        return load_config(suite, changes)
    values: dict[str, Any] = {"tests": all_tests().model_dump(exclude_unset=True)}
    for key, value in changes.items():
        values = set_key(values, key.split("."), value)
    problems = Problems()
    with problems.gathered():
        values = with_prompts(values, problems)
        config = validate(values, where=where)
    problems.refuse()
    return config, []


def overrides(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return dotted keys and values, those in `changes` as they are; `--set` comes last and so wins."""
    chosen = {key: getattr(arguments, name, None) for name, key in PLAIN.items()}
    changes = {key: value for key, value in chosen.items() if value is not None and value is not False}
    problems, assigned = Problems(), dict[str, Any]()
    for text in arguments.set:
        key, equals, value = text.partition("=")
        with problems.gathered():
            if not equals or not key.strip():
                raise ConfigError(
                    f"--set {text!r}",
                    expected="KEY=VALUE",
                    remedy="Write, for example, --set gen_kwargs.max_new_tokens=64.",
                )
            try:
                assigned[key.strip()] = bounds.parse(value)
            except yaml.YAMLError:
                assigned[key.strip()] = value
    problems.refuse()
    return {**changes, **getattr(arguments, "changes", {}), **assigned}


def select_tests(config: RunConfig, tests: Sequence[str] | None, *, where: str = "--test") -> RunConfig:
    """Return the configuration with only the named tests; a test the suite lacks runs with its defaults."""
    if not tests:
        return config
    chosen = config.tests.model_dump(include={"defaults"})
    problems = Problems()
    for name in (ALIASES.get(test, test) for test in tests):
        with problems.gathered():
            category = registry.probe(name).category
            settings = getattr(getattr(config.tests, category), name)
            chosen.setdefault(category, {})[name] = settings.model_dump() if settings else {}
    problems.refuse()
    return validate({**config.model_dump(exclude={"tests"}), "tests": chosen}, where=where)
