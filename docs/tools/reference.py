"""The pages of the reference, made from the parser, the settings' models, the providers and the docstrings."""

from __future__ import annotations

import argparse
import inspect
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import contrapose
from contrapose.flows.cli import VERBS, parser
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core import registry


def pages() -> dict[str, str]:
    """Every page by its place below `docs`."""
    return {
        "reference/commands.md": commands(),
        "reference/settings.md": settings(),
        "reference/providers.md": providers(),
        "reference/python.md": python(),
    }


def commands() -> str:
    """The help of every command and of its actions, as it is printed."""
    completion = "`contrapose --print-completion bash >> ~/.bash_completion` completes them in new shells."
    parts = ["# Commands", f"What `contrapose COMMAND --help` prints. {completion}"]
    with mock.patch.dict(os.environ, {"COLUMNS": "100"}):
        for name, summary in VERBS.items():
            chosen = _actions(parser([name]))[name]
            parts += [
                f"## {name}",
                f"`contrapose {name}`: {summary}.",
                f"```text\n{chosen.format_help().rstrip()}\n```",
            ]
            for action, own in _actions(chosen).items():
                parts += [f"### {name} {action}", f"```text\n{own.format_help().rstrip()}\n```"]
    return _page(parts)


def _actions(command: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands below a command, by name."""
    groups = (action for action in command._actions if isinstance(action, argparse._SubParsersAction))
    return {name: own for group in groups for name, own in group.choices.items()}


def settings() -> str:
    """Every key of a suite, by the schema of its model."""
    schema = RunConfig.model_json_schema()
    known = schema["$defs"]
    tests = {key: value for key, value in known["Tests"]["properties"].items() if key != "defaults"}
    parts = [
        "# Settings",
        "Keys of a suite. On the command line they are set with `--set KEY=VALUE`, and inner keys with dots between "
        "them, such as `--set gen_kwargs.temperature=0.7`.",
        *_table(schema["properties"], known),
        "## tests.defaults",
        "What a test uses where it says nothing itself.",
        *_table(known["Defaults"]["properties"], known),
    ]
    inner = {"Generation": "gen_kwargs", "DataSettings": "data", "Price": "price", "RunnerArgs": "runner_args"}
    for name, key in inner.items():
        if name in known:
            parts += [f"## {key}", known[name].get("description", ""), *_table(known[name]["properties"], known)]
    for category in tests:
        parts += list(_tests_of(category))
    return _page(parts)


def _tests_of(category: str) -> Iterator[str]:
    for probe in map(registry.probe, registry.names("probes")):
        if probe.category == category:
            schema = probe.settings_type.model_json_schema()
            yield f"## tests.{category}.{probe.name}"
            yield probe.summary + ("" if probe.by_default else " Off by default.")
            yield from _table(schema["properties"], schema.get("$defs", {}))


def _table(properties: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    rows = [
        f"| `{name}` | {_cell(_type(value, known))} | {_default(value)} | {_cell(value.get('description', ''))} |"
        for name, value in properties.items()
        if name != "tests"
    ]
    return ["\n".join(["| key | type | default | |", "|---|---|---|---|", *rows])]


def _type(value: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """What a value may be, in words."""
    if "enum" in value:
        return " or ".join(f"`{choice}`" for choice in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if parts := value.get("anyOf") or value.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(part, known) for part in parts if part.get("type") != "null"))
    if "$ref" in value:
        inner = known.get(value["$ref"].rpartition("/")[2], {})
        return "keys and values" if inner.get("type") == "object" else _type(inner, known)
    kind = value.get("type", "any")
    if kind == "array":
        return "list"
    words = {"object": "keys and values", "string": "text", "integer": "whole number", "boolean": "true or false"}
    return words.get(kind, kind) + _bounds(value)


def _bounds(value: Mapping[str, Any]) -> str:
    low = value.get("minimum", value.get("exclusiveMinimum"))
    high = value.get("maximum", value.get("exclusiveMaximum"))
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" from {low}" if low is not None else f" up to {high}" if high is not None else ""


def _default(value: Mapping[str, Any]) -> str:
    default = value.get("default")
    if isinstance(default, Mapping) or default in (None, "", []):
        return ""
    return f"`{_cell(json.dumps(default, ensure_ascii=False))}`"


def providers() -> str:
    """The arguments of every provider."""
    parts = [
        "# Providers and their arguments",
        "What `model_args` takes, by the first part of `--model`. `contrapose list providers` prints the same.",
    ]
    for name in registry.names("providers"):
        known = registry.provider(name).arguments
        parts.append(f"## {name}")
        rows = [
            f"| `{key}` | {_cell(argument.type)} | {_given(argument.default)} | {_cell(argument.description)} |"
            for key, argument in known.items()
        ]
        parts.append("\n".join(["| argument | type | default | |", "|---|---|---|---|", *rows]) if rows else "None.")
    return _page(parts)


def _given(default: object) -> str:
    return "" if default in (None, "") else f"`{_cell(json.dumps(default, ensure_ascii=False))}`"


def python() -> str:
    """What `import contrapose` offers, by its docstrings."""
    parts = ["# Python", "What `import contrapose` offers. [Work from Python](../how-to/python.md) shows it at work."]
    for name in ("evaluate", "compare", "preview", "EvaluatedRun", "ComparedRuns", "ContraposeError"):
        thing = getattr(contrapose, name)
        parts += [f"## {name}", _code(_signature(name, thing)), _code(inspect.getdoc(thing) or "", "text")]
        if inspect.isclass(thing):
            parts += list(_members(thing))
    return _page(parts)


def _signature(name: str, thing: Any) -> str:
    signature = inspect.signature(thing)
    arguments = ",\n    ".join(_argument(value) for value in signature.parameters.values())
    returned = "" if signature.return_annotation is inspect.Signature.empty else f" -> {signature.return_annotation}"
    return f"{name}(\n    {arguments},\n){returned}" if arguments else f"{name}(){returned}"


def _argument(parameter: inspect.Parameter) -> str:
    return str(parameter)


def _members(thing: type) -> Iterator[str]:
    inherited = vars(thing.__mro__[1]) if thing.__module__.endswith(".outcomes") else {}
    for name, member in {**inherited, **vars(thing)}.items():
        if not name.startswith("_") and (isinstance(member, property) or inspect.isfunction(member)):
            text = inspect.getdoc(member) or ""
            yield f"`{thing.__name__}.{name}{'' if isinstance(member, property) else '()'}`: {text}"


def _code(text: str, language: str = "python") -> str:
    return f"```{language}\n{text}\n```"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;") if "`" not in text else _with_code(text)


def _with_code(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _page(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
