"""`contrapose resume`: an unfinished run goes on where it stopped."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from contrapose.flows.cli.arguments import VERDICTS, Verb, add_budget, add_logs
from contrapose.flows.cli.interruption import interruptible, nothing_begun
from contrapose.flows.cli.run import add_outcome, evaluate
from contrapose.flows.cli.start import begin_server, serve_blocks
from contrapose.flows.cli.terminal import print_lines
from contrapose.tasks.config.permissions import allow, typed
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.store import Store
from contrapose.tasks.store.engine import file_of, store_url
from contrapose.tasks.store.runs import RunRow


def unfinished_config(run: str, *, budget: Mapping[str, float | None]) -> RunConfig:
    """The configuration of an unfinished run, entered in its working folder.

    Args:
        run: its id, or the beginning of it where that is enough.
        budget: limits that replace its own; None leaves one as it is.

    Raises:
        ConfigError: there is no such run, it is finished, or its folder is gone.
    """
    # It imports Prefect, for which nobody waits who only lists unfinished runs.
    from contrapose.flows.run_lifecycle import config_of

    row = unfinished_run(run)
    if not Path(row.folder).is_dir():
        raise ConfigError(
            "the folder that the run was started in is gone",
            expected="a folder that its relative paths start from",
            remedy="Make it again, or start a new run: what was answered is not asked twice.",
            where=row.folder,
        )
    os.chdir(row.folder)
    config = config_of(row)
    limits = {name: value for name, value in budget.items() if value is not None}
    return RunConfig.model_validate({**config.model_dump(mode="json"), **limits})


def unfinished_run(run: str) -> RunRow:
    """The one unfinished run whose id begins like this.

    Raises:
        ConfigError: there is none, or there are several.
    """
    rows = [row for row in Store().runs.unfinished() if row.id.startswith(run)]
    exact = [row for row in rows if row.id == run] or rows
    if len(exact) != 1:
        raise ConfigError(
            f"{len(exact) or 'no'} unfinished runs begin with {run!r}",
            expected="the id of one",
            remedy="`contrapose resume` without an id lists them.",
            where="run",
        )
    return exact[0]


def _options(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", nargs="?", metavar="RUN", help="its id, or how it begins; without it they are listed")
    add_budget(command)
    add_outcome(command)
    add_logs(command)


def _resume(arguments: argparse.Namespace) -> int:
    if arguments.run is None:
        from contrapose.flows.cli.cache import unfinished

        return print_lines(unfinished())
    begin_server()
    budget = {name: getattr(arguments, name) for name in ("max_calls", "max_tokens", "max_cost")}
    resumed = unfinished_run(arguments.run).id
    config = unfinished_config(resumed, budget=budget)
    if file_of(store_url()):
        # In a store of this user's own: what the run names was allowed when it began.
        allow(typed(config.model_dump(mode="json")))
    with nothing_begun():
        serve_blocks(config.key_block)
    with interruptible():
        return evaluate(config, arguments, resumed=resumed)


VERB = Verb(options=_options, act=_resume, example="resume", exits=VERDICTS)
