"""The committed pages of the reference are those that the code gives."""

from __future__ import annotations

import pytest
from docs_pages import DOCS


def test_reference_pages_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS / "tools")
    import reference

    stale = [place for place, text in reference.pages().items() if (DOCS / place).read_text("utf-8") != text]
    assert stale == [], "run: .venv/bin/python docs/tools/reference.py"
