"""`contrapose preview`, `validate` and `estimate`: what is known before any model is asked."""

from __future__ import annotations

import argparse

from contrapose.flows.command.arguments import add_changes, add_config, add_suite, add_toxic, config_of
from contrapose.flows.command.saying import print_lines, say
from contrapose.flows.command.verbs.verb import Verb


def _preview_options(command: argparse.ArgumentParser) -> None:
    """`--probe` and `--input` are what people who only perturb call a test and its data."""
    add_suite(command, default=None, told="every test with its default settings, all samples")
    add_changes(command, test="--probe", data="--input")
    command.add_argument(
        "--show", type=int, default=10, metavar="N", help="show at most N samples a test, spread evenly (default: 10)"
    )
    command.add_argument("--skipped", action="store_true", help="show samples that are skipped, each with its reason")
    add_toxic(command)
    command.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per sample, all of them, as raw text: toxic words are not masked; edits are the "
        "parts {start, end, new} of the original that were replaced, in characters; a sample with several cases "
        "has the first at the top level and all of them under cases",
    )


def _estimate_options(command: argparse.ArgumentParser) -> None:
    """Those of run, so that one word changes the one command into the other."""
    add_config(command)
    command.add_argument("--refresh", action="store_true", help="count what is answered, too")
    command.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.add_argument("--out", help=argparse.SUPPRESS)
    for name in ("--show-toxic", "--exit-zero"):
        command.add_argument(name, action="store_true", help=argparse.SUPPRESS)


def _preview(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.preview import as_json, as_text, left_out, previews, without_default_controls

    config = config_of(arguments)
    found = [each.once() for each in previews(without_default_controls(config))]
    for warning in dict.fromkeys(warning for each in found for warning in each.loaded.warnings):
        say(warning)
    for line in left_out(found, show_toxic=config.show_toxic):
        say(line)
    if arguments.json:
        return print_lines(as_json(found))
    from rich.console import Console

    return print_lines(
        as_text(
            found,
            console=Console(highlight=False),
            most=arguments.show,
            skipped=arguments.skipped,
            show_toxic=config.show_toxic,
        )
    )


def _validate(arguments: argparse.Namespace) -> int:
    from contrapose.flows.command.preflight import check

    return print_lines(check(config_of(arguments), gates=True))


def _estimate(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from contrapose.flows.command.estimate import as_json, as_text, estimate

    found = estimate(config_of(arguments))
    return print_lines([as_json(found)] if arguments.json else as_text(found, console=Console(highlight=False)))


PREVIEW = Verb(
    name="preview", told="show what would be asked, before any model is", options=_preview_options, act=_preview
)
VALIDATE = Verb(
    name="validate", told="check configuration, data and cases; ask no model", options=add_config, act=_validate
)
ESTIMATE = Verb(
    name="estimate",
    told="tell calls, tokens, time and cost of a run; ask no model",
    options=_estimate_options,
    act=_estimate,
)
