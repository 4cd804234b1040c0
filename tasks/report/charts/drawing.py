"""From a Vega-Lite chart to SVG that can stand in the page, drawn in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from threading import Lock
from typing import IO, Any, cast
from xml.etree import ElementTree

from markupsafe import Markup, escape

Chart = dict[str, Any]
"""A chart in the words of Vega-Lite, which are plain JSON: https://vega.github.io/vega-lite/docs/."""

SHAPES = frozenset({"svg", "g", "path", "line", "rect", "text"})

ATTRIBUTES = frozenset(
    {
        *("d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "width", "height", "transform"),
        *("fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity"),
        *("text-anchor", "font-size", "font-weight"),
    }
)
"""Nothing that refers, runs or styles: the page's policy forbids style attributes, and fonts are the page's."""

CONFIG = {
    # One text tells the whole drawing; Vega would build one for each mark, as code from titles.
    "aria": False,
    "background": None,
    "padding": 4,
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "gridColor": "var(--line)",
        "labelColor": "var(--quiet)",
        "labelFontSize": 11,
        "labelLimit": 140,
        "labelPadding": 5,
        "ticks": False,
        "titleColor": "var(--quiet)",
        "titleFontSize": 11,
        "titleFontWeight": "normal",
    },
}
"""Colours are the style sheet's variables, which follow light, dark and print."""


def drawing(chart: Chart, description: str) -> Markup:
    """The chart as one `svg` element, which its description names, or that alone where it cannot be drawn.

    Its colours are variables of the style sheet; texts that are not ours belong into its data.
    """
    drawn = svg({**chart, "config": CONFIG})
    if drawn is None:
        return Markup("<p>{}</p>").format(description)
    # What is parsed here was just drawn, from texts that carry no control characters.
    root = ElementTree.fromstring(drawn)  # noqa: S314
    box = escape(root.get("viewBox", ""))
    named = f'<svg class="chart" role="img" viewBox="{box}" aria-label="{escape(description)}">'
    inside = "".join(piece for child in root for piece in _pieces(child))
    return Markup(f"{named}{inside}</svg>")  # noqa: S704 (every name is listed, every value and text is escaped)


def _pieces(element: ElementTree.Element) -> Iterator[str]:
    tag = element.tag.rpartition("}")[2]
    if tag not in SHAPES:
        return
    kept = "".join(f' {name}="{escape(value)}"' for name, value in element.items() if name in ATTRIBUTES)
    inside = "".join(piece for child in element for piece in _pieces(child))
    text = escape(element.text or "")
    if inside or text or tag in ("path", "line", "rect"):
        yield f"<{tag}{kept}>{text}{inside}</{tag}>"


PROGRAM = """
import json, sys
import vl_convert
for line in sys.stdin:
    try:
        print(json.dumps(vl_convert.vegalite_to_svg(json.loads(line))), flush=True)
    except Exception:
        print("null", flush=True)
"""


def prepare_to_draw() -> None:
    """Start the process that draws, which takes a while, before there is something to draw."""
    with _lock():
        _artist()


def svg(chart: Mapping[str, Any]) -> str | None:
    """A Vega-Lite chart as SVG; None where it cannot be drawn: a report without a picture is better than none."""
    with _lock():
        return _artist().draw(json.dumps(chart)) or None


@cache
def _lock() -> Lock:
    return Lock()


@cache
def _artist() -> _Artist:
    return _Artist()


class _Artist:
    """The process; it ends with ours, when nobody can write to it any more."""

    def __init__(self) -> None:
        self.process = self._start()

    def draw(self, chart: str) -> str:
        """The drawing, or nothing; a process that ended is started again for the next one."""
        asked, drawn = cast(IO[str], self.process.stdin), cast(IO[str], self.process.stdout)
        try:
            asked.write(f"{chart}\n")
            asked.flush()
            return str(json.loads(drawn.readline()) or "")
        except (OSError, ValueError):
            self.process.kill()
            self.process.wait()
            self.process = self._start()
            return ""

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        # A session of its own: Ctrl-C is for us, and a drawing that is under way is no concern of it.
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )
