"""`contrapose view`: runs and their history in a browser, on this machine only."""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from contrapose.flows.cli.arguments import Verb, add_history
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.serve.child_processes import catch_stop
from contrapose.flows.serve.report_server import serve_site
from contrapose.flows.serve.view.runs import FILES, REFUSED
from contrapose.flows.serve.view.site import Viewer
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.model_files import existing_folder
from contrapose.tasks.history.dataset import find_place

FIRST_PAGES = {
    "summary.json": "report.html",
    REFUSED: "validation.html",
    "comparison.html": "comparison.html",
    "comparison.json": "comparison.md",
}
"""Files that show the kind of a folder, with the page that is opened first there."""


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("folder", nargs="?", default="runs", metavar="FOLDER", help="folder of runs, or of one run (default: runs)")
    add_history(command)
    add("--port", type=int, default=0, metavar="N", help="port on loopback (default: any free one)")
    add("--open", action="store_true", help="open the browser")


def _serve(arguments: argparse.Namespace) -> Iterator[str]:
    """Serve a folder of runs, or of one run, until Ctrl-C, TERM, or the terminal is closed; yield lines."""
    root, start = choose_folder(arguments.folder)
    site = Viewer(root=root, history=find_place(arguments.history, str(root)))
    with catch_stop() as asked, serve_site(site, port=arguments.port) as served:
        link = served.link(start)
        yield f"ready: {link} (Ctrl-C stops it; the address works once, in one browser)"
        if arguments.open:
            webbrowser.open(link)
        asked.wait()
    yield "stopped"


def choose_folder(name: str) -> tuple[Path, str]:
    """Return the folder of runs, and the first page to open if the name is that of one run or comparison."""
    existing = existing_folder(name)
    if existing is None:
        raise ConfigError(
            "no such folder",
            expected="the folder that receives runs, or that of one run or comparison",
            remedy="Name it, or start a first run: contrapose run.",
            where=name,
        )
    folder = existing.resolve()
    for kept, page in FIRST_PAGES.items():
        if (folder / kept).is_file():
            return folder.parent, f"{FILES}{quote(folder.name)}/{page}"
    return folder, "/"


VERB = Verb(
    options=_add_options,
    act=lambda arguments: print_lines(_serve(arguments), at_once=True),
    example="view --open",
)
