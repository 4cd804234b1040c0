"""`contrapose judge-run`: the report of replies that were recorded, by another tool or by an earlier run."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contrapose.flows.cli import run
from contrapose.flows.cli.arguments import VERDICTS, Verb, add_config
from contrapose.flows.cli.estimate import portions
from contrapose.flows.cli.interruption import interruptible
from contrapose.flows.cli.preview import Preview, previews
from contrapose.flows.cli.terminal import say
from contrapose.flows.cli.validate import nothing_to_ask
from contrapose.flows.orchestration.options import configured, overrides, select
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Case
from contrapose.tasks.core.registry import probe
from contrapose.tasks.infer.ask import asked
from contrapose.tasks.infer.recorded import RecordedModel, RecordedReplies


@dataclass(slots=True)
class Replied:
    """How many prompts of one kind of case there are, and how many of them have a reply."""

    prompts: int = 0
    replies: int = 0
    changed: int = 0
    """Replies to changed prompts; those to unchanged ones may have been recorded for another test."""

    def count(self, cases: Sequence[Case], model: RecordedModel) -> None:
        """Add the prompts of some cases."""
        questions = asked(case for case in cases if case.skip_reason is None)
        unchanged = {case.original_prompt for case in cases}
        self.prompts += len(questions)
        self.replies += model.replied(questions)
        self.changed += model.replied(question for question in questions if question.prompt not in unchanged)

    @property
    def whole(self) -> bool:
        """Whether every prompt has its reply."""
        return self.replies == self.prompts


def recorded_part(config: RunConfig) -> Iterator[tuple[str, bool]]:
    """Tests of a run to whose prompts replies are recorded, each with whether its controls have theirs.

    Raises:
        ModelError: no test has replies, or one has some and not all: the first prompts without are named.
        DataError: no sample can be changed.
        ContraposeError: the configuration, the data or the file of replies is wrong.
    """
    model = RecordedReplies().open(config.model_spec())
    chosen, left_out = 0, dict[str, str]()
    tests = previews(config)
    for preview in tests:
        replied = _replied(preview, model)
        if replied[False].changed == 0:
            missing = "none of its prompts has a recorded reply"
            left_out[preview.plan.test] = missing if replied[False].prompts else f"it skips rows: {preview.skipped()}"
            continue
        chosen += 1
        if not replied[False].whole:
            _refuse_missing(preview, model)
        yield preview.plan.test, replied[True].whole
    if not chosen:
        for preview in tests:
            _refuse_missing(preview, model)
        raise nothing_to_ask(tests[0].plan, tests[0].skips)
    for test, reason in left_out.items():
        say(f"{test}: left out, since {reason}")


def _replied(preview: Preview, model: RecordedModel) -> Mapping[bool, Replied]:
    """The prompts of a test itself, and those of its controls."""
    replied = {False: Replied(), True: Replied()}
    for cases in portions(preview):
        model.expect(cases)
        for control, counts in replied.items():
            counts.count([case for case in cases if case.control is control], model)
    return replied


def _refuse_missing(preview: Preview, model: RecordedModel) -> None:
    """Name what a test itself asks, and has no reply."""
    cases = [case for portion in portions(preview) for case in portion if not case.control]
    model.refuse_missing(asked(case for case in cases if case.skip_reason is None))


def _options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "recording",
        metavar="FILE",
        help="replies: a table (.jsonl, .csv, .parquet …), a log of Inspect (.eval, .json), samples of lm-eval, or the "
        "results of a batch",
    )
    command.add_argument(
        "--column", action="append", default=[], metavar="NAME=COLUMN", help="which column holds what, if not as usual"
    )
    command.add_argument(
        "--where", action="append", default=[], metavar="COLUMN=VALUE", help="only rows that have this value"
    )
    command.add_argument("--requests", metavar="FILE", help="the requests that a file of batch results answers")
    add_config(command, model=False)
    run.add_report(command)


def _pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """Names and values of an option that is given as one text each."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip()):
            raise ConfigError(
                f"{text!r}", expected="a name, =, and a value", remedy=f"Write {option} name=value.", where=option
            )
        pairs[name.strip()] = value
    return pairs


def _model_args(arguments: argparse.Namespace) -> dict[str, Any]:
    """What tells the provider how to read the file."""
    values = {
        "columns": _pairs(arguments.column, "--column"),
        "where": _pairs(arguments.where, "--where"),
        "requests": arguments.requests,
    }
    return {f"model_args.{name}": value for name, value in values.items() if value}


def _judge(arguments: argparse.Namespace) -> int:
    arguments.model = f"recorded/{arguments.recording}"
    arguments.changes = _model_args(arguments)
    wanted, _ = configured(arguments.suite, overrides(arguments))
    wanted = select(wanted, arguments.test)
    with interruptible():
        recorded = dict(recorded_part(wanted))
    for name in (plan.test for plan in plans(wanted)):
        if not recorded.get(name, True):
            say(f"{name}: without a control, since its prompts have no recorded replies")
    without = {f"tests.{probe(name).category}.{name}.control": False for name, whole in recorded.items() if not whole}
    arguments.test = list(recorded)
    arguments.changes |= without
    return run.VERB.act(arguments)


VERB = Verb(options=_options, act=_judge, example="judge-run answers.jsonl --test add_negation", exits=VERDICTS)
