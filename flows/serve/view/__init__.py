"""`contrapose view`: runs and their history in a browser, on this machine only."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from contrapose.flows.serve.child_processes import stopping
from contrapose.flows.serve.report_server import serving_site
from contrapose.flows.serve.view.runs import FILES, REFUSED
from contrapose.flows.serve.view.site import Viewer
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.model_files import existing_folder
from contrapose.tasks.history.dataset import place

FIRST = {
    "summary.json": "report.html",
    REFUSED: "validation.html",
    "comparison.html": "comparison.html",
    "comparison.json": "comparison.md",
}
"""Files that show the kind of a folder, with the page that is opened first there."""


def view(name: str, *, history: str | None = None, port: int = 0, browser: bool = False) -> Iterator[str]:
    """Serve a folder of runs, or of one run, until Ctrl-C, TERM, or the terminal is closed; yield lines.

    Raises ConfigError where there is no such folder, or the port is taken.
    """
    root, start = choose_folder(name)
    site = Viewer(root=root, history=place(history, str(root)))
    with stopping() as asked, serving_site(site, port=port) as served:
        link = served.link(start)
        yield f"ready: {link} (Ctrl-C stops it; the address works once, in one browser)"
        if browser:
            webbrowser.open(link)
        asked.wait()
    yield "stopped"


def choose_folder(name: str) -> tuple[Path, str]:
    """Return the folder of runs, and the path to begin at, where the name is that of one run or comparison."""
    existing = existing_folder(name)
    if existing is None:
        raise ConfigError(
            "no such folder",
            expected="the folder that receives runs, or that of one run or comparison",
            remedy="Name it, or start a first run: contrapose run.",
            where=name,
        )
    folder = existing.resolve()
    for kept, page in FIRST.items():
        if (folder / kept).is_file():
            return folder.parent, f"{FILES}{quote(folder.name)}/{page}"
    return folder, "/"
