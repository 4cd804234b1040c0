"""`contrapose batch`: what a run would have to ask, answered by a batch endpoint within a day, at a lower price."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from contrapose.flows.batching import LOOK_SECONDS, collect, prepare, standing, submit_prepared
from contrapose.flows.cli.answers import INCOMPLETE
from contrapose.flows.cli.arguments import Verb, add_config, config_of
from contrapose.flows.cli.prompts import open_questions_of
from contrapose.flows.cli.terminal import print_lines
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.store import Store


def submit(config: RunConfig) -> Iterator[str]:
    """Submit what a run would have to ask, as far as its budget goes, and what an earlier try left unsubmitted.

    Raises:
        ContraposeError: the configuration or a data source is wrong, or the endpoint refuses.
    """
    yield from submit_prepared()
    questions = open_questions_of(config)
    yield from prepare(questions, config).notices
    yield from submit_prepared()
    if not questions.rows:
        yield "nothing to submit"


def status() -> Iterator[str]:
    """How the batches stand that were not collected."""
    yield from standing(Store().prompts.batches()).values() or ["no batch is under way"]


def collect_all(*, wait: float | None) -> int:
    """Take what ended batches have brought.

    Args:
        wait: seconds between two looks at batches that have not ended; None: leave those for later.

    Returns:
        The exit code: 0 where every batch has ended and every prompt has its answer.
    """
    print_lines(submit_prepared())
    code = 0
    while rows := Store().prompts.batches():
        collected = [collect(row) for row in rows]
        for batch in filter(None, collected):
            print_lines(f"{batch.row.remote}: {line}" for line in batch.in_words())
            code = code if batch.counts and batch.counts.whole else INCOMPLETE
        if all(collected):
            return code
        if wait is None:
            left = collected.count(None)
            print_lines([f"{left:,} {'batch' if left == 1 else 'batches'} under way: contrapose batch status"])
            return INCOMPLETE
        time.sleep(wait)
    return code


def _options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="what", required=True, metavar="action")
    add_config(actions.add_parser("submit", help="submit what a run would have to ask"))
    actions.add_parser("status", help="tell how the batches stand")
    fetch = actions.add_parser("collect", help="take the results of batches that have ended into the response store")
    fetch.add_argument("--wait", action="store_true", help="wait until all have ended")
    fetch.add_argument(
        "--every", type=float, default=LOOK_SECONDS, metavar="SECONDS", help="between two looks (default: 60)"
    )


def _batch(arguments: argparse.Namespace) -> int:
    if arguments.what == "submit":
        return print_lines(submit(config_of(arguments)), at_once=True)
    if arguments.what == "status":
        return print_lines(status(), at_once=True)
    return collect_all(wait=arguments.every if arguments.wait else None)


EXITS = "exit codes: 0 every prompt of the batches has its answer, 4 some have not"

VERB = Verb(options=_options, act=_batch, exits=EXITS)
