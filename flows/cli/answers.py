"""`contrapose answers`: results of a batch, taken into the response store."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.infer.openai.batches import ImportCounts, take_results
from contrapose.tasks.text.wording import counted

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


def summary(counts: ImportCounts) -> Iterator[str]:
    """What became of the results, a line each."""
    yield f"{counted('answers', counts.taken)} taken into the response store"
    if counts.known:
        yield f"{counted('answers', counts.known)} there already, left as they are"
    if counts.failed:
        yield f"{counts.failed:,} failed: no reply, or none that can be read"
    if counts.refused:
        yield f"{counts.refused:,} refused: made with other settings, for another store, or by another model"
    if counts.missing:
        yield f"{counted('prompts', counts.missing)} written with them without an answer: `contrapose prompts` again"


def exit_code(counts: ImportCounts) -> int:
    """0 where every prompt has its answer, else that of an incomplete run."""
    return INCOMPLETE if counts.failed or counts.refused or counts.missing else 0


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
    return print_lines(summary(counts)) or exit_code(counts)


EXITS = "exit codes: 0 every prompt has its answer, 2 no line is a result, 4 some are missing or failed"

VERB = Verb(options=_options, act=_answers, exits=EXITS)
