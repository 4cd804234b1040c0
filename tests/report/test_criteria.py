"""A test that fails by one rate alone, or was decided early: each place shows why."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from factories import gate, outcome, report, summary
from jsonschema import Draft202012Validator
from rich.console import Console
from terminal import printed
from test_junit import suite

from contrapose.flows.cli.history import format_data, show_runs
from contrapose.flows.orchestration.verdict_state import make_headline
from contrapose.flows.serve.view import site
from contrapose.flows.serve.view.runs import describe_run
from contrapose.tasks.core.criteria import list_criteria
from contrapose.tasks.core.outcome import DataSummary, Outcome, Summary
from contrapose.tasks.core.stopping import Stopping, describe_early_stop
from contrapose.tasks.history.dataset import SCHEMA, append_run, from_row, make_past_run, to_table, verified_rows
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report import summary as plain
from contrapose.tasks.report.charts import make_image_url
from contrapose.tasks.report.console import print_verdict
from contrapose.tasks.report.evidence import describe_looks
from contrapose.tasks.report.mlflow import collect_run_values
from contrapose.tasks.report.notebook import render_run_table
from contrapose.tasks.report.schema import make_schema
from contrapose.tasks.report.task import make_verdict_row

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
    return str(make_verdict_row(told["tests"][0], model="m")["criteria"])


def in_mlflow(told: Summary) -> str:
    logged = collect_run_values(told)
    assert logged.metrics["add_negation.contrast_rate"] == 0.125
    assert logged.metrics["add_negation.contrast_rate.gate"] == 0.5
    assert DECIDED in logged.tags["mlflow.note.content"]
    return logged.tags["contrapose.add_negation.criteria"]


def in_runs_of_view(told: Summary) -> str:
    (rate,) = describe_run(json.loads(json.dumps(told)), "a", str, ()).rates
    return rate.removeprefix("add_negation ")


def in_history_data(told: Summary) -> str:
    (row,) = json.loads(format_data([make_past_run(told, {})], changes=False, style="json"))
    return str(row["criteria"])


@pytest.mark.parametrize("shown", [in_table, in_mlflow, in_runs_of_view, in_history_data])
def test_each_place_shows_both_rates_and_first_the_one_that_decided(shown: Any) -> None:
    assert shown(planted_summary()) == DECIDED


def test_the_chart_shows_both_rates_and_the_verdict_beside_the_one_that_decided() -> None:
    url = make_image_url(planted_summary())
    assert url is not None
    drawn = " ".join(fromstring(b64decode(url.partition(",")[2]).decode()).itertext())
    assert "add_negation: contrast rate" in drawn
    assert "fail: 12.5% (5.0-26.0%)" in drawn
    assert "fail: 90%" not in drawn
    assert "90% (76.0-97.0%)" in drawn


def test_the_history_table_shows_both_rates_in_80_columns() -> None:
    text = "".join(show_runs([make_past_run(planted_summary(), {})], changes=False, console=Console(width=80)))
    run, first, second = [line.split() for line in text.splitlines() if line.strip()][-3:]
    assert run == ["2026-11-21", "08:02", "36", "FAIL"]
    assert first == ["contrast", "rate", "12.5%", "5.0-26.0%", "50%"]
    assert second == ["pass", "rate", "90%", "76.0-97.0%", "70%"]
    assert max(map(len, text.splitlines())) <= 80


def test_the_history_page_shows_both_rates(tmp_path: Path) -> None:
    append_run(str(tmp_path), make_past_run(planted_summary(), {"prompt": {}}), key="a")
    page = site.Viewer(root=tmp_path, history=str(tmp_path))("/history")
    text = " ".join(bytes(page.content).decode().split())  # type: ignore[union-attr,arg-type]
    assert "<b>12.5%</b> <span>contrast rate of the last run, gate 50%; also pass rate 90% (gate 70%)" in text
    assert "<td>12.5%<small>contrast rate</small><small>pass rate 90% (gate 70%)</small></td>" in text


def test_the_history_keeps_the_rates_and_reads_runs_without_them() -> None:
    kept = make_past_run(planted_summary(), {})
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
    return [criterion["name"] for criterion in list_criteria(planted(**changes))]


def test_the_order_follows_the_verdict() -> None:
    assert names() == ["contrast_rate", "pass_rate"]
    assert names(missed=None, reached=None) == ["contrast_rate", "pass_rate"]
    # Without a gate of its own the pass rate decides nothing.
    passed = {**planted(), "verdict": "pass", "gates": [gate(name="right_rate", reached=0.01, missed=1.0)]}
    assert [criterion["name"] for criterion in list_criteria(passed)] == ["right_rate", "pass_rate"]  # type: ignore[arg-type]
    close = {
        **planted(),
        "verdict": "inconclusive",
        "gates": [gate(reached=0.01, missed=1.0), gate(name="clean_rate", reached=0.2, missed=0.4)],
    }
    assert [criterion["name"] for criterion in list_criteria(close)] == ["clean_rate", "pass_rate"]  # type: ignore[arg-type]


EARLY = Stopping(cases=370, judged=36, looks=3, shares=[0.03, 0.06, 0.1], saved=675, beside=[])
WHOLE = Stopping(cases=36, judged=36, looks=2, shares=[0.5, 1.0], saved=0, beside=[])
REASON = f"With 95 % confidence the pass rate is at most 59.7%; the gate is 70.0%. {describe_early_stop(EARLY)}"
DATA = DataSummary(source="own.csv", sha256="3f" * 32, rows=373)
JUDGED = "36 of 370 cases, stopped early"


def stopped(**changes: Any) -> Outcome:
    return outcome(**{"verdict": "fail", "reason": REASON, "data": DATA, "stopping": EARLY} | changes)


def told(**changes: Any) -> Summary:
    return summary(tests=[stopped(**changes)])


def asked_to_the_end() -> Summary:
    return told(stopping=WHOLE, reason="It cannot be told.", verdict="inconclusive")


def in_terminal(shown: Summary) -> str:
    return " ".join(printed(shown).split())


def page(shown: Summary) -> str:
    text = re.sub(r"<(style|script).*?</\1>", "", b"".join(html.render(report(summary=shown))).decode(), flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", "", text).split())


def comment(shown: Summary) -> str:
    return markdown.render(report(summary=shown)).decode().replace("\\", "")


def test_the_page_shows_the_rate_that_decided_first_and_largest() -> None:
    text = page(planted_summary())
    verdicts = text.partition("How it was run")[0].rpartition("Verdicts")[2]
    assert "12.5% contrast rate" in verdicts
    assert "90%" not in verdicts
    assert "pass rate90% (76.0-97.0%) of 38 cases; gate 70% gate of the pass rate 70%" in text


def test_no_report_says_that_all_rows_were_asked() -> None:
    for text in (in_terminal(told()), page(told()), comment(told())):
        assert JUDGED in text
        assert "373 rows" not in text
    assert f"add_negation: FAIL on {JUDGED} With" in in_terminal(told())
    assert f"| ❌ fail on {JUDGED} |" in comment(told())


OTHERS = "Intervals of slices, effects and means do not allow for early stopping."


@pytest.mark.parametrize("read", [in_terminal, page, comment])
def test_savings_and_looks_are_said_where_a_test_stopped_early(read: Any) -> None:
    early, plainly, to_the_end = read(told()), read(summary()), read(asked_to_the_end())
    assert "196 model calls, 675 saved by stopping early, 40 answers from the cache" in early
    assert "The verdict and the intervals of rates with a gate account for 3 looks" in early
    assert OTHERS in early
    assert ("saved" in plainly, "looks" in plainly) == (False, False)
    assert "account for 2 looks; none decided before all cases were asked" in to_the_end
    assert ("topped early" in to_the_end, "istic" in to_the_end) == (False, False)


def test_short_outputs_say_how_far_a_test_was_asked() -> None:
    assert f"Judged: add_negation {JUDGED}." in printed(told(), show=print_verdict)
    cut = told(data=DataSummary(source="own.csv", sha256="3f" * 32, rows=10_000, limited_by="given"))
    assert f"{JUDGED} (10,000 rows; your limit)" in printed(cut)
    notebook = render_run_table(told(), folder="x", show_toxic=False)
    texts = ("Stopped as soon as the verdict was clear: 36 of 370 cases, 3 looks.", "account for 3 looks")
    assert [text for text in (*texts, "675 saved by stopping early") if text not in notebook] == []
    row = make_verdict_row(stopped(), model="mock")
    assert (row["of"], row["looks"], row["saved"]) == (370, 3, 675)
    assert "looks" not in make_verdict_row(outcome(), model="mock")
    assert make_headline(told()) == "add_negation 75.0% ≥ 70.0% after 36 of 370 cases"
    assert "after" not in make_headline(asked_to_the_end())
    assert describe_run(told(), "x", str, ()).rates == ("add_negation 75%, stopped early",)
    assert describe_run(asked_to_the_end(), "x", str, ()).rates == ("add_negation 75%",)


@pytest.mark.parametrize(("verdict", "word"), [("fail", "pessimistic"), ("pass", "optimistic")])
def test_a_rate_that_stopped_a_test_is_said_to_be_a_little_off(verdict: str, word: str) -> None:
    shown = told(verdict=verdict)
    for text in (in_terminal(shown), page(shown), comment(shown)):
        assert text.count(f"slightly {word}") == 1
        assert "verdict and interval allow for it" in text


def test_a_single_look_at_the_end_and_one_of_an_incomplete_test_are_no_news() -> None:
    single = Stopping(cases=36, judged=36, looks=1, shares=[1.0], saved=0, beside=[])
    for test in (outcome(), outcome(stopping=single), stopped(verdict="incomplete", stopping=WHOLE)):
        assert list(describe_looks(test)) == []


def test_looks_of_earlier_runs_are_counted() -> None:
    again = outcome(earlier_looks=[20, 30])
    assert list(describe_looks(again)) == [
        "the verdict and the intervals of rates with a gate account for 3 looks, 2 of them by earlier runs"
    ]
    assert "over 5 looks, 2 of them by earlier runs" in page(told(earlier_looks=[20, 30]))


def test_what_stopped_with_others_says_what_stopped_it() -> None:
    text = in_terminal(told(stopping={**EARLY, "beside": ["a", "b"]}))
    assert "Early stopping makes the difference to the other models slightly too large" in text
    assert "istic" not in text


def test_a_test_view_is_told_it() -> None:
    found = suite(stopped())
    properties = {item.get("name"): item.get("value") for item in found.iter("property")}
    assert {name: properties[name] for name in ("stopped_early", "looks", "not_asked", "saved")} == {
        "stopped_early": "true",
        "looks": "3",
        "not_asked": "334",
        "saved": "675",
    }
    body = found.findall("testcase")[0][0].text or ""
    assert "over 3 looks" in body
    assert "slightly pessimistic" in body
    assert "stopped_early" not in {item.get("name") for item in suite(outcome()).iter("property")}


def test_mlflow_is_told_it() -> None:
    found = collect_run_values(told())
    assert (found.metrics["saved"], found.metrics["add_negation.looks"]) == (675, 3)
    assert found.metrics["add_negation.not_asked"] == 334
    assert found.tags["contrapose.add_negation.stopped_early"] == "true"
    untouched = collect_run_values(summary())
    assert not {"saved", "add_negation.looks"} & {*untouched.metrics}
    assert collect_run_values(asked_to_the_end()).tags["contrapose.add_negation.stopped_early"] == "false"


def test_the_schema_describes_it() -> None:
    Draft202012Validator(make_schema()).validate(json.loads(plain.to_json(told())))
    assert make_schema()["$defs"]["Stopping"]["properties"].keys() == EARLY.keys()
