"""`contrapose certify`: measure how consistent a judge is, which cues sway it, and how reliable an agent is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from contrapose.flows.cli.arguments import Verb, add_budget, add_changes, load_chosen_config
from contrapose.flows.cli.terminal import print_lines, say
from contrapose.tasks.certify.agents import check_gates
from contrapose.tasks.certify.findings import GATE
from contrapose.tasks.core.certificate import Certificate, FindingVerdict
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.registry import names
from contrapose.tasks.report.certificate_page import (
    describe_case_count,
    format_share,
    list_certificates,
    list_divergences,
    render_board,
    write_certificates,
)
from contrapose.tasks.report.console import color_verdict, make_cell, make_table
from contrapose.tasks.report.summary import to_json

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig

EXITS = "exit codes: 0 no figure misses its gate, 1 one misses it, 2 usage or data, 3 undecided"
CODES: dict[FindingVerdict, int] = {"shown": 0, "pass": 0, "inconclusive": 3, "fail": 1}


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    text = "a judge, named as a model in a run (openai/<model>, app/…, mock), or files of recorded verdicts or trials"
    add("judge", nargs="+", metavar="JUDGE|FILE", help=text)
    text = f"largest effect of the position that passes, as a share (default: {GATE}, not calibrated)"
    add("--gate", type=float, default=GATE, metavar="SHARE", help=text)
    text = "least share of replies that people would pass, for files with verdicts on one answer and labels"
    add("--gate-rate", type=float, metavar="SHARE", help=text)
    text = "least pass^K that passes, such as 3=0.25, for files with trials of an agent; may be repeated"
    add("--min-pass-hat", action="append", default=[], metavar="K=SHARE", help=text)
    text = "suite of the tests of a judge (default: certify)"
    add("--suite", default="certify", metavar="NAME|FILE", help=text)
    add("--out", metavar="FOLDER", help="folder for the page of recorded verdicts, or for the run of a judge")
    add("--board", metavar="FILE", help="also write a table of all judges into this file of Markdown")
    add("--json", action="store_true", help="print certificate.json instead of a table")
    add("--exit-zero", action="store_true", help="return 0 for every verdict")
    add_changes(command)
    add_budget(command)


def _is_recorded(judges: Sequence[str]) -> bool:
    """Return whether the arguments are files of verdicts; raise ConfigError for several judges, or a mix of both."""
    recorded = [Path(judge).is_file() or _is_table_name(judge) for judge in judges]
    if all(recorded) or len(judges) == 1:
        return all(recorded)
    raise ConfigError(
        f"{len(judges)} judges",
        expected="one judge, or files of recorded verdicts",
        remedy="Certify one after the other.",
        where="JUDGE",
    )


def _is_table_name(judge: str) -> bool:
    """Return whether the argument has the ending of a table file, and names no model."""
    ending = judge.removesuffix(".gz").rpartition(".")[2].lower()
    return ending in names("sources") and judge.partition("/")[0] not in names("providers")


def print_certificates(certificates: list[Certificate], console: Console) -> None:
    """Print a table of findings for each judge."""
    for certificate in certificates:
        verdict = certificate["verdict"]
        console.print(make_cell(certificate["judge"]), color_verdict("" if verdict == "shown" else verdict))
        if is_agent := "tasks" in certificate:
            console.print(describe_case_count(certificate))
        table = make_table()
        for title in ("measure" if is_agent else "bias", "figure (95 %)", "n", "verdict"):
            table.add_column(title)
        for finding in certificate["findings"]:
            shown = "" if finding["verdict"] == "shown" else finding["verdict"].upper()
            table.add_row(make_cell(finding["name"]), format_share(finding), f"{finding['rows']:,}", shown)
        console.print(table)
        for finding in certificate["findings"]:
            if "labels" in finding or (is_agent and finding["reason"]):
                console.print(make_cell(f"{finding['name']}: {finding['reason']}"))
        if partings := list_divergences(certificate):
            table = make_table()
            for title in ("how failed trials part from a passed one", "at call", "trials"):
                table.add_column(title)
            for parting in partings:
                table.add_row(*map(make_cell, parting))
            console.print(table)
        console.print()


def _certify(arguments: argparse.Namespace) -> int:
    certificates = _certify_files(arguments) if _is_recorded(arguments.judge) else [_certify_judge(arguments)]
    if arguments.board:
        boards = [(", ".join(arguments.judge), "", certificates)]
        Path(arguments.board).write_text(render_board(boards), encoding="utf-8")
    verdicts = {certificate["verdict"] for certificate in certificates}
    worst = next(verdict for verdict in ("fail", "inconclusive", "pass", "shown") if verdict in verdicts)
    return 0 if arguments.exit_zero else CODES[worst]


def _read_gates(texts: Sequence[str]) -> dict[int, float]:
    """Return the smallest accepted pass^k for each k, from texts such as 3=0.25."""
    try:
        return {int(k): float(share) for k, _, share in (text.partition("=") for text in texts)}
    except ValueError as error:
        raise ConfigError(
            ", ".join(texts),
            expected="K=SHARE, with a whole number and a share",
            remedy="Write --min-pass-hat 3=0.25 for pass^3 of at least 25 %.",
            where="--min-pass-hat",
        ) from error


def _certify_files(arguments: argparse.Namespace) -> list[Certificate]:
    """Certify recorded judges, and write their page."""
    from contrapose.tasks.certify.recorded import certify_verdicts

    gates = _read_gates(arguments.min_pass_hat)
    certificates = certify_verdicts(
        arguments.judge, gate=arguments.gate, gate_rate=arguments.gate_rate, min_pass_hat=gates
    )
    folder = Path(arguments.out or "certificates")
    _show(certificates, arguments)
    if not arguments.json:
        write_certificates(folder, certificates)
        print_lines([f"Page: {folder / 'certificate.html'}"])
    return certificates


def _certify_judge(arguments: argparse.Namespace) -> Certificate:
    """Print the number of calls, ask a judge, and return its certificate, which is in the folder of the run."""
    from contrapose.flows.cli.start import begin_server, import_libraries, name_step, start_server, stop_heartbeats
    from contrapose.flows.orchestration.spinner import hide_progress, show_step
    from contrapose.tasks.certify.evaluated import certify_run

    check_gates(_read_gates(arguments.min_pass_hat), judges=arguments.judge[0])
    (arguments.model,) = arguments.judge
    arguments.changes = {} if arguments.out is None else {"output": arguments.out}
    begin_server()
    with hide_progress(arguments.json):
        with show_step("check"):
            config = load_chosen_config(arguments)
            announced = _describe_calls(config)
        say(announced)
        with show_step(name_step()), start_server():
            import_libraries()
            from contrapose.flows.evaluate_model import evaluate_model
            from contrapose.flows.orchestration.form import to_parameter

        with stop_heartbeats():
            published = evaluate_model(to_parameter(config))
    certificate = certify_run(published["summary"], gate=arguments.gate)
    _show([certificate], arguments)
    if not arguments.json:
        print_lines([f"Page: {published['folder']}/certificate.html"])
    return certificate


def _describe_calls(config: RunConfig) -> str:
    """Return how many calls a judge gets, and how long they take if that is known."""
    from contrapose.flows.cli.estimate import estimate
    from contrapose.tasks.text.wording import counted, format_span

    predicted = estimate(config)
    seconds = predicted.forecast.seconds.value
    time = "" if seconds is None else f", about {format_span(seconds)}"
    return f"{config.model} gets {counted('calls', predicted.total.calls)}{time}."


def _show(certificates: list[Certificate], arguments: argparse.Namespace) -> None:
    """Print certificates as JSON or as tables."""
    if arguments.json:
        print_lines([to_json(list_certificates(certificates))])
    else:
        print_certificates(certificates, Console(highlight=False))


VERB = Verb(options=_add_options, act=_certify, example="certify openai/gpt-4.1-mini --data pairs.jsonl", exits=EXITS)
