"""Where comparisons are published, and how: their figures, their text, and their page with what flipped."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from contrapose.tasks.compare.flips import flips_of
from contrapose.tasks.core.comparison import Comparison
from contrapose.tasks.core.places import Place
from contrapose.tasks.report.comparison_page import write_comparison
from contrapose.tasks.report.publish import free_folder, write_folder


def publish_comparison(comparison: Comparison, base: Place, *, suite: str = "", show_toxic: bool = False) -> Place:
    """Publish a comparison into a new folder, whole or not at all.

    Args:
        comparison: of runs that are still where they were.
        base: receives the folder.
        suite: becomes part of its name.
        show_toxic: leave toxic words as they are.

    Raises:
        ComparisonError: a run is not there any more.
        ConfigError: the folder cannot be written.
    """
    parts = [f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}", *([suite] if suite else []), "comparison"]
    flips = flips_of(comparison)
    folder = free_folder(base, "-".join(parts)).resolved()
    fill = partial(write_comparison, comparison=comparison, flips=flips, show_toxic=show_toxic)
    write_folder(folder, fill, last="comparison.json")
    return folder


def rewrite_comparison(folder: Path, comparison: Comparison, *, show_toxic: bool = False) -> Place:
    """Write a comparison into a folder that may be there already, and then keeps its other files.

    Args:
        folder: receives it.
        comparison: of runs that are still where they were.
        show_toxic: leave toxic words as they are.

    Raises:
        ComparisonError: a run is not there any more.
        ConfigError: the folder cannot be written.
    """
    flips, place = flips_of(comparison), Place(str(folder))
    fill = partial(write_comparison, comparison=comparison, flips=flips, show_toxic=show_toxic)
    if folder.exists():
        fill(folder)
    else:
        write_folder(place, fill, last="comparison.json")
    return place
