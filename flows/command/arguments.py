"""What the commands take: options that several share, and those of preview."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from contrapose.tasks.comparison import MARGIN


class Version(argparse.Action):
    """Print the version; reading it costs nothing unless it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        """Print it and exit."""
        from importlib.metadata import version

        print(f"contrapose {version('contrapose')}")
        parser.exit()


def add_config(command: argparse.ArgumentParser) -> None:
    """The options of a command that starts from a suite."""
    _add_suite(command, default="quickstart", told="quickstart")
    _add_changes(command)
    command.add_argument(
        "--expectations",
        action="append",
        metavar="FILE",
        help="further Great Expectations that every table must keep to; may be given again",
    )
    add_budget(command)


def add_preview(command: argparse.ArgumentParser) -> None:
    """The options of preview; `--probe` and `--input` are what people who only perturb call a test and its data."""
    _add_suite(command, default=None, told="every test with its default settings, all samples")
    _add_changes(command, test="--probe", data="--input")
    command.add_argument(
        "--show", type=int, default=10, metavar="N", help="show at most N samples a test, spread evenly (default: 10)"
    )
    command.add_argument("--skipped", action="store_true", help="show samples that are skipped, each with its reason")
    add_toxic(command)
    command.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object per sample, all of them, as raw text: toxic words are not masked; edits are the "
        "parts {start, end, new} of the original that were replaced, in characters; a sample with several cases "
        "has the first at the top level and all of them under cases",
    )


def add_run(command: argparse.ArgumentParser) -> None:
    """How a run tells its outcome."""
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print summary.json instead of a table")
    shown.add_argument("-q", "--quiet", action="store_true", help="print the verdict only, and no progress")
    command.add_argument("--exit-zero", action="store_true", help="return 0 whatever the verdict is")


def add_estimate(command: argparse.ArgumentParser) -> None:
    """The options of estimate: those of run, so that one word changes the one command into the other."""
    add_config(command)
    command.add_argument("--refresh", action="store_true", help="count what is answered, too")
    command.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.add_argument("--out", help=argparse.SUPPRESS)
    for name in ("--show-toxic", "--exit-zero"):
        command.add_argument(name, action="store_true", help=argparse.SUPPRESS)


def add_cache(command: argparse.ArgumentParser) -> None:
    """What to do with the response store."""
    actions = command.add_subparsers(dest="what", required=True, metavar="action")
    actions.add_parser("info", help="where the response store is and what it holds")
    clear = actions.add_parser("clear", help="forget answers")
    clear.add_argument("--older-than", type=float, metavar="DAYS", help="only answers that are older")
    clear.add_argument("--yes", action="store_true", help="do not ask whether that is meant")
    export = actions.add_parser("export", help="print answers as JSON, a line each, as raw text")
    for each in (clear, export):
        each.add_argument("--model", metavar="ID", help="only answers of this model")


def add_compare(command: argparse.ArgumentParser) -> None:
    """Which runs are compared, and how strictly."""
    command.add_argument("run", nargs="+", metavar="RUN", help="folder of a finished run, or its id")
    command.add_argument("--runs", default="runs", metavar="FOLDER", help="where ids are looked for (default: runs)")
    command.add_argument("--baseline", metavar="RUN", help="the run that the others are held against (default: first)")
    command.add_argument(
        "--margin",
        type=float,
        default=MARGIN,
        metavar="SHARE",
        help=f"loss of pass rate that is still called not worse (default: {MARGIN})",
    )
    command.add_argument("--json", action="store_true", help="print comparison.json instead of tables")
    command.add_argument("--out", metavar="FOLDER", help="folder that receives comparison.json and comparison.md")
    command.add_argument("--exit-zero", action="store_true", help="return 0 whatever the verdict is")


def add_history(command: argparse.ArgumentParser) -> None:
    """Which runs of the past are told, and how."""
    command.add_argument("--suite", metavar="NAME", help="only runs of this suite")
    command.add_argument("--model", metavar="ID", help="only runs of this model")
    command.add_argument("--test", action="append", default=[], metavar="NAME", help="only this test; may be repeated")
    shown = command.add_mutually_exclusive_group()
    shown.add_argument(
        "--last", type=int, default=20, metavar="N", help="at most N runs of each suite and model (default: 20; 0: all)"
    )
    shown.add_argument(
        "--changes",
        action="store_true",
        help="which of model, data, prompt, scorer and library changed since the last run that passed",
    )
    command.add_argument("--format", choices=("table", "json", "csv"), default="table", help="(default: table)")
    command.add_argument("--out", default="runs", metavar="FOLDER", help="folder that receives runs (default: runs)")
    add_history_place(command)


def add_history_place(command: argparse.ArgumentParser) -> None:
    """Where the history is."""
    command.add_argument(
        "--history",
        metavar="FOLDER|URL",
        help="folder or fsspec URL of the history (default: CONTRAPOSE_HISTORY, or .history beside the runs)",
    )


def add_view(command: argparse.ArgumentParser) -> None:
    """What is shown in a browser."""
    command.add_argument(
        "folder", nargs="?", default="runs", metavar="FOLDER", help="of runs, or of one (default: runs)"
    )
    add_history_place(command)
    command.add_argument("--port", type=int, default=0, metavar="N", help="port on loopback (default: any free one)")
    command.add_argument("--open", action="store_true", help="open the browser")


def add_doctor(command: argparse.ArgumentParser) -> None:
    """What the doctor looks at beside the machine."""
    _add_suite(command, default=None, told="only the machine is looked at")
    _add_changes(command)
    command.add_argument("--json", action="store_true", help="print the findings as JSON")


def add_deploy(command: argparse.ArgumentParser) -> None:
    """What a team changes about the deployments; without any of it they are as in deployments/prefect.yaml."""
    _add_suite(command, default=None, told="as deployed, full")
    _add_changes(command)
    add_budget(command)
    command.add_argument("--cron", metavar="CRON", help='when nightly runs, such as "0 2 * * *"')
    command.add_argument("--timezone", metavar="NAME", help="time zone of --cron, such as Europe/Paris (default: UTC)")
    command.add_argument(
        "--work-dir",
        default=".",
        metavar="FOLDER",
        help="folder on the worker that runs take place in, and that receives runs (default: the current one)",
    )
    command.add_argument(
        "--notify",
        action="append",
        default=[],
        metavar="TYPE/NAME",
        help="block that alerts are sent through, such as slack-webhook/team; may be given again",
    )


def add_announce(command: argparse.ArgumentParser) -> None:
    """Which model was retrained."""
    command.add_argument("retrained", metavar="MODEL", help="its id: hf/<org>/<name>, hf/<folder>, openai/<model>")
    command.add_argument("--revision", default="", metavar="R", help="which one it is, where the id does not tell")
    command.add_argument("--training-run", default="", metavar="T", help="what made it; this or --revision is needed")


def add_ui(command: argparse.ArgumentParser) -> None:
    """What the local server takes beside the deployments' options."""
    command.add_argument("--port", type=int, metavar="N", help="port on loopback (default: 4200, or any that is free)")
    add_deploy(command)


def add_toxic(command: argparse.ArgumentParser) -> None:
    """The option that shows what is masked otherwise."""
    command.add_argument("--show-toxic", action="store_true", help="show toxic words instead of masking them")


def _add_suite(command: argparse.ArgumentParser, *, default: str | None, told: str) -> None:
    command.add_argument(
        "--suite", default=default, metavar="NAME|FILE", help=f"bundled suite or YAML file (default: {told})"
    )


def _add_changes(command: argparse.ArgumentParser, *, test: str | None = None, data: str | None = None) -> None:
    """The options that change a configuration; `test` and `data` are further names of these two."""
    command.add_argument("--model", help="embedded, hf/<org>/<name>, hf/<folder>, openai/<model>, mock")
    command.add_argument(
        *("--data", *filter(None, [data])),
        metavar="SOURCE",
        help=f"bundled name, file, URL or hf/<dataset> for every test{_same(data)}",
    )
    command.add_argument("--limit", type=int, metavar="N", help="at most N samples a test")
    command.add_argument(
        *("--test", *filter(None, [test])),
        action="append",
        metavar="NAME",
        help=f"only this test; may be given again{_same(test)}",
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any key of the suite, such as seed=7"
    )
    command.add_argument("--logs", action="store_true", help="show Prefect's log")


def add_budget(command: argparse.ArgumentParser) -> None:
    """The most that a run may spend."""
    command.add_argument("--max-calls", type=int, metavar="N", help="at most N requests in the whole run")
    command.add_argument("--max-tokens", type=int, metavar="N", help="at most N tokens in the whole run, both ways")
    command.add_argument("--max-cost", type=float, metavar="USD", help="at most that many US dollars in the whole run")


def _same(name: str | None) -> str:
    return f" ({name} is the same)" if name else ""
