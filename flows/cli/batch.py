"""`contrapose batch`: what a run would have to ask, answered by a batch endpoint within a day, at a lower price."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from contrapose.flows.batching import LOOK_SECONDS, Collected, cancel, collect, prepare, standing, submit_prepared
from contrapose.flows.cli.answers import INCOMPLETE
from contrapose.flows.cli.arguments import Verb, add_config, config_of
from contrapose.flows.cli.prompts import open_questions_of
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.store import Store
from contrapose.tasks.store.prompts import PREPARED, SubmittedBatch

Outcome = TypeVar("Outcome")


def submit(config: RunConfig) -> Iterator[str]:
    """Submit what a run would have to ask, as far as its budget goes, and what an earlier try left unsubmitted.

    Raises:
        ContraposeError: the configuration or a data source is wrong, or the endpoint refuses.
    """
    questions = open_questions_of(config)
    yield from prepare(questions, config).notices
    yield from submit_prepared()
    if not questions.rows:
        yield "nothing to submit"


def status() -> Iterator[str]:
    """How the batches stand that were not collected."""
    rows = Store().prompts.batches()
    yield from (_unless_refused(standing, row) for row in rows)
    if not rows:
        yield "no batch is under way"


def cancel_some(names: Sequence[str]) -> Iterator[str]:
    """Give batches up.

    Args:
        names: the endpoint's ids or ours.

    Raises:
        ConfigError: there is no such batch.
    """
    rows = {name: row for row in Store().prompts.batches() for name in (row.id, row.remote) if name}
    for name in names:
        if name not in rows:
            raise ConfigError(
                "no such batch is under way",
                expected=" or ".join(rows) or "a batch that was submitted",
                remedy="`contrapose batch status` lists them.",
                where=name,
            )
    yield from (cancel(rows[name]) for name in names)


def _unless_refused(act: Callable[[SubmittedBatch], Outcome], row: SubmittedBatch) -> Outcome | str:
    """What comes of a batch; what its endpoint says against it keeps none from the others."""
    try:
        return act(row)
    except ModelError as error:
        return str(error)


def collect_all(*, wait: float | None) -> int:
    """Take what ended batches have brought.

    Args:
        wait: seconds between two looks at batches that have not ended; None: leave those for later.

    Returns:
        The exit code: 0 where every batch has ended and every prompt has its answer.
    """
    code = 0
    try:
        print_lines(submit_prepared())
    except ModelError as error:
        say(str(error))
        code = INCOMPLETE
    while rows := [row for row in Store().prompts.batches() if row.state != PREPARED]:
        collected = [_unless_refused(collect, row) for row in rows]
        for batch in collected:
            if isinstance(batch, str):
                say(batch)
                code = INCOMPLETE
            if not isinstance(batch, Collected):
                continue
            print_lines(f"{batch.row.remote}: {line}" for line in batch.in_words())
            code = code if batch.counts and batch.counts.whole else INCOMPLETE
        left = collected.count(None)
        if not left:
            return code
        if wait is None:
            print_lines([f"{left:,} {'batch' if left == 1 else 'batches'} under way: contrapose batch status"])
            return INCOMPLETE
        time.sleep(wait)
    return code


def _options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="what", required=True, metavar="action")
    add_config(actions.add_parser("submit", help="submit what a run would have to ask"))
    actions.add_parser("status", help="tell how the batches stand")
    give_up = actions.add_parser("cancel", help="give batches up; what they have answered can be collected")
    give_up.add_argument("names", nargs="+", metavar="BATCH", help="its id, as `contrapose batch status` tells it")
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
    if arguments.what == "cancel":
        return print_lines(cancel_some(arguments.names), at_once=True)
    return collect_all(wait=arguments.every if arguments.wait else None)


EXITS = "exit codes: 0 every prompt of the batches has its answer, 4 some have not"

VERB = Verb(options=_options, act=_batch, example="batch submit --suite suite.yaml", exits=EXITS)
