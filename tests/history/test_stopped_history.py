"""Runs that stopped early, among others: how far each was asked is kept, and a series says that samples differ."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from past_runs import past_run, past_test
from rich.console import Console
from test_history_command import told
from test_view_pages import page

from contrapose.flows.cli.history import format_data, show_runs
from contrapose.flows.reporting import add_to_history
from contrapose.flows.run_lifecycle import begin_run
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.history_records import History
from contrapose.tasks.core.stopping import Stopping
from contrapose.tasks.history.dataset import SCHEMA, append_run, to_table
from contrapose.tasks.history.dataset import make_past_run as recorded_run
from contrapose.tasks.history.queries import make_series, select_runs
from contrapose.tasks.history.reading import read_history
from contrapose.tasks.report.since import compare_with_earlier_run

EARLY = Stopping(cases=370, judged=24, looks=3, shares=[0.02, 0.04, 0.06], saved=675, beside=[])
WHOLE = Stopping(cases=24, judged=24, looks=2, shares=[0.5, 1.0], saved=0, beside=[])
SAMPLES = "rates over different samples may be compared by their intervals"
EARLY_RUN = past_run(1, tests=[past_test(stopping=EARLY)])


def test_how_far_a_test_was_asked_comes_from_the_summary_and_is_kept(tmp_path: Path) -> None:
    summary: Any = {**EARLY_RUN, "model": {"id": "mock"}}
    assert recorded_run(summary, {})["tests"] == EARLY_RUN["tests"]
    kept = [past_run(0), EARLY_RUN, past_run(2, tests=[past_test(stopping=WHOLE)])]
    for number, run in enumerate(kept):
        append_run(str(tmp_path), run, key=f"{number}")
    assert select_runs(read_history(str(tmp_path)).rows) == kept


def test_a_file_of_an_earlier_version_is_read_beside_it(tmp_path: Path) -> None:
    tests = SCHEMA.field("tests").type.value_type
    older = pa.list_(pa.struct([field for field in tests if field.name != "stopping"]))
    schema = SCHEMA.set(SCHEMA.names.index("tests"), pa.field("tests", older))
    rows = to_table(past_run(0)).to_pylist()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), tmp_path / "older.parquet")
    append_run(str(tmp_path), EARLY_RUN, key="a")
    assert select_runs(read_history(str(tmp_path)).rows) == [past_run(0), EARLY_RUN]


@pytest.mark.parametrize("wrong", [{"judged": 371}, {"judged": -1}, {"looks": 0}, {"saved": -1}])
def test_what_cannot_be_is_named_and_skipped(tmp_path: Path, wrong: dict[str, int]) -> None:
    odd: Any = {**EARLY, **wrong}
    append_run(str(tmp_path), past_run(tests=[past_test(stopping=odd)]), key="a")
    assert list(read_history(str(tmp_path)).skipped.values()) == ["a value is missing, or cannot be"]


def test_a_series_says_which_runs_stopped_early() -> None:
    (mixed,) = make_series([past_run(0), EARLY_RUN, past_run(2, tests=[past_test(stopping=WHOLE)])])
    assert mixed.caution.startswith("1 of 3 runs stopped early: ")
    assert SAMPLES in mixed.caution
    for others in ([past_run(0), past_run(1)], [EARLY_RUN]):
        (untouched,) = make_series(others)
        assert untouched.caution == ""


def test_the_table_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, run in enumerate([past_run(0), EARLY_RUN]):
        append_run(str(tmp_path), run, key=f"{number}")
    text = told(capsys, "--history", str(tmp_path))
    assert "24/370" in text
    assert "1 of 2 runs stopped early" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "stopped" not in "".join(show_runs([past_run(0)], changes=False, console=Console(file=io.StringIO())))


def test_programs_get_it() -> None:
    before, after = json.loads(format_data([past_run(0), EARLY_RUN], changes=False, style="json"))
    assert [after[name] for name in ("cases", "judged", "looks", "saved")] == [370, 24, 3, 675]
    assert [before[name] for name in ("cases", "judged", "looks", "saved")] == [None] * 4
    rows = list(csv.DictReader(io.StringIO(format_data([past_run(0), EARLY_RUN], changes=False, style="csv"))))
    assert [(row["judged"], row["looks"]) for row in rows] == [("", ""), ("24", "3")]


def test_the_page_tells_it(tmp_path: Path) -> None:
    for number, run in enumerate([past_run(0), EARLY_RUN]):
        append_run(str(tmp_path), run, key=f"{number}")
    text = re.sub(r"<[^>]+>", "", page(tmp_path, "/history", history=tmp_path))
    assert "pass rate of the last run: 24 of 370 cases, stopped early" in text
    assert text.count("24 of 370 cases, stopped early") == 2
    assert "1 of 2 runs stopped early" in text


def since_then(now: dict[str, Any], before: dict[str, Any]) -> Any:
    summary: Any = {"run_id": "now", "tests": [{**past_test(), **now}]}
    return compare_with_earlier_run(summary, History(previous=past_run(0, tests=[past_test(**before)])), str)


def test_a_report_says_that_the_run_before_asked_other_samples() -> None:
    (text,) = since_then({"stopping": EARLY}, {}).samples
    assert text.startswith("add_negation: 24 of 370 cases, stopped early, now; all its cases then: ")
    assert SAMPLES in text
    (text,) = since_then({}, {"stopping": EARLY}).samples
    assert text.startswith("add_negation: all its cases now; 24 of 370 cases, stopped early, then: ")
    assert since_then({}, {"stopping": WHOLE}).samples == ()


@pytest.mark.usefixtures("own_store", "in_tmp")
def test_a_run_that_may_stop_early_is_made_otherwise() -> None:
    def facts(**changes: Any) -> dict[str, str]:
        config = validate({"suite": "harbour", "model": "mock", **changes}, where="test")
        run, test = begin_run(config), {**past_test(), "probe_version": "1", "scorers": {}, "settings": {}}
        test["data"] = {"source": "x", "sha256": "a", "rows": 1}
        summary: Any = {**past_run(), "model": {"id": "mock"}, "tests": [test]}
        return add_to_history(run, summary).run["made_of"]["prompt"]

    early = facts(stop="early", runner_args={"portion": 8})
    assert (early["stop"], early["runner_args.portion"]) == ("early", "8")
    assert not {"stop", "runner_args.portion"} & {*facts(runner_args={"portion": 8})}
