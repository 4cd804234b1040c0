"""Convert command-line options into a configuration."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from contrapose.tasks.config.chosen_tests import find_settings, list_named_tests, select_default_tests
from contrapose.tasks.config.langtest_dialect import ALIASES
from contrapose.tasks.config.permissions import allow, list_named_by_user
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config, load_prompt_files, set_key, validate
from contrapose.tasks.core import bounds, registry
from contrapose.tasks.core.errors import ConfigError, Problems

SAME = ("model", "reader", "data", "limit", "stop", "skip_bad_rows", "refresh", "ask_again", "expectations")
PLAIN = {name: name for name in (*SAME, "show_toxic", "mlflow", "max_calls", "max_tokens", "max_cost")} | {
    "out": "output"
}
"""Options that set one key, by their names in the parsed arguments."""
FIRST = "pairs"
"""Name of the relation that the command line makes."""


def resolve_suite(
    suite: str | Mapping[str, Any] | None, changes: Mapping[str, Any], *, where: str = "command line"
) -> tuple[RunConfig, list[str]]:
    """Return a suite with changes applied, and warnings; without a suite, every test with its default settings.

    What the user names here is allowed: the addresses in `changes`, and the folder of a suite file.
    """
    allow(list_named_by_user(changes, suite=suite))
    if suite is not None:
        return load_config(suite, changes)
    values: dict[str, Any] = {"tests": select_default_tests().model_dump(exclude_unset=True)}
    for key, value in changes.items():
        values = set_key(values, key.split("."), value)
    problems = Problems()
    with problems.gathered():
        values = load_prompt_files(values, problems)
        config = validate(values, where=where)
    problems.refuse()
    return config, []


def read_overrides(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return dotted keys and values from the options, and `changes` unchanged; `--set` comes last and so wins."""
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
                assigned[key.strip()] = bounds.parse_yaml(value)
            except yaml.YAMLError:
                assigned[key.strip()] = value
    problems.refuse()
    named = {name: getattr(arguments, name, None) for name in ("before", "after", "expect")}
    related = {f"tests.relation.{FIRST}.{name}": value for name, value in named.items() if value is not None}
    return {**changes, **related, **getattr(arguments, "changes", {}), **assigned}


def select_tests(config: RunConfig, tests: Sequence[str] | None, *, where: str = "--test") -> RunConfig:
    """Return the configuration with only the named tests; a test that the suite lacks runs with its defaults."""
    if not tests:
        return config
    chosen = config.tests.model_dump(include={"defaults"})
    problems = Problems()
    for name in (ALIASES.get(test, test) for test in tests):
        with problems.gathered():
            for test in _expand(config, name, where=where):
                settings = find_settings(config.tests, test)
                members = chosen.setdefault(registry.probe(test).category, {})
                members[registry.config_key(test)] = settings.model_dump() if settings else {}
    problems.refuse()
    return validate({**config.model_dump(exclude={"tests"}), "tests": chosen}, where=where)


def _expand(config: RunConfig, name: str, *, where: str) -> list[str]:
    """Return the tests that a name means: `relation` means all of the suite, `x` means `relation.x` if it exists."""
    named = list_named_tests(config.tests)
    if name in registry.NAMED_PROBES:
        if not (own := [test for test in named if registry.base_name(test) == name]):
            raise ConfigError(
                f"{name} without its two texts",
                expected=f"a test under tests.{name}, or the columns of two texts",
                remedy="Add --data FILE --before COLUMN --after COLUMN --expect stays.",
                where=where,
            )
        return own
    return [next((test for test in named if test.partition(".")[2] == name), name)]
