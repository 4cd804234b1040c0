"""Pages that are made when they are asked for: comparisons of ticked runs, and Markdown as people read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markupsafe import Markup

from contrapose.flows.serve.view.runs import asked_file, below
from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.flips import flips_of
from contrapose.tasks.core.errors import ComparisonError
from contrapose.tasks.report import comparison_page

MOST_COMPARED = 8
"""Runs in one comparison."""

COMPARED_FILES = ("summary.json", "manifest.json", "cases.parquet", "results.parquet")

LONGEST_TEXT = 5_000_000
"""Bytes of a text that is shown as a page."""


def compared_page(root: Path, names: Sequence[str]) -> bytes:
    """The page of the comparison of some runs; the oldest is the baseline.

    Args:
        root: folder of runs, resolved.
        names: of their folders, quoted as in addresses.

    Raises:
        ComparisonError: fewer than two, or too many, are named, one is not finished, or they asked different things.
    """
    folders = [_run_folder(root, unquote(name)) for name in dict.fromkeys(names)]
    if not 2 <= len(folders) <= MOST_COMPARED:
        raise ComparisonError(
            f"{len(folders)} runs are ticked",
            expected=f"2 to {MOST_COMPARED}",
            remedy="Go back, and tick the runs that are to be compared.",
        )
    comparison = compare(sorted(folders))
    return comparison_page.render(comparison, flips_of(comparison))


def _run_folder(root: Path, name: str) -> str:
    # Each of its files on its own: a link may lead elsewhere.
    if not all(below(root, [name, file]) for file in COMPARED_FILES):
        raise ComparisonError(
            f"{name!r} is no finished run here",
            expected="runs of this folder",
            remedy="Go back, and tick the runs that are to be compared.",
        )
    return str(root / name)


def text_page(root: Path, path: str) -> Markup | None:
    """A Markdown file below a folder as HTML that holds no link, no picture, and no markup but a report's own.

    Args:
        root: the folder, resolved.
        path: below it, as a browser sends it.
    """
    file = asked_file(root, path)
    if file is None or file.suffix.lower() != ".md" or file.stat().st_size > LONGEST_TEXT:
        return None
    reader = _reader()
    tokens = reader.parse(file.read_text("utf-8", errors="replace"))
    for token in tokens:
        # The policy of the page allows no style but that of its sheet.
        if "right" in str(token.attrs.pop("style", "")):
            token.attrSet("class", "number")
    return Markup(reader.renderer.render(tokens, reader.options, {}))  # noqa: S704 (the reader escapes it)


OWN_TAGS = re.compile(r"<(?!/?(?:b|br|details|summary)>)")
"""Begins everything but the tags of a report's own Markdown, which have no attributes."""


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark").enable("table").disable(["link", "image", "autolink", "reference"])
    reader.add_render_rule("html_inline", _escaped)
    reader.add_render_rule("html_block", _escaped)
    return reader


def _escaped(_renderer: Any, tokens: Sequence[Any], place: int, _options: Any, _env: Any) -> str:
    return OWN_TAGS.sub("&lt;", tokens[place].content)
