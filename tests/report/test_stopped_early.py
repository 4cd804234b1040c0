"""A test that was decided early: every report says how far it was asked, what that saved, and what its figures are."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from factories import outcome, report, summary
from jsonschema import Draft202012Validator
from terminal import printed
from test_junit import suite

from contrapose.flows.orchestration.verdict_state import headline
from contrapose.flows.serve.view.runs import describe_run
from contrapose.tasks.core.outcome import DataSummary, Outcome, Summary
from contrapose.tasks.core.stopping import Stopping, stopped_early
from contrapose.tasks.report import html, markdown
from contrapose.tasks.report import summary as plain
from contrapose.tasks.report.artifacts import verdict_row
from contrapose.tasks.report.console import print_verdict
from contrapose.tasks.report.evidence import describe_looks
from contrapose.tasks.report.mlflow import values_of_run
from contrapose.tasks.report.notebook import run_html
from contrapose.tasks.report.schema import summary_schema

EARLY = Stopping(cases=370, judged=36, looks=3, shares=[0.03, 0.06, 0.1], saved=675, beside=[])
WHOLE = Stopping(cases=36, judged=36, looks=2, shares=[0.5, 1.0], saved=0, beside=[])
REASON = f"With 95 % confidence the pass rate is at most 59.7%; the gate is 70.0%. {stopped_early(EARLY)}"
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
    notebook = run_html(told(), folder="x", show_toxic=False)
    texts = ("Stopped as soon as the verdict was clear: 36 of 370 cases, 3 looks.", "account for 3 looks")
    assert [text for text in (*texts, "675 saved by stopping early") if text not in notebook] == []
    row = verdict_row(stopped(), model="mock")
    assert (row["of"], row["looks"], row["saved"]) == (370, 3, 675)
    assert "looks" not in verdict_row(outcome(), model="mock")
    assert headline(told()) == "add_negation 75.0% ≥ 70.0% after 36 of 370 cases"
    assert "after" not in headline(asked_to_the_end())
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
    found = values_of_run(told())
    assert (found.metrics["saved"], found.metrics["add_negation.looks"]) == (675, 3)
    assert found.metrics["add_negation.not_asked"] == 334
    assert found.tags["contrapose.add_negation.stopped_early"] == "true"
    untouched = values_of_run(summary())
    assert not {"saved", "add_negation.looks"} & {*untouched.metrics}
    assert values_of_run(asked_to_the_end()).tags["contrapose.add_negation.stopped_early"] == "false"


def test_the_schema_describes_it() -> None:
    Draft202012Validator(summary_schema()).validate(json.loads(plain.to_json(told())))
    assert summary_schema()["$defs"]["Stopping"]["properties"].keys() == EARLY.keys()
