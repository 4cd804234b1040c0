"""Charts of the page, and a page of a hundred thousand rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from xml.etree import ElementTree

import numpy as np
import pytest
from attacks import HOSTILE
from browsers import chromium
from factories import Held, report
from paged import opened, write
from past_runs import past_run, past_test
from playwright.sync_api import Browser

from contrapose.tasks.core.history_records import PastRun
from contrapose.tasks.report.base import Report, SentPrompts
from contrapose.tasks.report.charts import ATTRIBUTES, SHAPES, draw_scores, draw_trend, render_svg
from contrapose.tasks.text.cleaning import show_hidden


def past(day: int, rate: float | None, model: str = "embedded") -> PastRun:
    test = past_test(test_type="order_bias", verdict="pass", pass_rate=rate, interval=(0.2, 0.9), scored=9)
    return past_run(started=f"2026-11-{day:02}T08:00:00+00:00", model=model, verdict="pass", tests=[test])


def test_the_trend_tells_every_run_in_words() -> None:
    drawn = draw_trend((past(3, 0.5), past(4, 0.6, "other"), past(5, 0.75)), "order_bias")
    assert drawn is not None
    told = ElementTree.fromstring(drawn).get("aria-label")
    assert told is not None
    assert "in 2 runs, the oldest first: 50% (3 Nov 2026), 75% (5 Nov 2026)." in told
    assert told.endswith("1 run of other models is shown next to it.")


def test_one_run_is_no_trend() -> None:
    assert draw_trend((past(3, 0.5),), "order_bias") is None
    assert draw_trend((past(3, None), past(4, 0.5)), "order_bias") is None
    assert draw_trend((past(3, 0.4), past(4, 0.5)), "add_negation") is None
    assert draw_trend((), "order_bias") is None


def test_scores_are_told_by_their_quartiles() -> None:
    drawn = draw_scores(np.arange(101.0), np.zeros(3), name="eval_score")
    assert drawn is not None
    assert "101 cases: median 50, half of them between 25 and 75; eval_score of 3 controls: median 0" in drawn


@pytest.mark.parametrize("values", [np.arange(5.0), np.tile([0.0, 1.0], 50), np.full(20, 0.3)])
def test_few_or_equal_scores_are_not_drawn(values: np.ndarray) -> None:
    assert draw_scores(values, np.empty(0), name="eval_score") is None


@pytest.mark.parametrize("text", HOSTILE[::40])
def test_a_hostile_name_stays_text(text: str) -> None:
    drawn = draw_scores(np.arange(30.0), np.empty(0), name=show_hidden(text))
    root = ElementTree.fromstring(str(drawn))
    assert {element.tag for element in root.iter()} <= SHAPES
    for element in root[0].iter():
        assert set(element.keys()) <= ATTRIBUTES
        assert not any("url(" in value for value in element.attrib.values())


def test_what_cannot_be_drawn_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert render_svg({"mark": "no such mark"}) is None
    monkeypatch.setattr("contrapose.tasks.report.charts.render_svg", lambda _: None)
    chart = draw_trend((past(3, 0.5), past(5, 0.75)), "order_bias")
    assert chart is not None
    assert chart.startswith("<p>Pass rate")


ROWS = 100_000

FILTER = """() => {
  const start = performance.now();
  document.getElementById("outcome").value = "fail";
  document.getElementById("outcome").dispatchEvent(new Event("change"));
  return performance.now() - start;
}"""


def large() -> Report:
    """The rows of a small report over and over, each with a number of its own in its texts."""
    small = report()
    rows = small.results.at(range(len(small.results.figures)))
    many = rows.iloc[[number % len(rows) for number in range(ROWS)]].reset_index(drop=True)
    own = many.index.astype(str).to_series(index=many.index)
    texts = ("original", "test_case", "expected_result", "actual_result")
    changed = {name: many[name].where(many[name].isna(), own + ". " + many[name].astype(str)) for name in texts}
    rows = many.assign(sample_id=many["sample_id"] + "-" + own, case_id=own, **changed)
    return replace(small, results=Held(rows), prompts=lambda: map(sent, own, rows["original"], rows["test_case"]))


def sent(case: str, *texts: str) -> SentPrompts:
    """Prompts of a case, each with the same options below its text."""
    original, changed = (f"{text}\nA. the kangaroo\nB. the mine\nAnswer:" for text in texts)
    return SentPrompts(case_id=case, original=original, changed=changed)


@pytest.mark.slow
def test_a_hundred_thousand_rows_stay_usable(tmp_path: Path) -> None:
    told = large()
    start = process_time()
    file = write(told, tmp_path / "report.html")
    assert process_time() - start < 60
    assert file.stat().st_size < 30_000_000
    with chromium() as browser:
        assert min(seconds_to_open(browser, file) for _ in range(3)) < 3
        with opened(browser, file) as found:
            assert found.status() == "1–50 of 100,000"
            assert min(found.page.evaluate(FILTER) for _ in range(5)) < 200
            found.page.click("nav [data-page=last]")
            assert found.page.locator("#rows .fail").count() > 0
            assert found.faults == []


def seconds_to_open(browser: Browser, file: Path) -> float:
    """Until every text is there."""
    start = perf_counter()
    with opened(browser, file):
        return perf_counter() - start
