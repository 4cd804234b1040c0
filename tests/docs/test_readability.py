"""Pages keep the limits of docs/tools/readability.py: words a sentence, and reading ease for newcomers."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs_pages import DOCS, pages
from places import REPOSITORY

GENERATED = {f"docs/reference/{name}.md" for name in ("commands", "settings", "providers", "python")}
"""Their sentences are help texts and docstrings."""
UNFINISHED = {"README.md", "docs/index.md", "docs/tutorial.md"} | {
    path.relative_to(REPOSITORY).as_posix()
    for path in (*(DOCS / "how-to").glob("*.md"), *(REPOSITORY / "deployments").glob("*/README.md"))
}
"""Pages that are still to be written in plain English; remove a page from here once it passes."""


def measured() -> list[Path]:
    """Return the pages that must keep the limits."""
    left_out = GENERATED | UNFINISHED
    return [path for path in pages() if path.relative_to(REPOSITORY).as_posix() not in left_out]


@pytest.mark.parametrize("path", measured(), ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_page_is_easy_to_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS / "tools")
    import readability

    assert readability.measure_page(path).faults(ease=readability.needs_ease(path)) == []
