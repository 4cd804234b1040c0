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


def listing(what: str | None) -> Iterator[str]:
    """Lines about one kind of thing, or about all."""
    for kind in (what,) if what else KINDS:
        yield f"{kind}:"
        # Only whoever asks for them waits until all providers are loaded.
        yield from (f"  {line}" for line in (arguments() if what == "providers" else _lines(kind)))


def _lines(kind: str) -> Iterator[str]:
    if kind == "tests":
        for probe in map(registry.probe, registry.names("probes")):
            off = "" if probe.by_default else " Off by default."
            yield f"{probe.name:<18}{probe.category:<13}v{probe.version}  {probe.summary}{off}"
    elif kind == "suites":
        yield from bundled_suites()
    elif kind == "data":
        from contrapose.tasks.load.bundled import bundled_names

        yield from bundled_names()
    else:
        yield from registry.names(kind)


def arguments() -> Iterator[str]:
    """Lines about the `model_args` of every provider."""
    for name in registry.names("providers"):
        yield f"{name}:"
        for argument, known in registry.provider(name).arguments.items():
            default = "" if known.default in (None, "") else f", {json.dumps(known.default)}"
            yield f"  {argument:<21}{known.description} ({known.type}{default})"


def _options(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", nargs="?", choices=KINDS)
    command.add_argument("--schema", action="store_true", help="print the JSON Schema of suites instead, for editors")
    command.add_argument("--logs", action="store_true", help=argparse.SUPPRESS)


def _list(arguments: argparse.Namespace) -> int:
    if arguments.schema:
        from contrapose.flows.cli.init import schema

        return print_lines([schema()])
    return print_lines(listing(arguments.what))


VERB = Verb(options=_options, act=_list, example="list tests")
