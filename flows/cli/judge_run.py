"""`contrapose judge-run`: the report of replies that were recorded, by another tool or by an earlier run."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from contrapose.flows.cli import run
from contrapose.flows.cli.arguments import VERDICTS, Verb, add_config
from contrapose.flows.cli.interruption import interruptible
from contrapose.flows.cli.preview import previews
from contrapose.flows.cli.terminal import say
from contrapose.flows.cli.validate import nothing_to_ask
from contrapose.flows.orchestration.options import configured, overrides, select
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.records import Case
from contrapose.tasks.infer.recorded import RecordedReplies, nothing_recorded


def recorded_part(config: RunConfig) -> list[str]:
    """Tests of a run of whose cases some have their replies recorded; why the others are left out is said.

    Raises:
        ModelError: no case of any test has its replies: the first cases are named.
        DataError: no sample can be changed, or no test can read the data.
        ContraposeError: the configuration or the file of replies is wrong.
    """
    spec, chosen, left_out = config.model_spec(), list[str](), dict[str, str]()
    asked, refused = list[Case](), list[ContraposeError]()
    for plan in plans(config):
        try:
            [preview] = previews(select(config, [plan.test]))
        except ContraposeError as error:
            refused.append(error)
            left_out[plan.test] = str(error).partition(";")[0]
            continue
        cases = [case for own in preview.cases() for case in own if not case.control and case.skip_reason is None]
        asked += cases
        if any(case.skip_reason is None for case in RecordedReplies().replied(spec, cases)):
            chosen.append(plan.test)
        elif cases:
            left_out[plan.test] = "no case has replies to both of its prompts"
        else:
            refused.append(nothing_to_ask(plan, preview.skips))
            left_out[plan.test] = f"it skips rows: {preview.skipped()}"
    if not chosen:
        raise nothing_recorded((case.id for case in asked), spec) if asked else refused[0]
    RecordedReplies().remarks(spec, chosen)
    for test, reason in left_out.items():
        say(f"{test}: left out, since {reason}")
    return chosen


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
        arguments.test = recorded_part(wanted)
    return run.VERB.act(arguments)


VERB = Verb(options=_options, act=_judge, example="judge-run answers.jsonl --test add_negation", exits=VERDICTS)
