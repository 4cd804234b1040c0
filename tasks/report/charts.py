"""Charts of a report, drawn by Vega-Lite as SVG that needs neither script nor network."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import numpy as np
from markupsafe import Markup, escape

from contrapose.tasks.core.criteria import list_criteria
from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.core.outcome import Outcome, Summary, Verdict
from contrapose.tasks.report.rows import cut_name
from contrapose.tasks.text.wording import counted, format_interval, number, percent

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


def draw_or_describe(chart: Chart, description: str) -> Markup:
    """Draw a chart as one `svg` element with its description as title; if drawing fails, return the description.

    Its colours are variables of the style sheet; texts that are not ours belong into its data.
    """
    drawn = render_svg({**chart, "config": CONFIG})
    if drawn is None:
        return Markup("<p>{}</p>").format(description)
    # What is parsed here was just drawn, from texts that carry no control characters.
    root = ElementTree.fromstring(drawn)  # noqa: S314
    box = escape(root.get("viewBox", ""))
    named = f'<svg class="chart" role="img" viewBox="{box}" aria-label="{escape(description)}">'
    inside = "".join(piece for child in root for piece in _serialise_element(child))
    return Markup(f"{named}{inside}</svg>")  # noqa: S704 (every name is listed, every value and text is escaped)


def _serialise_element(element: ElementTree.Element) -> Iterator[str]:
    tag = element.tag.rpartition("}")[2]
    if tag not in SHAPES:
        return
    kept = "".join(f' {name}="{escape(value)}"' for name, value in element.items() if name in ATTRIBUTES)
    inside = "".join(piece for child in element for piece in _serialise_element(child))
    text = escape(element.text or "")
    if inside or text or tag in ("path", "line", "rect"):
        yield f"<{tag}{kept}>{text}{inside}</{tag}>"


def render_svg(chart: Mapping[str, Any]) -> str | None:
    """Draw a Vega-Lite chart as SVG; return None if drawing fails, so that the report is written without it."""
    import vl_convert

    try:
        return vl_convert.vegalite_to_svg(dict(chart)) or None
    except ValueError:
        return None


LEAST = 10
"""Scores below which a distribution tells nothing."""

BINS = 24


def draw_scores(cases: np.ndarray, controls: np.ndarray, *, name: str) -> Markup | None:
    """Draw the distribution of eval_scores, or return None if there are too few of them or two distinct values.

    Both arrays are (rows,); there may be no controls. The name says what the scores are.
    """
    if len(cases) < LEAST or len(np.unique(cases)) <= 2:
        return None
    values = np.concatenate([cases, controls])
    if (values == np.round(values)).all() and np.ptp(values) < BINS:
        # Bins of whole numbers are centred on them.
        edges = np.arange(values.min() - 0.5, values.max() + 1)
    else:
        edges = np.histogram_bin_edges(values, bins=BINS)
    bars, texts = list[dict[str, Any]](), []
    for kind, own in (("cases", cases), ("controls", controls)):
        if len(own):
            low, middle, high = map(number, np.quantile(own, [0.25, 0.5, 0.75]))
            texts.append(f"{name} of {len(own):,} {kind}: median {middle}, half of them between {low} and {high}")
            counts, _ = np.histogram(own, bins=edges)
            shares = [*(float(count / len(own)) for count in counts), 0.0]
            # The one beyond the last ends the outline; as a bar it has no width.
            bars += [
                {"kind": kind, "start": float(start), "end": float(end), "share": share}
                for start, end, share in zip(edges, [*edges[1:], edges[-1]], shares, strict=True)
            ]
    scale = {"zero": False, "nice": False}
    across = {"bin": "binned", "title": None, "scale": scale, "axis": {"grid": False, "tickCount": 5}}
    share_axis = {"field": "share", "type": "quantitative", "title": None, "axis": {"format": ".0%", "tickCount": 3}}
    encoding = {"x": {"field": "start", "type": "quantitative", **across}, "y": share_axis}
    outline = {"type": "line", "stroke": "var(--ink)", "strokeWidth": 1.5, "interpolate": "step-after"}
    chart = {
        "data": {"values": bars},
        "width": 320,
        "height": 110,
        "layer": [
            {
                "transform": [{"filter": "datum.kind == 'cases'"}],
                "mark": {"type": "bar", "fill": "var(--accent)", "fillOpacity": 0.8},
                "encoding": {**encoding, "x2": {"field": "end"}},
            },
            {
                "transform": [{"filter": "datum.kind == 'controls'"}],
                "mark": {**outline, "strokeDash": [3, 2]},
                "encoding": encoding,
            },
        ],
    }
    return draw_or_describe(chart, "; ".join(texts))


MOST_RUNS = 40
"""Number of the latest runs that are drawn."""


def draw_trend(runs: tuple[PastRun, ...], test: str) -> Markup | None:
    """Draw pass rates over time, or return None if the model of the last run has fewer than two of them.

    Other models of the suite are drawn as rings: they took the same test.
    """
    points = list[tuple[str, dict[str, Any]]]()
    for run in runs:
        for past in run["tests"]:
            rate = past["pass_rate"]
            if past["test_type"] == test and rate is not None:
                low, high = past["interval"] or (rate, rate)
                point = {"rate": rate, "low": low, "high": high, "gate": past["min_pass_rate"]}
                points.append((run["model"], {**point, "date": _format_date(run["started"])}))
    latest = [(model, {**point, "run": place}) for place, (model, point) in enumerate(points[-MOST_RUNS:])]
    own = [point for model, point in latest if model == runs[-1]["model"]]
    others = [point for model, point in latest if model != runs[-1]["model"]]
    if len(own) < 2:
        return None
    rates = ", ".join(f"{percent(point['rate'])} ({point['date']})" for point in own)
    words = f"Pass rate of this model in {len(own)} runs, the oldest first: {rates}."
    words += f" The gate is {percent(own[-1]['gate'])}."
    if others:
        verb = "is" if len(others) == 1 else "are"
        words += f" {counted('runs', len(others))} of other models {verb} shown next to it."
    return draw_or_describe(_make_trend_chart(own, others), words)


def _make_trend_chart(own: list[dict[str, Any]], others: list[dict[str, Any]]) -> Chart:
    last = max(point["run"] for point in (*own, *others))
    run = {"field": "run", "type": "quantitative", "axis": None, "scale": {"domain": [-0.3, last + 0.3]}}
    rate = {"title": None, "axis": {"format": ".0%", "values": [0, 0.25, 0.5, 0.75, 1]}}

    def layer(mark: Chart, data: list[dict[str, Any]], y: Chart, **encoding: Chart) -> Chart:
        height = {"type": "quantitative", "scale": {"domain": [0, 1]}, **y}
        return {"data": {"values": data}, "mark": mark, "encoding": {"x": run, "y": height, **encoding}}

    band = {"fill": "var(--band)", "fillOpacity": 0.45}
    gate = {"stroke": "var(--ink)", "strokeWidth": 1.5, "strokeDash": [4, 3], "interpolate": "step"}
    rings = {"filled": False, "size": 30, "stroke": "var(--quiet)", "strokeWidth": 1.25, "opacity": 1}
    date = {"type": "text", "baseline": "top", "dy": 8, "fontSize": 11, "fill": "var(--quiet)"}
    between: tuple[Chart, Chart] = {"field": "low"}, {"field": "high"}
    return {
        "width": 320,
        "height": 130,
        "layer": [
            layer({"type": "area", **band}, own, between[0], y2=between[1]),
            layer({"type": "rule", "stroke": "var(--band)", "strokeWidth": 3}, own, between[0], y2=between[1]),
            layer({"type": "line", **gate}, own, {"field": "gate"}),
            layer({"type": "circle", **rings}, others, {"field": "rate", **rate}),
            layer({"type": "line", "stroke": "var(--accent)", "strokeWidth": 2}, own, {"field": "rate", **rate}),
            layer(
                {"type": "circle", "size": 45, "fill": "var(--accent)", "opacity": 1}, own, {"field": "rate", **rate}
            ),
            *(
                layer({**date, "align": align}, [end], {"datum": 0}, text={"field": "date", "type": "nominal"})
                for end, align in ((own[0], "left"), (own[-1], "right"))
            ),
        ],
    }


def _format_date(started: str) -> str:
    """Return day, month and year of a start time; "" if it cannot be parsed."""
    try:
        when = datetime.fromisoformat(started)
    except ValueError:
        return ""
    return f"{when.day} {when:%b %Y}"


COLOURS: dict[Verdict, str] = {
    "pass": "#1a7f37",
    "fail": "#cf222e",
    "inconclusive": "#9a6700",
    "incomplete": "#57606a",
}
"""Dark enough to be read on white; the verdict stands beside them in words."""

INK = "#1f2328"
WIDTH = 460
ROW = 34
"""Height of a test, in pixels."""


def make_image_url(summary: Summary) -> str | None:
    """Return the chart of all rates and gates as a data URL, or None if it cannot be drawn.

    Tests without a score show only their gate. The image needs no server and can neither run nor load anything.
    """
    values = [value for outcome in summary["tests"] for value in _yield_rate_values(outcome)]
    rate = "pass rate" if len(values) == len(summary["tests"]) else "rate"
    across = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    axis = {
        "format": ".0%",
        "values": [0, 0.25, 0.5, 0.75, 1],
        "title": f"{rate}, its 95 % interval, and the gate (|)",
    }
    colours = {"domain": [*COLOURS, ""], "range": [*COLOURS.values(), INK]}
    colour = {"color": {"field": "verdict", "type": "nominal", "scale": colours, "legend": None}}
    names = {"labelLimit": 260, "labelFontSize": 12}
    interval_ends = {"x": {"field": "low", **across, "axis": axis}, "x2": {"field": "high"}}
    words = {"x": {"value": WIDTH}, "text": {"field": "words", "type": "nominal"}}

    def layer(mark: Chart, encoding: Chart) -> Chart:
        test = {"field": "test", "type": "nominal", "sort": None, "title": None, "axis": names}
        return {"mark": mark, "encoding": {"y": test, **encoding}}

    chart = {
        "data": {"values": values},
        "width": WIDTH,
        "height": {"step": ROW},
        "background": "white",
        # Browsers' letters may be wider than those that the width was measured with.
        "padding": {"left": 24, "top": 12, "bottom": 12, "right": 36},
        "title": cut_name(f"{summary['suite']} on {summary['model']['id']}: {summary['verdict']}"),
        "layer": [
            layer({"type": "rule", "strokeWidth": 5, "opacity": 0.35}, {**interval_ends, **colour}),
            layer({"type": "circle", "size": 90, "opacity": 1}, {"x": {"field": "rate", **across}, **colour}),
            layer({"type": "tick", "color": INK, "thickness": 2, "size": 22}, {"x": {"field": "gate", **across}}),
            layer({"type": "text", "align": "left", "dx": 12, "fontSize": 12}, {**words, **colour}),
        ],
        # Vega would build a description for each mark, as code from titles.
        "config": {
            "aria": False,
            "title": {"anchor": "start", "color": INK, "fontSize": 14},
            "view": {"stroke": None},
        },
    }
    drawn = render_svg(chart)
    return None if drawn is None else f"data:image/svg+xml;base64,{b64encode(drawn.encode()).decode()}"


def _yield_rate_values(outcome: Outcome) -> Iterator[dict[str, str | float | None]]:
    """Yield the chart's values of each rate with a gate; the verdict is next to the first one, which decided."""
    criteria = list_criteria(outcome)
    for place, own in enumerate(criteria):
        words = [] if place else [str(outcome["verdict"])]
        if own["low"] is not None and own["high"] is not None:
            words.append(f"{percent(own['rate'])} ({format_interval((own['low'], own['high']))})")
        test, name = cut_name(outcome["test_type"]), own["name"].replace("_", " ")
        yield {
            "test": f"{test}: {name}" if len(criteria) > 1 else test,
            "verdict": "" if place else outcome["verdict"],
            "rate": own["rate"],
            "low": own["low"],
            "high": own["high"],
            "gate": own["gate"],
            "words": ": ".join(words),
        }
