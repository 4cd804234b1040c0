"""From a Vega-Lite chart to SVG that can stand in the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
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
    """Draw a chart as one `svg` element, which its description names, or the description where it cannot be drawn.

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


def svg(chart: Mapping[str, Any]) -> str | None:
    """Draw a Vega-Lite chart as SVG; None where it cannot be drawn: a report without a picture is better than none."""
    import vl_convert

    try:
        return vl_convert.vegalite_to_svg(dict(chart)) or None
    except ValueError:
        return None
