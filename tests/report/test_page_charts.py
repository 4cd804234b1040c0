"""Charts of the page: shapes and texts, nothing that runs or refers, and the same in words."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from attacks import HOSTILE
from past_runs import past_run, past_test

from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.report.charts.drawing import ATTRIBUTES, SHAPES, svg
from contrapose.tasks.report.charts.pictures import scores, trend
from contrapose.tasks.text.cleaning import show_hidden


def past(day: int, rate: float | None, model: str = "embedded") -> PastRun:
    test = past_test(test_type="order_bias", verdict="pass", pass_rate=rate, interval=(0.2, 0.9), scored=9)
    return past_run(started=f"2026-11-{day:02}T08:00:00+00:00", model=model, verdict="pass", tests=[test])


def test_the_trend_tells_every_run_in_words() -> None:
    drawn = trend((past(3, 0.5), past(4, 0.6, "other"), past(5, 0.75)), "order_bias")
    assert drawn is not None
    told = ElementTree.fromstring(drawn).get("aria-label")
    assert told is not None
    assert "in 2 runs, the oldest first: 50% (3 Nov 2026), 75% (5 Nov 2026)." in told
    assert told.endswith("1 run of other models is shown next to it.")


def test_one_run_is_no_trend() -> None:
    assert trend((past(3, 0.5),), "order_bias") is None
    assert trend((past(3, None), past(4, 0.5)), "order_bias") is None
    assert trend((past(3, 0.4), past(4, 0.5)), "add_negation") is None
    assert trend((), "order_bias") is None


def test_scores_are_told_by_their_quartiles() -> None:
    drawn = scores(np.arange(101.0), np.zeros(3), name="eval_score")
    assert drawn is not None
    assert "101 cases: median 50, half of them between 25 and 75; eval_score of 3 controls: median 0" in drawn


@pytest.mark.parametrize("values", [np.arange(5.0), np.tile([0.0, 1.0], 50), np.full(20, 0.3)])
def test_few_or_equal_scores_are_not_drawn(values: np.ndarray) -> None:
    assert scores(values, np.empty(0), name="eval_score") is None


@pytest.mark.parametrize("text", HOSTILE[::40])
def test_a_hostile_name_stays_text(text: str) -> None:
    drawn = scores(np.arange(30.0), np.empty(0), name=show_hidden(text))
    root = ElementTree.fromstring(str(drawn))
    assert {element.tag for element in root.iter()} <= SHAPES
    for element in root[0].iter():
        assert set(element.keys()) <= ATTRIBUTES
        assert not any("url(" in value for value in element.attrib.values())


def test_what_cannot_be_drawn_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert svg({"mark": "no such mark"}) is None
    monkeypatch.setattr("contrapose.tasks.report.charts.drawing.svg", lambda _: None)
    chart = trend((past(3, 0.5), past(5, 0.75)), "order_bias")
    assert chart is not None
    assert chart.startswith("<p>Pass rate")
