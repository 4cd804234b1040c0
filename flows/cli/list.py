"""`contrapose list`: tests, suites, providers, sources and data."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import print_lines
from contrapose.tasks.config.suite_files import bundled_suites
from contrapose.tasks.core import registry

KINDS = ("tests", "suites", "providers", "sources", "data")


def list_things(what: str | None) -> Iterator[str]:
    """Print one kind of thing, or all; `model_args` only if providers are named, because this loads all of them."""
    from contrapose.tasks.load.bundled import list_bundled_sets

    for kind in (what,) if what else KINDS:
        yield f"{kind}:"
        if kind == "tests":
            for probe in map(registry.probe, (*registry.names("probes"), *registry.NAMED_PROBES)):
                off = "" if probe.by_default else " Off by default."
                yield f"  {probe.name:<18}{probe.category:<13}v{probe.version}  {probe.summary}{off}"
        elif what == "providers":
            for name in registry.names("providers"):
                like, arguments = registry.own_arguments(name)
                yield (
                    f"  {name}: as {like}, and"
                    if like and arguments
                    else f"  {name}: as {like}"
                    if like
                    else f"  {name}:"
                )
                for argument, known in arguments.items():
                    default = "" if known.default in (None, "") else f", {json.dumps(known.default)}"
                    yield f"    {argument:<21}{known.description} ({known.type}{default})"
        else:
            bundled = {"suites": bundled_suites, "data": list_bundled_sets}
            yield from (f"  {name}" for name in (bundled[kind]() if kind in bundled else registry.names(kind)))


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", nargs="?", choices=KINDS)
    command.add_argument("--schema", action="store_true", help="print the JSON Schema of suites, for editors")
    command.add_argument("--logs", action="store_true", help=argparse.SUPPRESS)


def _list(arguments: argparse.Namespace) -> int:
    if arguments.schema:
        from contrapose.flows.cli.init import make_suite_schema

        return print_lines([make_suite_schema()])
    return print_lines(list_things(arguments.what))


VERB = Verb(options=_add_options, act=_list, example="list tests")
