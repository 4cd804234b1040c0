"""`contrapose shrink`: find the shortest prompt of a failed case with which its test still fails."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from contrapose.flows.cli.arguments import Verb, add_budget, add_logs, add_toxic, shorten_folder
from contrapose.flows.cli.terminal import print_lines
from contrapose.tasks.shrink.shortest import MOST_CALLS, REPEATS
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.masking import make_shower, mask_values

LONGEST = 400
"""Characters of a text on the screen."""


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("run", metavar="RUN", help="folder of a finished run, or its id")
    add("case", metavar="CASE", help="id of a failed case, or of its sample")
    add("--runs", default="runs", metavar="FOLDER", help="folder of the runs that ids name (default: runs)")
    text = f"count a prompt as failed if it fails N times (default: {REPEATS}; 1 where replies never differ)"
    add("--repeats", type=int, default=REPEATS, metavar="N", help=text)
    add("--json", action="store_true", help="print JSON instead of text")
    add_budget(command)
    command.set_defaults(max_calls=MOST_CALLS)
    add_toxic(command)
    add_logs(command)


def _shrink(arguments: argparse.Namespace) -> int:
    from contrapose.flows.cli.start import ensure_block_server
    from contrapose.flows.orchestration.spinner import show_step
    from contrapose.flows.shrinking import open_case, shrink_case
    from contrapose.tasks.infer.budget import Limits

    failed = open_case(arguments.run, arguments.case, runs=arguments.runs)
    ensure_block_server(failed.config.key_block)
    limits = Limits(max_calls=arguments.max_calls, max_tokens=arguments.max_tokens, max_cost=arguments.max_cost)
    with show_step("shrink"):
        prompt = shrink_case(failed, limits=limits, repeats=arguments.repeats)
    show_toxic = arguments.show_toxic or failed.config.show_toxic
    if arguments.json:
        return print_lines([json.dumps(mask_values(asdict(prompt), show_toxic=show_toxic), indent=2)])
    show, page = make_shower(show_toxic=show_toxic, longest=LONGEST), shorten_folder(f"{failed.folder}/report.html")
    texts = {"prompt": prompt.text, "reply": prompt.before, "changed": prompt.changed, "its reply": prompt.after}
    lines = (f"  {label:<11}{one_line(show(text))}" for label, text in texts.items())
    head, end = f"{prompt.case_id}: {prompt.outcome()}", f"{prompt.spending()}. Report: {page}"
    return print_lines([one_line(show(head)), *lines, end])


VERB = Verb(options=_add_options, act=_shrink, example="shrink RUN casing/question-7")
