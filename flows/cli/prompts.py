"""`contrapose prompts`: what a run would have to ask, as files for a batch endpoint or for vLLM's `run-batch`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from contrapose.flows.batching import OpenQuestions, note, open_questions
from contrapose.flows.cli.arguments import Verb, add_config, config_of
from contrapose.flows.cli.estimate import portions
from contrapose.flows.cli.preview import previews
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.damage import put_in_place
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.infer.openai.batches import MOST_BYTES, MOST_LINES, parted
from contrapose.tasks.text.wording import counted


def open_questions_of(config: RunConfig) -> OpenQuestions:
    """What a run would have to ask, and for people what is left aside.

    Raises:
        ContraposeError: the configuration or a data source is wrong.
    """
    tests = previews(config)
    questions = open_questions(config, (portion for preview in tests for portion in portions(preview)))
    for line in questions.left_aside():
        say(line)
    if later := [preview.plan.test for preview in tests if preview.plan.probe_settings.asks_back(preview.likelihoods)]:
        say(f"replies of {', '.join(later)} that cannot be read are asked about by the run itself")
    return questions


def write(questions: OpenQuestions, out: Path, *, most_lines: int, most_bytes: int) -> Iterator[Path]:
    """Write the questions, and tell into which files; where one does not hold them, several get a number each."""
    out.parent.mkdir(parents=True, exist_ok=True)
    parts = parted(questions.lines(), most_lines=most_lines, most_bytes=most_bytes)
    first, second = next(parts, None), next(parts, None)
    if first is None:
        return
    if second is None:
        yield _written(out, first)
        return
    for number, content in enumerate((first, second, *parts), start=1):
        yield _written(out.with_name(f"{out.stem}-{number}{out.suffix}"), content)


def _written(path: Path, content: bytes) -> Path:
    new = path.with_name(f".{path.name}.part")
    new.write_bytes(content)
    put_in_place(new, path)
    return path


def _options(command: argparse.ArgumentParser) -> None:
    add_config(command)
    command.add_argument("--out", default="batch.jsonl", metavar="FILE", help="file to write (default: batch.jsonl)")
    command.add_argument(
        "--max-lines", type=int, default=MOST_LINES, metavar="N", help=f"lines a file (default: {MOST_LINES:,})"
    )
    command.add_argument(
        "--max-bytes", type=int, default=MOST_BYTES, metavar="N", help=f"bytes a file (default: {MOST_BYTES:,})"
    )


def _prompts(arguments: argparse.Namespace) -> int:
    for name in ("max_lines", "max_bytes"):
        if (value := getattr(arguments, name)) < 1:
            where = f"--{name.replace('_', '-')}"
            raise ConfigError(str(value), expected="1 or more", remedy="Correct it.", where=where)
    config = config_of(arguments)
    questions = open_questions_of(config)
    note(questions, config)
    try:
        paths = list(
            write(questions, Path(arguments.out), most_lines=arguments.max_lines, most_bytes=arguments.max_bytes)
        )
    except OSError as error:
        raise ConfigError(
            error.strerror or type(error).__name__,
            expected="a file that can be written",
            remedy="Name another one, or make room.",
            where=arguments.out,
        ) from error
    if not paths:
        return print_lines(["nothing to ask: every prompt has its answer, or is in a batch"])
    return print_lines([f"{counted('prompts', len(questions.rows))} written: {', '.join(map(str, paths))}"])


VERB = Verb(options=_options, act=_prompts, example="prompts --suite suite.yaml --out prompts.jsonl")
