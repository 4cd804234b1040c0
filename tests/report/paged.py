"""A report's page in Chromium, from disk and without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page

from contrapose.tasks.report import html
from contrapose.tasks.report.base import Report

GLOBALS = "Object.getOwnPropertyNames(window).sort()"


@dataclass(slots=True)
class Opened:
    """A page, and what it did that it should not."""

    page: Page
    faults: list[str] = field(default_factory=list)
    """Errors in the console, errors of the script, dialogs, and requests beside the file itself."""

    def ids(self) -> list[str]:
        """Sample ids that are shown."""
        return self.page.locator("#rows .who > span").all_inner_texts()

    def status(self) -> str:
        return self.page.locator("#status").inner_text()


@contextmanager
def opened(
    browser: Browser, file: Path, *, scheme: Literal["light", "dark"] = "light", **options: Any
) -> Iterator[Opened]:
    """The page when all its texts are there; whatever it asks for beside itself is refused and kept."""
    context = browser.new_context(offline=True, color_scheme=scheme, reduced_motion="reduce", **options)
    found = Opened(context.new_page())
    page, url = found.page, file.as_uri()
    page.on("console", lambda message: found.faults.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: found.faults.append(f"script: {error}"))
    page.on("dialog", lambda dialog: (found.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("popup", lambda popup: found.faults.append(f"popup: {popup.url}"))

    def routed(route: Any) -> None:
        if route.request.url == url:
            route.continue_()
        else:
            found.faults.append(f"request: {route.request.url[:200]}")
            route.abort()

    page.route("**/*", routed)
    page.goto(url)
    page.wait_for_selector("html.loaded", state="attached")
    yield found
    context.close()


def write(report: Report, file: Path) -> Path:
    file.write_bytes(b"".join(html.render(report)))
    return file
