"""From an Altair chart to SVG that can stand in the page: shapes and texts only, coloured by the page's own style."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from markupsafe import Markup, escape

from contrapose.tasks.report.charts.artist import svg

if TYPE_CHECKING:
    import altair

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


def drawing(chart: altair.LayerChart, told: str) -> Markup:
    """The chart as one `svg` element, or in words where it cannot be drawn.

    Args:
        chart: with colours as variables of the style sheet; texts that are not ours belong into its data.
        told: the same in words, for those who do not see it.
    """
    drawn = svg({**chart.to_dict(validate=False), "config": CONFIG})
    if drawn is None:
        return Markup("<p>{}</p>").format(told)
    # What is parsed here was just drawn, from texts that carry no control characters.
    root = ElementTree.fromstring(drawn)  # noqa: S314
    named = f'<svg class="chart" role="img" viewBox="{escape(root.get("viewBox", ""))}" aria-label="{escape(told)}">'
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
