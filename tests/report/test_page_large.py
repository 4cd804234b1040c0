"""A hundred thousand rows: the page stays small, opens soon and answers at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

import pytest
from browsers import chromium
from factories import Held, report
from paged import opened, write
from playwright.sync_api import Browser

from contrapose.tasks.report.base import Report, SentPrompts

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
