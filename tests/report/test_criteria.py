"""A test that fails by its contrast rate alone, though its pass rate is above the gate: each place shows why."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from factories import gate, outcome, summary
from rich.console import Console

from contrapose.flows.cli.history import as_data, as_text
from contrapose.flows.serve.view import site
from contrapose.flows.serve.view.runs import describe_run
from contrapose.tasks.core.criteria import criteria_of
from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.history.dataset import SCHEMA, append, from_row, past_run, to_table, verified_rows
from contrapose.tasks.report.artifacts import verdict_row
from contrapose.tasks.report.charts.pictures import image_url
from contrapose.tasks.report.mlflow import values_of_run

DECIDED = "contrast rate 12.5% (gate 50%), pass rate 90% (gate 70%)"


def planted(**changes: Any) -> Outcome:
    """Right for 90 % of the cases, by reacting to any change."""
    high = gate(rate=0.9, open=0, interval=(0.76, 0.97), reached=0.002, missed=1.0)
    ends = {"interval": (0.05, 0.26), "extremes": (0.125, 0.125)}
    low = gate(name="contrast_rate", rate=0.125, wanted=0.5, reached=1.0, missed=0.0001, **ends)
    return outcome(
        verdict="fail",
        reason="With 95 % confidence the contrast rate is at most 24%; the gate is 50%.",
        pass_rate=0.9,
        interval=(0.76, 0.97),
        gates=[high, low],
        **changes,
    )


def planted_summary() -> Summary:
    return summary(tests=[planted()])


def in_table(told: Summary) -> str:
    return str(verdict_row(told["tests"][0], model="m")["criteria"])


def in_mlflow(told: Summary) -> str:
    logged = values_of_run(told)
    assert logged.metrics["add_negation.contrast_rate"] == 0.125
    assert logged.metrics["add_negation.contrast_rate.gate"] == 0.5
    assert DECIDED in logged.tags["mlflow.note.content"]
    return logged.tags["contrapose.add_negation.criteria"]


def in_runs_of_view(told: Summary) -> str:
    (rate,) = describe_run(json.loads(json.dumps(told)), "a", str, ()).rates
    return rate.removeprefix("add_negation ")


def in_history_data(told: Summary) -> str:
    (row,) = json.loads(as_data([past_run(told, {})], changes=False, style="json"))
    return str(row["criteria"])


@pytest.mark.parametrize("shown", [in_table, in_mlflow, in_runs_of_view, in_history_data])
def test_each_place_shows_both_rates_and_first_the_one_that_decided(shown: Any) -> None:
    assert shown(planted_summary()) == DECIDED


def test_the_chart_shows_both_rates_and_the_verdict_beside_the_one_that_decided() -> None:
    url = image_url(planted_summary())
    assert url is not None
    drawn = " ".join(fromstring(b64decode(url.partition(",")[2]).decode()).itertext())
    assert "add_negation: contrast rate" in drawn
    assert "fail: 12.5% (5.0-26.0%)" in drawn
    assert "fail: 90%" not in drawn
    assert "90% (76.0-97.0%)" in drawn


def test_the_history_table_shows_both_rates_in_80_columns() -> None:
    text = "".join(as_text([past_run(planted_summary(), {})], changes=False, console=Console(width=80)))
    run, first, second = [line.split() for line in text.splitlines() if line.strip()][-3:]
    assert run == ["2026-11-21", "08:02", "36", "FAIL"]
    assert first == ["contrast", "rate", "12.5%", "5.0-26.0%", "50%"]
    assert second == ["pass", "rate", "90%", "76.0-97.0%", "70%"]
    assert max(map(len, text.splitlines())) <= 80


def test_the_history_page_shows_both_rates(tmp_path: Path) -> None:
    append(str(tmp_path), past_run(planted_summary(), {"prompt": {}}), key="a")
    page = site.Viewer(root=tmp_path, history=str(tmp_path))("/history")
    text = " ".join(bytes(page.content).decode().split())  # type: ignore[union-attr,arg-type]
    assert "<b>12.5%</b> <span>contrast rate of the last run, gate 50%; also pass rate 90% (gate 70%)" in text
    assert "<td>12.5%<small>contrast rate</small><small>pass rate 90% (gate 70%)</small></td>" in text


def test_the_history_keeps_the_rates_and_reads_runs_without_them() -> None:
    kept = past_run(planted_summary(), {})
    (row,) = verified_rows(to_table(kept)).to_pylist()
    assert from_row(row) == kept
    tests = SCHEMA.field("tests").type
    older = tests.value_type
    fields = [field for field in older if field.name != "criteria"]
    import pyarrow as pa

    schema = SCHEMA.set(SCHEMA.get_field_index("tests"), pa.field("tests", pa.list_(pa.struct(fields))))
    rows = to_table(kept).to_pylist()
    table = pa.Table.from_pylist(rows, schema=schema)
    (row,) = verified_rows(table).to_pylist()
    assert "criteria" not in from_row(row)["tests"][0]


def names(**changes: Any) -> list[str]:
    return [criterion["name"] for criterion in criteria_of(planted(**changes))]


def test_the_order_follows_the_verdict() -> None:
    assert names() == ["contrast_rate", "pass_rate"]
    assert names(missed=None, reached=None) == ["contrast_rate", "pass_rate"]
    # Without a gate of its own the pass rate decides nothing.
    passed = {**planted(), "verdict": "pass", "gates": [gate(name="right_rate", reached=0.01, missed=1.0)]}
    assert [criterion["name"] for criterion in criteria_of(passed)] == ["right_rate", "pass_rate"]  # type: ignore[arg-type]
    close = {
        **planted(),
        "verdict": "inconclusive",
        "gates": [gate(reached=0.01, missed=1.0), gate(name="clean_rate", reached=0.2, missed=0.4)],
    }
    assert [criterion["name"] for criterion in criteria_of(close)] == ["clean_rate", "pass_rate"]  # type: ignore[arg-type]
