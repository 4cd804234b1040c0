"""`python docs/tools/reference.py`: write the pages of the reference from parser, settings and docstrings."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import contrapose
from contrapose.flows.cli import VERBS, make_parser
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core import registry

DOCS = Path(__file__).parents[1]
Rows = Sequence[tuple[str, ...]]


def pages() -> dict[str, str]:
    """Return every page by its place below `docs`."""
    return {
        "reference/commands.md": commands(),
        "reference/settings.md": settings(),
        "reference/providers.md": providers(),
        "reference/python.md": python(),
    }


def commands() -> str:
    """Return every command, its arguments and its options."""
    parts = [
        "# Commands",
        "This page lists every command and its options. `contrapose COMMAND --help` prints the same.",
        "`contrapose --print-completion bash >> ~/.bash_completion` completes commands and options in new shells.",
    ]
    for name, summary in VERBS.items():
        chosen = _subcommands(make_parser([name]))[name][0]
        parts += [f"## {name}", _sentence(summary), *_options(chosen)]
        for action, (own, help_) in _subcommands(chosen).items():
            parts += [f"### {name} {action}", _sentence(help_), *_options(own)]
        parts += map(_sentence, _epilog(chosen))
    return _page(parts)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _subcommands(command: argparse.ArgumentParser) -> dict[str, tuple[argparse.ArgumentParser, str]]:
    """Return the commands below a command, by name, each with its help."""
    groups = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    texts = {str(choice.dest): choice.help or "" for group in groups for choice in group._choices_actions}
    return {name: (own, texts[name]) for group in groups for name, own in group.choices.items()}


def _options(command: argparse.ArgumentParser) -> Iterator[str]:
    """Yield a table of a command's arguments, then one for each group that has a title of its own."""
    formatter = command._get_formatter()
    groups = dict[str, list[tuple[str, str]]]()
    for group in command._action_groups:
        title = "" if group.title in ("options", "positional arguments") else str(group.title)
        for action in group._group_actions:
            if action.dest == "help" or isinstance(action, argparse._SubParsersAction):
                continue
            if action.help != argparse.SUPPRESS:
                text = formatter._expand_help(action) if action.help else ""
                groups.setdefault(title, []).append((f"`{_invocation(action)}`", text))
    for title, rows in groups.items():
        if title:
            yield f"{title.capitalize()}:"
        yield from _rows(("option", "what it does"), rows)


def _invocation(action: argparse.Action) -> str:
    """Return how an argument is typed; the same under every version of Python."""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else None
    # MkDocs shows the backslash before a bar in a cell.
    value = str(action.metavar or choices or action.dest.upper()).replace("|", " or ")
    if not action.option_strings:
        return value
    return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")


def _epilog(command: argparse.ArgumentParser) -> list[str]:
    """Return the example and the meaning of the exit codes."""
    lines = (command.epilog or "").split("; exit codes: ")
    example = lines[0].removeprefix("example: ")
    return [f"example: `{example}`", *(f"exit codes: {line}" for line in lines[1:])]


def settings() -> str:
    """Return every key of a suite, by the schema of its model."""
    schema = RunConfig.model_json_schema()
    known = schema["$defs"]
    parts = [
        "# Settings",
        "This page lists every key of a suite. On the command line, set a key with `--set KEY=VALUE`. Write dots "
        "before inner keys: `--set gen_kwargs.temperature=0.7`.",
        *_keys(schema["properties"], known),
    ]
    inner = {"Generation": "gen_kwargs", "DataSettings": "data", "Price": "price", "RunnerArgs": "runner_args"}
    for name, key in inner.items():
        parts += [f"## {key}", known[name].get("description", ""), *_keys(known[name]["properties"], known)]
    parts += ["## tests.defaults", "A test uses these where it has no setting of its own."]
    parts += _keys(known["Defaults"]["properties"], known)
    probes = [registry.probe(name) for name in registry.PROBES]
    tables = {probe.name: probe.settings_type.model_json_schema() for probe in probes}
    first, *others = (_cells(table["properties"], table.get("$defs", {})) for table in tables.values())
    shared = [row for row in first if all(row in rows for rows in others)]
    parts += ["## tests: keys of every test", *_rows(HEAD, shared)]
    for category in known["Tests"]["properties"]:
        for probe in probes:
            if probe.category == category:
                rows = _cells(tables[probe.name]["properties"], tables[probe.name].get("$defs", {}))
                parts += [f"## tests.{category}.{probe.name}", probe.summary]
                parts += [] if probe.by_default else ["Off by default."]
                parts += _rows(HEAD, [row for row in rows if row not in shared])
    return _page(parts)


HEAD = ("key", "type", "default", "meaning")


def _keys(properties: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    return _rows(HEAD, _cells(properties, known))


def _cells(properties: Mapping[str, Any], known: Mapping[str, Any]) -> Rows:
    return [
        (f"`{name}`", _type(value, known), _default(value.get("default")), value.get("description", ""))
        for name, value in properties.items()
        if name != "tests"
    ]


def _type(value: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """Return in words what a value may be."""
    if "enum" in value:
        return " or ".join(f"`{choice}`" for choice in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if parts := value.get("anyOf") or value.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(part, known) for part in parts if part.get("type") != "null"))
    if "$ref" in value:
        inner = known.get(value["$ref"].rpartition("/")[2], {})
        return "keys and values" if inner.get("type") == "object" else _type(inner, known)
    kind: str = value.get("type", "any")
    if kind == "array":
        return "list"
    words: dict[str, str] = {
        "object": "keys and values",
        "string": "text",
        "integer": "integer",
        "boolean": "true or false",
    }
    return words.get(kind, kind) + _bounds(value)


def _bounds(value: Mapping[str, Any]) -> str:
    low = value.get("minimum", value.get("exclusiveMinimum"))
    high = value.get("maximum", value.get("exclusiveMaximum"))
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" from {low}" if low is not None else f" up to {high}" if high is not None else ""


def _default(default: object) -> str:
    if isinstance(default, Mapping) or default in (None, "", []):
        return ""
    return f"`{json.dumps(default, ensure_ascii=False)}`"


def providers() -> str:
    """Return the arguments of every provider."""
    parts = [
        "# Providers and their arguments",
        "This page lists the keys of `model_args` for each provider. The provider is the first part of `--model`: "
        "`openai` in `openai/gpt-4.1-mini`. `contrapose list providers` prints the same.",
    ]
    for name in registry.PROVIDERS:
        like, arguments = registry.own_arguments(name)
        rows = [
            (f"`{key}`", argument.type, _default(argument.default), argument.description)
            for key, argument in arguments.items()
        ]
        parts += [f"## {name}"] + (
            [f"As `{like}`, {'with these differences:' if rows else 'without a difference.'}"] if like else []
        )
        parts += _rows(("argument", *HEAD[1:]), rows) if rows else [] if like else ["None."]
    return _page(parts)


def python() -> str:
    """Return what `import contrapose` offers, by its docstrings."""
    parts = [
        "# Python",
        "This page lists what `import contrapose` offers. [Work from Python](../how-to/python.md) has examples.",
    ]
    offered = ("evaluate", "compare", "preview", "shrink", "EvaluatedRun", "ComparedRuns", "ShortestPrompt")
    for name in (*offered, "ContraposeError"):
        thing = getattr(contrapose, name)
        parts += [f"## {name}"] + ([] if inspect.isclass(thing) else [_code(_signature(name, thing), "python")])
        parts += [_code(inspect.getdoc(thing) or "", "text"), *(_members(thing) if inspect.isclass(thing) else ())]
    return _page(parts)


def _signature(name: str, thing: Any) -> str:
    """Return a function's first lines, with annotations as they are written."""
    signature = inspect.signature(thing)
    bare = [value.replace(annotation=inspect.Parameter.empty) for value in signature.parameters.values()]
    lines = ["def " + name + "("]
    for value, own in zip(signature.parameters.values(), bare, strict=True):
        default = json.dumps(value.default) if isinstance(value.default, str) else str(value.default)
        start = str(own).partition("=")[0]
        lines.append(f"    {start}: {value.annotation}{'' if value.default is value.empty else f' = {default}'},")
    return "\n".join([*lines, f") -> {signature.return_annotation}: ..."])


def _members(thing: type) -> Iterator[str]:
    inherited = vars(thing.__mro__[1]) if thing.__module__.endswith(".outcomes") else {}
    members = {name: member for name, member in {**inherited, **vars(thing)}.items() if not name.startswith("_")}
    rows = [
        (f"`{thing.__name__}.{name}{'' if isinstance(member, property) else '()'}`", inspect.getdoc(member) or "")
        for name, member in members.items()
        if isinstance(member, property) or inspect.isfunction(member)
    ]
    return _rows(("member", "meaning"), rows)


def _code(text: str, language: str) -> str:
    return f"```{language}\n{text}\n```"


def _rows(head: tuple[str, ...], rows: Rows) -> Iterator[str]:
    """Yield one table."""
    lines = [head, tuple("---" for _ in head), *(tuple(map(_cell, row)) for row in rows)]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Return text on one line, with what would end a cell or begin a tag escaped."""
    parts = " ".join(text.split()).replace("|", "\\|").split("`")
    return "`".join(part if place % 2 else part.replace("<", "&lt;") for place, part in enumerate(parts))


def _page(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def main() -> None:
    """Write the pages."""
    for place, text in pages().items():
        (DOCS / place).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
