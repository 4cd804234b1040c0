"""What `contrapose view` serves: the list of runs, their history, and the files of the folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

from contrapose.flows.serve.report_server import PageReply
from contrapose.flows.serve.view.pages import Pages, history_page, policy, runs_page
from contrapose.flows.serve.view.runs import file_reply, listed, run_names
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.history.queries import runs
from contrapose.tasks.history.reading import recorded
from contrapose.tasks.history.series import Series, series
from contrapose.tasks.text.masking import Show, shower

FILES = "/files/"
"""Under which the folder is served."""

RUNS_SHOWN = 50
SERIES_SHOWN = 12
"""On a page."""

MOST_RUNS = 40
"""Of a model in a suite, in the history; the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The site."""

    root: Path
    """Folder of runs, resolved."""
    history: str
    """Folder or URL of the history."""

    def __call__(self, path: str) -> PageReply | None:
        """The reply to a path; None where there is nothing."""
        if path.startswith(FILES):
            return file_reply(self.root, path.removeprefix(FILES).partition("?")[0])
        name, _, query = path.partition("?")
        maker = {"/": self._runs, "/history": self._history}.get(name)
        if maker is None:
            return None
        return PageReply(content=maker(_number(query), shower(show_toxic=False)), policy=policy())

    def _runs(self, number: int, show: Show) -> bytes:
        try:
            names = run_names(self.root)
        except OSError:
            names = []
        pages = Pages.over(len(names), number, RUNS_SHOWN)
        return runs_page(listed(self.root, names[pages.first : pages.end], show, files=FILES), pages)

    def _history(self, number: int, show: Show) -> bytes:
        shown, warning = self._series()
        pages = Pages.over(len(shown), number, SERIES_SHOWN)
        return history_page(shown[pages.first : pages.end], show, pages, warning=show(warning))

    def _series(self) -> tuple[list[Series], str]:
        try:
            history = recorded(self.history)
        except ContraposeError as error:
            return [], str(error)
        return series(runs(history.rows, last=MOST_RUNS)), history.warning


def _number(query: str) -> int:
    """The number of the page that is asked for; the first where it is none."""
    text = parse_qs(query[:100]).get("page", ["1"])[0]
    return int(text) if text.isascii() and text.isdecimal() else 1
