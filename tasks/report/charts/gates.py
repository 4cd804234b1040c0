"""Pass rate of every test against its gate: a picture that stands on its own."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from contrapose.tasks.core.outcome import Outcome, Summary, Verdict
from contrapose.tasks.report.charts.drawing import svg
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.text.wording import interval, percent

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
