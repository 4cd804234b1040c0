"""Debian's Chromium, for tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

WITHOUT_A_WINDOW, WHOLE = "chromium-headless-shell", "chromium"
PATIENCE = 30_000
"""Milliseconds that a page has until what is expected of it is there; a busy machine is slow."""


@contextmanager
def chromium(*arguments: str, whole: bool = False) -> Iterator[Browser]:
    """A browser; the test is skipped where there is none.

    Args:
        arguments: of its own, further ones.
        whole: whether it must be the one that people use; otherwise the one that has no window at all is taken where
            it is installed, since it opens a page in a third of the time.
    """
    names = (WHOLE, "google-chrome") if whole else (WITHOUT_A_WINDOW, WHOLE, "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"There is no {names[0]}. Install it: apt-get install {names[0]}")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox", *arguments])
        yield browser
        browser.close()
