"""How the eval_scores of one test are distributed, cases beside controls."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from contrapose.tasks.report.charts.drawing import drawing
from contrapose.tasks.report.wording import number

LEAST = 10
"""Scores below which a distribution tells nothing."""

BINS = 24


def scores(cases: np.ndarray, controls: np.ndarray, *, name: str) -> Markup | None:
    """The drawing; None where there are too few scores, or at most two different ones.

    Args:
        cases: finite eval_scores.
        controls: those of the controls; may be empty.
        name: what the scores are, such as the scorer.
    """
    if len(cases) < LEAST or len(np.unique(cases)) <= 2:
        return None
    edges = _edges(np.concatenate([cases, controls]))
    bars = [*_bars(cases, edges, "cases"), *(_bars(controls, edges, "controls") if len(controls) else ())]
    return drawing(_chart(bars), _told(cases, controls, name))


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


def _chart(bars: list[dict[str, Any]]) -> Any:
    import altair as alt

    base = alt.Chart(alt.InlineData(values=bars)).encode(
        x=alt.X(
            "start:Q",
            bin="binned",
            title=None,
            scale=alt.Scale(zero=False, nice=False),
            axis=alt.Axis(grid=False, tickCount=5),
        ),
        y=alt.Y("share:Q", title=None, axis=alt.Axis(format=".0%", tickCount=3)),
    )
    cases = base.transform_filter("datum.kind == 'cases'").mark_bar(fill="var(--accent)", fillOpacity=0.8)
    outline = base.transform_filter("datum.kind == 'controls'").mark_line(
        stroke="var(--ink)", strokeWidth=1.5, interpolate="step-after", strokeDash=[3, 2]
    )
    return alt.layer(cases.encode(x2="end:Q"), outline).properties(width=320, height=110)


def _told(cases: np.ndarray, controls: np.ndarray, name: str) -> str:
    told = [("cases", cases), *([("controls", controls)] if len(controls) else [])]
    return "; ".join(_quartiles(kind, values, name) for kind, values in told)


def _quartiles(kind: str, values: np.ndarray, name: str) -> str:
    low, middle, high = (number(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    return f"{name} of {len(values):,} {kind}: median {middle}, half of them between {low} and {high}"
