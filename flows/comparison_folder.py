"""Folder of a comparison: figures, text, and a page that shows which samples changed."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from contrapose.tasks.compare.flips import find_flips
from contrapose.tasks.core.comparison import Comparison
from contrapose.tasks.core.places import Place
from contrapose.tasks.report.comparison_page import write_comparison
from contrapose.tasks.report.publish import find_free_folder, write_folder


def publish_comparison(comparison: Comparison, base: Place, *, suite: str = "", show_toxic: bool = False) -> Place:
    """Publish a comparison in a new folder below `base`, completely or not at all; its name contains the suite.

    Raises ComparisonError if a run is gone, and ConfigError if the folder cannot be written.
    """
    parts = [f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}", *([suite] if suite else []), "comparison"]
    flips, folder = find_flips(comparison), find_free_folder(base, "-".join(parts)).resolved()
    fill = partial(write_comparison, comparison=comparison, flips=flips, show_toxic=show_toxic)
    write_folder(folder, fill, last="comparison.json")
    return folder


def rewrite_comparison(folder: Path, comparison: Comparison, *, show_toxic: bool = False) -> Place:
    """Write a comparison into a folder; if it exists, keep its other files. Raises the same errors."""
    place = Place(str(folder))
    fill = partial(write_comparison, comparison=comparison, flips=find_flips(comparison), show_toxic=show_toxic)
    if folder.exists():
        fill(folder)
    else:
        write_folder(place, fill, last="comparison.json")
    return place
