"""`contrapose batch`: send a run's prompts through a batch API, or write them into files for one."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeVar

from contrapose.flows import batching
from contrapose.flows.cli.arguments import Verb, add_config, load_chosen_config
from contrapose.flows.cli.estimate import yield_portions
from contrapose.flows.cli.preview import load_previews
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.damage import put_in_place
from contrapose.tasks.core.errors import ConfigError, DataError, ModelError
from contrapose.tasks.infer.openai.batches import MOST_BYTES, MOST_LINES, split_files, take_results, yield_request_lines
from contrapose.tasks.store import Store
from contrapose.tasks.store.prompts import PREPARED, SubmittedBatch
from contrapose.tasks.text.wording import counted

Outcome = TypeVar("Outcome")
INCOMPLETE = 4


def _find_questions(config: RunConfig) -> batching.OpenQuestions:
    """Find the questions that a run would have to ask, and print which ones are left out."""
    tests = load_previews(config)
    questions = batching.find_unanswered(config, (portion for preview in tests for portion in yield_portions(preview)))
    for line in questions.describe_left_aside():
        say(line)
    if later := [preview.plan.test for preview in tests if preview.plan.probe_settings.asks_back(preview.likelihoods)]:
        say(f"replies of {', '.join(later)} that cannot be read are asked about by the run itself")
    return questions


def _submit(arguments: argparse.Namespace) -> int:
    """Submit the questions of a run, as far as its budget allows, and batches that an earlier try did not submit."""
    config = load_chosen_config(arguments)

    def lines() -> Iterator[str]:
        questions = _find_questions(config)
        yield from batching.prepare_batches(questions, config).notices
        yield from batching.submit_prepared()
        if not questions.rows:
            yield "nothing to submit"

    return print_lines(lines(), at_once=True)


def _status(_: argparse.Namespace) -> int:
    """Print the state of the batches that are not collected yet."""
    rows = Store().prompts.batches()
    return print_lines(
        (_try(batching.describe_batch, row) for row in rows) if rows else ["no batch is under way"], at_once=True
    )


def _cancel(arguments: argparse.Namespace) -> int:
    """Cancel batches, by the endpoint's ids or by ours."""
    rows = {name: row for row in Store().prompts.batches() for name in (row.id, row.remote) if name}
    for name in arguments.names:
        if name not in rows:
            raise ConfigError(
                "no such batch is under way",
                expected=" or ".join(rows) or "a batch that was submitted",
                remedy="List the batches with `contrapose batch status`.",
                where=name,
            )
    return print_lines((batching.cancel_batch(rows[name]) for name in arguments.names), at_once=True)


def _try(act: Callable[[SubmittedBatch], Outcome], row: SubmittedBatch) -> Outcome | str:
    """Return the outcome of a batch, or its endpoint's error, so that one failure does not stop the other batches."""
    try:
        return act(row)
    except ModelError as error:
        return str(error)


def _collect(arguments: argparse.Namespace) -> int:
    """Store the replies of batches that have ended; return 0 if all have ended and every prompt has its answer."""
    code = 0
    try:
        print_lines(batching.submit_prepared())
    except ModelError as error:
        say(str(error))
        code = INCOMPLETE
    while rows := [row for row in Store().prompts.batches() if row.state != PREPARED]:
        collected = [_try(batching.collect_batch, row) for row in rows]
        for batch in collected:
            if isinstance(batch, str):
                say(batch)
                code = INCOMPLETE
            elif isinstance(batch, batching.CollectedBatch):
                print_lines(f"{batch.row.remote}: {line}" for line in batch.in_words())
                code = code if batch.counts and batch.counts.is_complete else INCOMPLETE
        left = collected.count(None)
        if not left:
            return code
        if not arguments.wait:
            print_lines([f"{left:,} {'batch' if left == 1 else 'batches'} under way: contrapose batch status"])
            return INCOMPLETE
        time.sleep(arguments.every)
    return code


def _write_prompts(arguments: argparse.Namespace) -> int:
    """Write the questions of a run into a file; if one file is too small for them, into several numbered files."""
    for name in ("max_lines", "max_bytes"):
        if (value := getattr(arguments, name)) < 1:
            where = f"--{name.replace('_', '-')}"
            raise ConfigError(str(value), expected="1 or more", remedy=f"Write {where} 1 or more.", where=where)
    config, out, paths = load_chosen_config(arguments), Path(arguments.out), list[Path]()
    questions = _find_questions(config)
    batching.note_questions(questions, config)
    lines = yield_request_lines(questions.rows.values(), questions.spec)
    parts = split_files(lines, most_lines=arguments.max_lines, most_bytes=arguments.max_bytes)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        first, second = next(parts, None), next(parts, None)
        for number, content in enumerate(filter(None, chain((first, second), parts)), start=1):
            path = out if second is None else out.with_name(f"{out.stem}-{number}{out.suffix}")
            new = path.with_name(f".{path.name}.part")
            new.write_bytes(content)
            put_in_place(new, path)
            paths.append(path)
    except OSError as error:
        raise ConfigError(
            error.strerror or type(error).__name__,
            expected="a file that can be written",
            remedy="Name another file with --out, or free some space.",
            where=arguments.out,
        ) from error
    if not paths:
        return print_lines(["nothing to ask: every prompt has its answer, or is in a batch"])
    return print_lines([f"{counted('prompts', len(questions.rows))} written: {', '.join(map(str, paths))}"])


def _take_answers(arguments: argparse.Namespace) -> int:
    """Store the results of a batch file in the response store."""

    def lines() -> Iterator[tuple[str, bytes]]:
        for name in arguments.files:
            try:
                with open(name, "rb") as file:
                    yield from ((f"{name}, row {row}", line) for row, line in enumerate(file, start=1))
            except OSError as error:
                raise DataError(
                    error.strerror or type(error).__name__,
                    expected="a file of results, a line of JSON each",
                    remedy="Name the file of results that the endpoint returned.",
                    where=name,
                ) from error

    counts = take_results(lines(), any_model=arguments.any_model)
    for reason in counts.reasons:
        say(reason)
    print_lines(counts.yield_lines())
    return 0 if counts.is_complete else INCOMPLETE


def _add_options(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="what", required=True, metavar="action")
    add_config(actions.add_parser("submit", help="submit the prompts of a run"))
    actions.add_parser("status", help="show the state of the batches")
    give_up = actions.add_parser("cancel", help="cancel batches; their answers so far can be collected")
    give_up.add_argument("names", nargs="+", metavar="BATCH", help="its id, as `contrapose batch status` shows it")
    fetch = actions.add_parser("collect", help="store the results of finished batches")
    fetch.add_argument("--wait", action="store_true", help="wait until all batches are finished")
    text = "seconds between two checks (default: 60)"
    fetch.add_argument("--every", type=float, default=batching.LOOK_SECONDS, metavar="SECONDS", help=text)
    text = "write the prompts of a run into files, for a batch API or vllm run-batch; call no model"
    write = actions.add_parser("prompts", help=text)
    add_config(write)
    write.add_argument("--out", default="batch.jsonl", metavar="FILE", help="file to write (default: batch.jsonl)")
    for unit, limit in (("lines", MOST_LINES), ("bytes", MOST_BYTES)):
        text = f"{unit} a file (default: {limit:,})"
        write.add_argument(f"--max-{unit}", type=int, default=limit, metavar="N", help=text)
    take = actions.add_parser("answers", help="store the results of files that `batch prompts` wrote")
    take.add_argument("files", nargs="+", metavar="FILE", help="results as the Batch API and vllm run-batch write them")
    text = "accept replies of a model with another name"
    take.add_argument("--any-model", action="store_true", help=text)


ACTIONS = {
    "submit": _submit,
    "status": _status,
    "cancel": _cancel,
    "collect": _collect,
    "prompts": _write_prompts,
    "answers": _take_answers,
}

EXITS = (
    "exit codes of collect and answers: 0 every prompt has its answer, 2 no line is a result, 4 some are missing or "
    "failed"
)

VERB = Verb(
    options=_add_options,
    act=lambda arguments: ACTIONS[arguments.what](arguments),
    example="batch submit --suite suite.yaml",
    exits=EXITS,
)
