"""Pictures: how eval_scores are distributed, the pass rate over runs, and of every test the rate against its gate."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
from markupsafe import Markup

from contrapose.tasks.core.history_records import PastRun, PastTest
from contrapose.tasks.core.outcome import Outcome, Summary, Verdict
from contrapose.tasks.report.charts.drawing import drawing, svg
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.text.wording import counted, interval, number, percent

LEAST = 10
"""Scores below which a distribution tells nothing."""

BINS = 24


def scores(cases: np.ndarray, controls: np.ndarray, *, name: str) -> Markup | None:
    """The drawing of finite eval_scores, each of shape (rows,); None where there are too few, or two different ones.

    There may be no controls; the name says what the scores are.
    """
    if len(cases) < LEAST or len(np.unique(cases)) <= 2:
        return None
    edges = _edges(np.concatenate([cases, controls]))
    bars = [*_bars(cases, edges, "cases"), *(_bars(controls, edges, "controls") if len(controls) else ())]
    return drawing(_histogram(bars), _quartiles_in_words(cases, controls, name))


def _edges(values: np.ndarray) -> np.ndarray:
    """Bins of one width; those of whole numbers are centred on them."""
    if (values == np.round(values)).all() and np.ptp(values) < BINS:
        return np.arange(values.min() - 0.5, values.max() + 1)
    return np.histogram_bin_edges(values, bins=BINS)


def _bars(values: np.ndarray, edges: np.ndarray, kind: str) -> list[dict[str, Any]]:
    counts, _ = np.histogram(values, bins=edges)
    shares = [*(float(count / len(values)) for count in counts), 0.0]
    # The one beyond the last ends the outline; as a bar it has no width.
    ends = [*edges[1:], edges[-1]]
    return [
        {"kind": kind, "start": float(start), "end": float(end), "share": share}
        for start, end, share in zip(edges, ends, shares, strict=True)
    ]


def _histogram(bars: list[dict[str, Any]]) -> Any:
    import altair as alt

    scale = alt.Scale(zero=False, nice=False)
    base = alt.Chart(alt.InlineData(values=bars)).encode(
        x=alt.X("start:Q", bin="binned", title=None, scale=scale, axis=alt.Axis(grid=False, tickCount=5)),
        y=alt.Y("share:Q", title=None, axis=alt.Axis(format=".0%", tickCount=3)),
    )
    cases = base.transform_filter("datum.kind == 'cases'").mark_bar(fill="var(--accent)", fillOpacity=0.8)
    outline = base.transform_filter("datum.kind == 'controls'").mark_line(
        stroke="var(--ink)", strokeWidth=1.5, interpolate="step-after", strokeDash=[3, 2]
    )
    return alt.layer(cases.encode(x2="end:Q"), outline).properties(width=320, height=110)


def _quartiles_in_words(cases: np.ndarray, controls: np.ndarray, name: str) -> str:
    texts = []
    for kind, values in (("cases", cases), ("controls", controls)):
        if len(values):
            low, middle, high = map(number, np.quantile(values, [0.25, 0.5, 0.75]))
            texts.append(f"{name} of {len(values):,} {kind}: median {middle}, half of them between {low} and {high}")
    return "; ".join(texts)


MOST_RUNS = 40
"""The latest ones are drawn."""


def trend(runs: tuple[PastRun, ...], test: str) -> Markup | None:
    """The drawing; None where the model of the last run has fewer than two runs with a pass rate.

    Other models of the suite are drawn as rings: they took the same test.
    """
    drawn_points = [
        (run["model"], _point(run, past))
        for run in runs
        for past in run["tests"]
        if past["test_type"] == test and past["pass_rate"] is not None
    ]
    points = [(model, {**point, "run": place}) for place, (model, point) in enumerate(drawn_points[-MOST_RUNS:])]
    own = [point for model, point in points if model == runs[-1]["model"]]
    others = [point for model, point in points if model != runs[-1]["model"]]
    if len(own) < 2:
        return None
    return drawing(_lines(own, others), " ".join(_trend_in_words(own, others)))


def _lines(own: list[dict[str, Any]], others: list[dict[str, Any]]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=[0, 1])
    rate = alt.Y("rate:Q", scale=scale, title=None, axis=alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1]))
    last = max(point["run"] for point in (*own, *others))
    base = alt.Chart(alt.InlineData(values=own)).encode(
        x=alt.X("run:Q", scale=alt.Scale(domain=[-0.3, last + 0.3]), axis=None)
    )
    ends = [{**own[0], "align": "left"}, {**own[-1], "align": "right"}]
    dates = [
        base.mark_text(align=end["align"], baseline="top", dy=8, fontSize=11, fill="var(--quiet)")
        .encode(y=alt.Y(datum=0, scale=scale), text="date:N")
        .properties(data=alt.InlineData(values=[end]))
        for end in ends
    ]
    rings = base.mark_circle(filled=False, size=30, stroke="var(--quiet)", strokeWidth=1.25, opacity=1).encode(y=rate)
    return alt.layer(
        base.mark_area(fill="var(--band)", fillOpacity=0.45).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_rule(stroke="var(--band)", strokeWidth=3).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        base.mark_line(stroke="var(--ink)", strokeWidth=1.5, strokeDash=[4, 3], interpolate="step").encode(
            y=alt.Y("gate:Q", scale=scale)
        ),
        rings.properties(data=alt.InlineData(values=others)),
        base.mark_line(stroke="var(--accent)", strokeWidth=2).encode(y=rate),
        base.mark_circle(size=45, fill="var(--accent)", opacity=1).encode(y=rate),
        *dates,
    ).properties(width=320, height=130)


def _point(run: PastRun, past: PastTest) -> dict[str, Any]:
    rate = past["pass_rate"]
    low, high = past["interval"] or (rate, rate)
    return {"rate": rate, "low": low, "high": high, "gate": past["min_pass_rate"], "date": _date(run["started"])}


def _trend_in_words(own: list[dict[str, Any]], others: list[dict[str, Any]]) -> Iterator[str]:
    rates = ", ".join(f"{percent(point['rate'])} ({point['date']})" for point in own)
    yield f"Pass rate of this model in {len(own)} runs, the oldest first: {rates}."
    yield f"The gate is {percent(own[-1]['gate'])}."
    if others:
        yield f"{counted('runs', len(others))} of other models {'is' if len(others) == 1 else 'are'} shown beside it."


def _date(started: str) -> str:
    """Day and month; empty when the time is none."""
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


def image_url(summary: Summary) -> str | None:
    """The picture as a data URL: it needs no server, and nothing in it can run or load anything.

    Tests without a score have their gate only. None where it cannot be drawn.
    """
    drawn = svg(_chart(summary).to_dict(validate=False))
    return None if drawn is None else f"data:image/svg+xml;base64,{b64encode(drawn.encode()).decode()}"


def _chart(summary: Summary) -> Any:
    import altair as alt

    scale = alt.Scale(domain=[0, 1])
    axis = alt.Axis(
        format=".0%", values=[0, 0.25, 0.5, 0.75, 1], title="pass rate, its 95 % interval, and the gate (|)"
    )
    colour = alt.Color("verdict:N", scale=alt.Scale(domain=[*COLOURS], range=[*COLOURS.values()]), legend=None)
    names = alt.Y("test:N", sort=None, title=None, axis=alt.Axis(labelLimit=180, labelFontSize=12))
    base = alt.Chart(alt.InlineData([_values(outcome) for outcome in summary["tests"]])).encode(y=names)
    low = alt.X("low:Q", scale=scale, axis=axis)
    lines = (
        base.mark_rule(strokeWidth=5, opacity=0.35).encode(x=low, x2="high:Q", color=colour),
        base.mark_circle(size=90, opacity=1).encode(x=alt.X("rate:Q", scale=scale), color=colour),
        base.mark_tick(color=INK, thickness=2, size=22).encode(x=alt.X("gate:Q", scale=scale)),
        base.mark_text(align="left", dx=12, fontSize=12).encode(x=alt.value(WIDTH), text="words:N", color=colour),
    )
    title = name_of(f"{summary['suite']} on {summary['model']['id']}: {summary['verdict']}")
    return (
        alt.layer(*lines)
        .properties(width=WIDTH, height=alt.Step(ROW), background="white", padding=12, title=title)
        .configure_title(anchor="start", color=INK, fontSize=14)
        .configure_view(stroke=None)
        # Vega would build a description for each mark, as code from titles.
        .configure(aria=False)
    )


def _values(outcome: Outcome) -> dict[str, str | float | None]:
    low, high = outcome["interval"] or (None, None)
    rate = "" if low is None else f": {percent(outcome['pass_rate'])} ({interval(outcome)})"
    return {
        "test": name_of(outcome["test_type"]),
        "verdict": outcome["verdict"],
        "rate": outcome["pass_rate"],
        "low": low,
        "high": high,
        "gate": outcome["min_pass_rate"],
        "words": outcome["verdict"] + rate,
    }
