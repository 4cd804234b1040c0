"""`make pictures`: the pictures of the report in docs, from a run that is made for them."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

PICTURES: dict[str, tuple[int, int, Literal["light", "dark"]]] = {
    "report.png": (1280, 1600, "light"),
    "report-dark.png": (1280, 1600, "dark"),
    "report-narrow.png": (390, 1600, "light"),
}
"""Width, height and colours of each."""


def main() -> int:
    """Make the run, and take its pictures."""
    parser = argparse.ArgumentParser(description="Take the pictures of the report.")
    parser.add_argument("--model", default="embedded", help="model that is judged (default: embedded)")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1], help="folder (default: docs)")
    arguments = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not installed: make debian", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        verb = ["run", "--suite", "quickstart", "--model", arguments.model, "--exit-zero", "--out", folder]
        subprocess.run([sys.executable, "-m", "contrapose.flows.cli", *verb], check=True)
        (report,) = Path(folder).glob("*/report.html")
        take(report, arguments.out, chromium=chromium)
    return 0


def take(report: Path, folder: Path, *, chromium: str) -> None:
    """Each picture of a page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (width, height, colours) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=colours)
            page.goto(report.as_uri())
            page.wait_for_load_state("networkidle")
            page.screenshot(path=folder / name)
            page.close()
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
