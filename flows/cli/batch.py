"""`contrapose batch`: what a run would have to ask, answered by a batch endpoint within a day, at a lower price."""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Iterator
from dataclasses import replace

from contrapose.flows.cli.answers import exit_code, summary
from contrapose.flows.cli.arguments import Verb, add_config, config_of
from contrapose.flows.cli.prompts import OpenQuestions, left_aside, lines_of, note, open_questions
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.questions import from_json
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.budget import Budget, open_budget
from contrapose.tasks.infer.openai.batch_endpoint import ENDED, BatchEndpoint
from contrapose.tasks.infer.openai.batches import MOST_BYTES, MOST_LINES, bodies_of, parted, take_results
from contrapose.tasks.store import Store
from contrapose.tasks.store.prompts import PREPARED, PromptRow, SubmittedBatch
from contrapose.tasks.text.wording import counted

UNFINISHED = 4
LOOK_SECONDS = 60.0
"""Between two looks at batches that are waited for."""
SHARE = 0.5
"""Of OpenAI's listed price for a batch. Source: OpenAI's guide to the Batch API."""


def submit(config: RunConfig) -> Iterator[str]:
    """Submit what a run would have to ask, as far as its budget goes, and what an earlier try left unsubmitted.

    Raises:
        ContraposeError: the configuration or a data source is wrong, or the endpoint refuses.
    """
    yield from _submitted()
    unanswered = open_questions(config)
    yield from left_aside(unanswered)
    unanswered, most = _affordable(unanswered, config)
    note(unanswered, config)
    spec = config.model_spec().model_dump_json()
    for part in parted(
        lines_of(list(unanswered.rows.values()), unanswered.spec), most_lines=MOST_LINES, most_bytes=MOST_BYTES
    ):
        keys = [line[CUSTOM_ID] for line in part.splitlines()]
        ours = hashlib.sha256(b"".join(keys)).hexdigest()[:24]
        Store().prompts.prepare(f"{time.time_ns():020}-{ours}", [key.decode() for key in keys], spec=spec)
    yield from _submitted()
    if unanswered.rows and most:
        yield f"at most {most}"
    if not unanswered.rows:
        yield "nothing to submit"


CUSTOM_ID = slice(len('{"custom_id": "'), len('{"custom_id": "') + 64)
"""Where the key stands in a line of requests."""


def _affordable(unanswered: OpenQuestions, config: RunConfig) -> tuple[OpenQuestions, str]:
    """The first of the questions, as many as the budget allows, and the most that they may take, in words."""
    budget = _budget(config)
    bodies = bodies_of(unanswered.spec.model_dump_json())
    rows: dict[str, PromptRow] = {}
    for key, row in unanswered.rows.items():
        most = bodies.most(from_json(row.question))
        if not budget.reserve(most):
            say(f"{budget.why(most)}: {counted('prompts', len(unanswered.rows) - len(rows))} left for later")
            break
        rows[key] = row
    spent = replace(budget, spent=budget.reserved, reserved=Usage())
    return replace(unanswered, rows=rows), spent.in_words() if rows else ""


def _budget(config: RunConfig) -> Budget:
    """What the batch may take, at the price of a batch where the listed one holds."""
    budget = open_budget(config)
    if budget.price is not None and config.price is None:
        cheaper = {name: SHARE * getattr(budget.price, name) for name in ("input", "output")}
        budget.price = budget.price.model_copy(update=cheaper)
    return budget


def _submitted() -> Iterator[str]:
    """Submit every batch that is noted, and not known to be submitted."""
    prompts = Store().prompts
    for row in prompts.batches():
        if row.state != PREPARED:
            continue
        asked = prompts.asked_by(row.id)
        spec = ModelSpec.model_validate_json(row.spec)
        offline = spec.model_copy(update={"args": {**spec.args, "offline": True}})
        with BatchEndpoint(spec) as endpoint:
            batch = endpoint.submit(row.id, b"".join(lines_of(asked, offline)))
        prompts.mark(row.id, {"remote": batch.id, "state": batch.status})
        yield f"{batch.id}: {counted('prompts', len(asked))} submitted"


def status() -> Iterator[str]:
    """How the batches stand that were not collected."""
    rows = Store().prompts.batches()
    for row in rows:
        yield _standing(row)
    if not rows:
        yield "no batch is under way"


def _standing(row: SubmittedBatch) -> str:
    if row.state == PREPARED:
        return f"{row.id}: {counted('prompts', row.questions)} prepared, not submitted: `contrapose batch collect`"
    with BatchEndpoint(ModelSpec.model_validate_json(row.spec)) as endpoint:
        batch = endpoint.look(row.remote)
    counts = batch.request_counts
    done = f", {counts.completed:,} of {counts.total:,} answered, {counts.failed:,} failed" if counts else ""
    return f"{row.remote}: {batch.status}{done}"


def collect(*, wait: float | None) -> int:
    """Take what ended batches have brought; what they did not answer may be asked again.

    Args:
        wait: seconds between two looks at batches that have not ended; None: leave those for later.

    Returns:
        The exit code: 0 where every batch has ended and every prompt has its answer.
    """
    print_lines(_submitted())
    code = 0
    while rows := Store().prompts.batches():
        going_on = 0
        for row in rows:
            ended = _collected(row)
            code, going_on = max(code, ended or 0), going_on + (ended is None)
        if not going_on or wait is None:
            break
        time.sleep(wait)
    if left := len(Store().prompts.batches()):
        print_lines([f"{left:,} {'batch' if left == 1 else 'batches'} under way: contrapose batch status"])
    return UNFINISHED if left else code


def _collected(row: SubmittedBatch) -> int | None:
    """Take what a batch has brought; None where it has not ended."""
    prompts = Store().prompts
    with BatchEndpoint(ModelSpec.model_validate_json(row.spec)) as endpoint:
        batch = endpoint.look(row.remote)
        if batch.status not in ENDED:
            prompts.mark(row.id, {"state": batch.status})
            return None
        problems = [error.message or str(error.code) for error in (batch.errors.data if batch.errors else None) or []]
        for problem in problems[:5]:
            say(f"{row.remote}: {problem}")
        if not (batch.output_file_id or batch.error_file_id):
            prompts.release(row.id)
            print_lines([f"{row.remote}: {batch.status}, with no results; its prompts may be submitted again"])
            return UNFINISHED
        counts = take_results(endpoint.results(batch))
    prompts.release(row.id)
    for reason in counts.reasons:
        say(reason)
    print_lines([f"{row.remote}: {batch.status}", *(f"  {line}" for line in summary(counts))])
    return exit_code(counts)


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
    return collect(wait=arguments.every if arguments.wait else None)


EXITS = "exit codes: 0 every prompt of the batches has its answer, 4 some have not"

VERB = Verb(options=_options, act=_batch, exits=EXITS)
