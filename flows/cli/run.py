"""`contrapose run` and `resume`: evaluate a model, or judge recorded replies, and publish a report."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from contrapose.flows.cli import COMMONEST
from contrapose.flows.cli.arguments import (
    VERDICTS,
    Verb,
    add_budget,
    add_config,
    add_logs,
    add_outcome,
    add_toxic,
    load_chosen_config,
    shorten_folder,
)
from contrapose.flows.cli.interruption import interruptible
from contrapose.flows.cli.start import begin_server, ensure_block_server
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.core.reply_outcomes import AskedAgain

if TYPE_CHECKING:
    from contrapose.flows.reporting import Published
    from contrapose.tasks.config.run_config import RunConfig


def _add_options(command: argparse.ArgumentParser) -> None:
    add_config(command)
    add_toxic(command)
    add = command.add_argument
    add("--out", metavar="FOLDER|URL", help="write the folder of the run there (default: runs)")
    text = "compare with this run, or with the newest run of the suite in this folder, which sets the exit code"
    add("--against", metavar="FOLDER|URL", help=text)
    add("--mlflow", metavar="EXPERIMENT", help="also log the run to this MLflow experiment (extra mlflow)")
    add("--watch", action="store_true", help="run again when the suite, its data or its templates change, until Ctrl-C")
    add("--flow-run-name", metavar="NAME", help="name the run in Prefect (default: suite and model)")
    add("--refresh", action="store_true", help="ask and compute everything again")
    text = "ask again for replies of this kind, as after a change of policy; repeatable"
    add("--ask-again", action="append", choices=get_args(AskedAgain), help=text)
    add_outcome(command)
    add = command.add_argument_group("recorded replies").add_argument
    text = (
        "judge these replies; call no model. FILE: a table (.jsonl, .csv, .parquet …), an Inspect log (.eval, .json), "
        "samples of lm-eval, or batch results"
    )
    add("--recorded", metavar="FILE", help=text)
    text = "name a column that holds a field, if it is not found; repeatable"
    add("--column", action="append", default=[], metavar="NAME=COLUMN", help=text)
    add(
        "--where", action="append", default=[], metavar="COLUMN=VALUE", help="use only rows with this value; repeatable"
    )
    add("--requests", metavar="FILE", help="request file that belongs to batch results")


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.watch:
        return _run_once(arguments)
    from contrapose.flows.cli.watch import watch

    arguments.changes = {}
    return watch(_run_once, arguments)


def _run_once(arguments: argparse.Namespace) -> int:
    from contrapose.flows.orchestration.spinner import hide_progress, show_step

    arguments.changes = {} if arguments.requests is None else {"model_args.requests": arguments.requests}
    for option, name in (("column", "columns"), ("where", "where")):
        for text in getattr(arguments, option):
            key, equals, value = text.partition("=")
            if not (equals and key.strip()):
                remedy, where = f"Write --{option} name=value.", f"--{option}"
                raise ConfigError(f"{text!r}", expected="a name, =, and a value", remedy=remedy, where=where)
            arguments.changes.setdefault(f"model_args.{name}", {})[key.strip()] = value
    if arguments.recorded is not None:
        if arguments.model is not None:
            raise ConfigError(
                f"{arguments.model} together with recorded replies",
                expected="either --model or --recorded",
                remedy="Remove --model.",
                where="--model",
            )
        from contrapose.flows.orchestration.options import read_overrides, resolve_suite, select_tests

        arguments.model = f"recorded/{arguments.recorded}"
        config, _ = resolve_suite(arguments.suite, read_overrides(arguments))
        arguments.test = select_recorded_tests(select_tests(config, arguments.test))
    begin_server()
    with hide_progress(arguments.quiet), show_step("check"):
        config = load_chosen_config(arguments)
    return evaluate(config, arguments)


def _resume(arguments: argparse.Namespace) -> int:
    if arguments.run is None:
        return print_lines(list_unfinished())
    begin_server()
    from contrapose.tasks.store import Store

    rows = [row for row in Store().runs.find_unfinished() if row.id.startswith(arguments.run)]
    exact = [row for row in rows if row.id == arguments.run] or rows
    if len(exact) != 1:
        raise ConfigError(
            f"{len(exact) or 'no'} unfinished runs begin with {arguments.run!r}",
            expected="the id of one unfinished run",
            remedy="List the ids with `contrapose resume`.",
            where="run",
        )
    row = exact[0]
    if not Path(row.folder).is_dir():
        raise ConfigError(
            "the folder in which the run was started no longer exists",
            expected="a folder that its relative paths start from",
            remedy="Create it again, or start a new run: cached answers are reused.",
            where=row.folder,
        )
    os.chdir(row.folder)
    # It imports Prefect, for which nobody waits who only lists unfinished runs.
    from contrapose.flows.run_lifecycle import read_begun_config
    from contrapose.tasks.config.permissions import allow, list_named_by_user
    from contrapose.tasks.config.run_config import RunConfig
    from contrapose.tasks.store.engine import get_store_file, store_url

    limits = {name: getattr(arguments, name) for name in ("max_calls", "max_tokens", "max_cost")}
    changes = {name: value for name, value in limits.items() if value is not None}
    config = RunConfig.model_validate({**read_begun_config(row).model_dump(mode="json"), **changes})
    if get_store_file(store_url()):
        # In a store of this user's own: what the run names was allowed when it began.
        allow(list_named_by_user(config.model_dump(mode="json")))
    ensure_block_server(config.key_block)
    return evaluate(config, arguments, resumed=row.id)


def list_unfinished() -> Iterator[str]:
    """List runs that did not finish, the newest first."""
    from contrapose.tasks.store import Store
    from contrapose.tasks.store.owners import is_gone
    from contrapose.tasks.store.runs import ALIVE_SECONDS
    from contrapose.tasks.text.wording import counted

    rows = Store().runs.find_unfinished()
    for row in rows:
        is_running = row.seen > time.time() - ALIVE_SECONDS and not is_gone(row.owner)
        state = "running" if is_running else "interrupted"
        state = "incomplete" if row.state == "incomplete" else state
        seen = f"{datetime.fromtimestamp(row.seen, UTC):%Y-%m-%d %H:%M} UTC"
        yield f"{row.id}  {state}, {counted('answers', row.answers)}, last seen {seen}"
    yield "resume one with: contrapose resume RUN" if rows else "no unfinished runs"


def select_recorded_tests(config: RunConfig) -> list[str]:
    """Choose the tests with recorded replies for some cases; print why others are left out; raise if none remains."""
    from contrapose.flows.cli.preview import load_previews
    from contrapose.flows.cli.validate import make_nothing_to_ask_error
    from contrapose.flows.orchestration.options import select_tests
    from contrapose.tasks.config.plan import plans
    from contrapose.tasks.core.records import Case
    from contrapose.tasks.infer.recorded import RecordedReplies, make_nothing_recorded_error

    spec, chosen, left_out = config.model_spec(), list[str](), dict[str, str]()
    asked, refused = list[Case](), list[ContraposeError]()
    for plan in plans(config):
        try:
            [preview] = load_previews(select_tests(config, [plan.test]))
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
            refused.append(make_nothing_to_ask_error(plan, preview.skips))
            left_out[plan.test] = f"it skips rows: {preview.describe_skips()}"
    if not chosen:
        raise make_nothing_recorded_error((case.id for case in asked), spec) if asked else refused[0]
    RecordedReplies().remarks(spec, chosen)
    for test, reason in left_out.items():
        say(f"{test}: skipped, because {reason}")
    return chosen


def evaluate(config: RunConfig, arguments: argparse.Namespace, *, resumed: str | None = None) -> int:
    """Run the flow, or continue an unfinished run, print its outcome, and return the exit code of its verdict."""
    from contrapose.flows.cli.start import import_libraries, name_step, start_server, stop_heartbeats
    from contrapose.flows.orchestration.spinner import hide_progress, show_step

    baseline = ""
    with hide_progress(arguments.quiet):
        with show_step("check"):
            from contrapose.flows.cli.validate import validate_run

            validate_run(config)
            if against := getattr(arguments, "against", None):
                from contrapose.tasks.compare.runs import find_baseline_folder

                baseline = find_baseline_folder(against, config)
        with show_step(name_step()), start_server():
            import_libraries()
            from contrapose.flows.evaluate_model import evaluate_model
            from contrapose.flows.orchestration.form import to_parameter

        # Before that nothing has to be finished: a signal ends the process where it is.
        with interruptible(), stop_heartbeats():
            name = getattr(arguments, "flow_run_name", None)
            flow = evaluate_model.with_options(flow_run_name=lambda: name) if name else evaluate_model
            published = flow(to_parameter(config), resumed=resumed)
    from contrapose.tasks.core.outcome import EXIT_CODES

    _print_outcome(published, arguments, show_toxic=config.show_toxic)
    verdict = published["summary"]["verdict"]
    if verdict == "incomplete" and (arguments.json or arguments.quiet):
        say(f"next: {_suggest_next_step(published)}")
    code = EXIT_CODES[verdict]
    if baseline and verdict != "incomplete":
        from contrapose.flows.cli.compare import compare_with_baseline

        code = compare_with_baseline(baseline, published["folder"], arguments)
    return 0 if arguments.exit_zero else code


def _print_outcome(published: Published, arguments: argparse.Namespace, *, show_toxic: bool) -> None:
    import webbrowser

    from rich.console import Console

    from contrapose.tasks.report.console import describe_unread, print_summary, print_verdict
    from contrapose.tasks.report.summary import to_json
    from contrapose.tasks.text.masking import mask_values

    summary, folder = published["summary"], published["folder"]
    if arguments.json:
        print(to_json(mask_values(summary, show_toxic=show_toxic)))
    elif arguments.quiet:
        print_verdict(summary, console=Console(), show_toxic=show_toxic)
        for line in describe_unread(summary):
            say(line, show_toxic=show_toxic)
    else:
        console, shown, seconds = Console(), shorten_folder(folder), time.monotonic() - arguments.began
        print_summary(
            summary,
            console=console,
            folder=shown,
            seconds=seconds,
            show_toxic=show_toxic,
            explain=arguments.explain,
        )
        console.print(f"Next: {_suggest_next_step(published)}", markup=False, highlight=False, soft_wrap=True)
    if arguments.open:
        # A report that lies elsewhere is opened from there.
        page = Path(folder) / "report.html"
        if not webbrowser.open(page.absolute().as_uri() if page.is_file() else f"{folder}/report.html"):
            say("could not open a browser; the report is named above")


def _suggest_next_step(published: Published) -> str:
    """Return the command that the outcome suggests as the next step."""
    from contrapose.tasks.load.bundled import list_bundled_sets

    summary = published["summary"]
    if summary["verdict"] == "incomplete" and summary["model"]["id"].startswith("recorded/"):
        return "record the missing replies, or judge the others: --set max_error_share=1"
    if summary["verdict"] == "incomplete":
        return f"contrapose resume {published['run']}"
    if all(outcome["data"]["source"] in list_bundled_sets() for outcome in summary["tests"]):
        return "contrapose init writes a suite for your own model and data"
    runs = shorten_folder(str(Path(published["folder"]).parent))
    return f"contrapose view {runs} --open shows all runs"


def _add_resume_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "run", nargs="?", metavar="RUN", help="id of the run or its first letters; without it, list unfinished runs"
    )
    add_budget(command)
    add_outcome(command)
    add_logs(command)


EXITS = (
    f"{VERDICTS}. With --against: 0 the model is not worse, 1 it is worse, 3 too close to call, 4 the run is incomplete"
)
VERB = Verb(options=_add_options, act=_run, example=COMMONEST["run"], exits=EXITS)
RESUME = Verb(options=_add_resume_options, act=_resume, example="resume", exits=VERDICTS)
