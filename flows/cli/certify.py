"""`contrapose certify`: how steady a judge of two answers is, and what sways it."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from contrapose.flows.cli.arguments import Verb
from contrapose.flows.cli.terminal import print_lines
from contrapose.tasks.certify.findings import GATE
from contrapose.tasks.certify.recorded import certify_verdicts
from contrapose.tasks.core.certificate import Certificate
from contrapose.tasks.report.certificate_page import certificates_file, render_board, share_words, write_certificates
from contrapose.tasks.report.console import plain_table, plain_text, verdict_text
from contrapose.tasks.report.summary import to_json

EXITS = "exit codes: 0 no bias above its gate, 1 a bias is above it, 2 usage or data, 3 undecided"
CODES = {"shown": 0, "pass": 0, "fail": 1, "inconclusive": 3}


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("verdicts", nargs="+", metavar="FILE", help="files of recorded verdicts, of one judge or of several")
    text = f"largest effect of a bias that passes, as a share (default: {GATE}, not calibrated)"
    add("--gate", type=float, default=GATE, metavar="SHARE", help=text)
    text = "least share of replies that people would pass, for files with verdicts on one answer and labels"
    add("--gate-rate", type=float, metavar="SHARE", help=text)
    add("--out", default="certificates", metavar="FOLDER", help="folder for the page (default: certificates)")
    add("--board", metavar="FILE", help="also write a table of all judges into this file of Markdown")
    add("--json", action="store_true", help="print certificate.json instead of a table, and write no page")
    add("--exit-zero", action="store_true", help="return 0 for every verdict")


def print_certificates(certificates: list[Certificate], console: Console) -> None:
    """Print a table of findings for each judge."""
    for certificate in certificates:
        verdict = certificate["verdict"]
        console.print(plain_text(certificate["judge"]), verdict_text("" if verdict == "shown" else verdict))
        table = plain_table()
        for title in ("bias", "figure (95 %)", "n", "verdict"):
            table.add_column(title)
        for finding in certificate["findings"]:
            shown = "" if finding["verdict"] == "shown" else finding["verdict"].upper()
            table.add_row(plain_text(finding["name"]), share_words(finding), f"{finding['rows']:,}", shown)
        console.print(table)
        for finding in certificate["findings"]:
            if "labels" in finding:
                console.print(plain_text(f"{finding['name']}: {finding['reason']}"))
        console.print()


def _certify(arguments: argparse.Namespace) -> int:
    certificates = certify_verdicts(arguments.verdicts, gate=arguments.gate, gate_rate=arguments.gate_rate)
    if arguments.json:
        print_lines([to_json(certificates_file(certificates))])
    else:
        folder = Path(arguments.out)
        write_certificates(folder, certificates)
        print_certificates(certificates, Console(highlight=False))
        print_lines([f"Page: {folder / 'certificate.html'}"])
    if arguments.board:
        notes = [(", ".join(arguments.verdicts), certificates)]
        Path(arguments.board).write_text(render_board(notes), encoding="utf-8")
    verdicts = {certificate["verdict"] for certificate in certificates}
    worst = next(verdict for verdict in ("fail", "inconclusive", "pass", "shown") if verdict in verdicts)
    return 0 if arguments.exit_zero else CODES[worst]


VERB = Verb(options=_add_options, act=_certify, example="certify verdicts.jsonl", exits=EXITS)
