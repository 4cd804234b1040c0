"""Pages keep the limits of docs/tools/readability.py: words a sentence, and reading ease for newcomers."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs_pages import DOCS, pages
from places import REPOSITORY


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_page_is_easy_to_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS / "tools")
    import readability

    assert readability.measure_page(path).faults(ease=readability.needs_ease(path)) == []
