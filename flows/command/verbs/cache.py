"""`contrapose cache`: the answers that were paid for."""

from __future__ import annotations

import argparse

from contrapose.flows.command.saying import print_lines
from contrapose.flows.command.verbs.verb import Verb


def _options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="what", required=True, metavar="action")
    actions.add_parser("info", help="where the response store is and what it holds")
    clear = actions.add_parser("clear", help="forget answers")
    clear.add_argument("--older-than", type=float, metavar="DAYS", help="only answers that are older")
    clear.add_argument("--yes", action="store_true", help="do not ask whether that is meant")
    export = actions.add_parser("export", help="print answers as JSON, a line each, as raw text")
    repair = actions.add_parser("repair", help="check every answer, and rescue those of a damaged store")
    repair.add_argument("--from", dest="file", metavar="FILE", help="also take what can be read of a store set aside")
    for each in (clear, export):
        each.add_argument("--model", metavar="ID", help="only answers of this model")


def _cache(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command import cache

    if arguments.what == "info":
        return print_lines(cache.info())
    if arguments.what == "export":
        return print_lines(cache.export(model=arguments.model))
    if arguments.what == "repair":
        return print_lines(cache.repair(file=arguments.file))
    return print_lines([cache.clear(model=arguments.model, days=arguments.older_than, sure=arguments.yes)])


CACHE = Verb(name="cache", told="look after the answers that were paid for", options=_options, act=_cache)
