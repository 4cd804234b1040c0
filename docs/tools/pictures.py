"""`make pictures`: every picture of docs, and the pages of its gallery, from commands that are run for them."""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

import prefect_pages
from commands import COLUMNS, commands, run
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

DOCS = Path(__file__).parents[1]
PAGES = {
    "quickstart/report.html": "runs/*-quickstart-embedded",
    "quickstart/validation.html": "runs/*-quickstart-embedded",
    "comparison/comparison.html": "comparison",
    "recorded/report.html": "runs/*-quickstart-results.csv",
    "recorded/validation.html": "runs/*-quickstart-results.csv",
    "judge/report.html": "runs/*-judge-embedded",
    "judge/validation.html": "runs/*-judge-embedded",
}
"""Pages of docs/gallery, and the folders that the commands of docs/gallery.md leave them in."""


class View(NamedTuple):
    """How a page is looked at."""

    page: str
    width: int
    height: int
    colours: Literal["light", "dark"] = "light"


VIEWS = {
    "report.png": View("quickstart/report.html", 1280, 1400),
    "report-dark.png": View("quickstart/report.html", 1280, 1400, "dark"),
    "report-narrow.png": View("quickstart/report.html", 390, 1400),
    "comparison.png": View("comparison/comparison.html", 1280, 1265),
}
"""Pictures of pages of the gallery."""
TERMINAL = "terminal.png"
"""Picture of what the first command of the gallery prints."""
WINDOW = """<!DOCTYPE html>
<meta charset="utf-8">
<style>
body {{ margin: 0; background: transparent; }}
pre {{ box-sizing: border-box; display: inline-block; margin: 0; padding: 20px 24px; border-radius: 10px;
  background: {background}; color: {foreground}; font: 15px/1.4 "DejaVu Sans Mono", monospace; }}
</style>
<pre>{code}</pre>
"""


def main() -> int:
    """Run the commands, and take the pictures of what they leave."""
    parser = argparse.ArgumentParser(description="Take the pictures of docs, and make the pages of its gallery.")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder (default: docs)")
    parser.add_argument("--folder", type=Path, help="work there, and run no command again that was run there")
    arguments = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not installed: make debian", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = (arguments.folder or Path(temporary)).resolve()
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        prefect_pages.take(browser, arguments.out, folder / "ui")
        take_terminal(browser, arguments.out / TERMINAL, _make_gallery(arguments.out, folder / "gallery"))
        take_pages(browser, arguments.out)
        browser.close()
    return 0


def _make_gallery(docs: Path, folder: Path) -> str:
    """Run the commands of the gallery, and copy their pages; what the first one is and prints."""
    folder.mkdir(parents=True, exist_ok=True)
    blocks = commands(DOCS / "gallery.md")
    for number, block in enumerate(blocks):
        printed = folder / f"{number}.txt"
        if not printed.exists():
            printed.write_text(run(block, folder))
    for name, place in PAGES.items():
        (left,) = folder.glob(place)
        page = docs / "gallery" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(left / page.name, page)
    return f"$ {blocks[0]}{(folder / '0.txt').read_text()}"


def take_terminal(browser: Browser, picture: Path, printed: str) -> None:
    """A terminal with what a command prints."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(printed.rstrip()))
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_content(console.export_html(theme=MONOKAI, code_format=WINDOW, inline_styles=True))
    page.locator("pre").screenshot(path=picture, omit_background=True)
    page.close()


def take_pages(browser: Browser, docs: Path) -> None:
    """The pages of the gallery."""
    for name, (file, width, height, colours) in VIEWS.items():
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=colours)
        page.goto((docs / "gallery" / file).resolve().as_uri())
        page.wait_for_load_state("networkidle")
        page.screenshot(path=docs / name)
        page.close()


if __name__ == "__main__":
    sys.exit(main())
