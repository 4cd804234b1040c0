"""`contrapose answers`: results of a batch, taken into the response store."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.infer.openai.batches import take_results

INCOMPLETE = 4


def lines_of(files: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Every line, with file and row.

    Raises:
        DataError: a file cannot be read.
    """
    for name in files:
        try:
            with open(name, "rb") as file:
                for row, line in enumerate(file, start=1):
                    yield f"{name}, row {row}", line
        except OSError as error:
            raise DataError(
                error.strerror or type(error).__name__,
                expected="a file of results, a line of JSON each",
                remedy="Correct its name.",
                where=name,
            ) from error


def _options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="what", required=True, metavar="action")
    take = actions.add_parser("import", help="take results of prompts that `contrapose prompts` wrote on this store")
    take.add_argument("files", nargs="+", metavar="FILE", help="results as the Batch API and vllm run-batch write them")
    take.add_argument(
        "--any-model", action="store_true", help="also take replies of a model with another name than was asked for"
    )


def _answers(arguments: argparse.Namespace) -> int:
    counts = take_results(lines_of(arguments.files), any_model=arguments.any_model)
    for reason in counts.reasons:
        say(reason)
    print_lines(counts.in_words())
    return 0 if counts.whole else INCOMPLETE


EXITS = "exit codes: 0 every prompt has its answer, 2 no line is a result, 4 some are missing or failed"

VERB = Verb(options=_options, act=_answers, example="answers import results.jsonl", exits=EXITS)
