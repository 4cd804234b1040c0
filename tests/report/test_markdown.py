"""Reports and decisions in Markdown: what people read is what was decided, and no markup comes out of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from factories import frame, outcome, report, row, summary
from hostile import rendered
from past_runs import past_run, past_test

from contrapose.tasks.core.decision import CheckFinding, Decision, Side
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.history_records import Change, History, PastRun
from contrapose.tasks.core.places import Place
from contrapose.tasks.report.decision_markdown import list_answer, write_decision
from contrapose.tasks.report.decision_markdown import render as render_decision
from contrapose.tasks.report.markdown import Block, join_fitting_blocks, render
from contrapose.tasks.text.cleaning import escape


@pytest.mark.parametrize("text", ["a_b_c", "2 * 3 * 4", "`x` | y", "[a](b) <i> & \\n", "1. one", "# two", "--- three"])
def test_an_escaped_text_is_shown_as_it_was(text: str) -> None:
    from html import unescape

    assert unescape(rendered(escape(text))).replace("\u200b", "").strip() == f"<p>{text}</p>"


def test_verdict_comes_first_and_toxic_words_are_masked_unless_asked_for() -> None:
    page = render(report()).decode()
    assert page.startswith("**❌ Fail** Failed a gate: order_bias.\n")
    assert not re.search(r"shit|fuck", page)
    texts = ("3 of 31 failing examples", "Refused rows: summary-007, summary-031.")
    assert [text for text in (*texts, "Not scored: The loss is not finite (1).") if text not in page] == []
    assert "Since the last" not in page
    assert "what the fuck is this shit?" in render(report(show_toxic=True)).decode()


def test_a_failure_shows_its_options_and_the_change_in_bold() -> None:
    rows = [row(original="The sky\nis *blue*.", test_case="The sky\nis not *blue*.", options="A. yes\nB. no")]
    page = render(report(summary=summary(tests=[outcome()]), results=frame(rows))).decode()
    assert "| before | The sky<br>is &#42;blue&#42;. | Yes. |" in page
    assert "| after | The sky<br>is <b>not</b> &#42;blue&#42;. | Yes. |" in page
    assert "options: A. yes<br>B. no" in page


def test_no_results_are_rendered_too() -> None:
    nothing = outcome(scored=0, passed=0, unscored=0, errors=0, skipped=40, pass_rate=None, interval=None, figures={})
    assert "40 cases = 40 skipped" in render(report(summary=summary(tests=[nothing]), results=pd.DataFrame())).decode()


def test_everything_of_a_long_report_fits_but_what_matters_least() -> None:
    long = dict.fromkeys(("original", "test_case", "expected_result", "actual_result"), "`|<*" * 9000)
    tests = [outcome(test_type=f"test_{number}", verdict="fail") for number in range(12)]
    rows = frame([row(test_type=f"test_{number}", **long) for number in range(12) for _ in range(5)])
    page = render(report(summary=summary(tests=tests), results=rows)).decode()
    assert len(page.encode()) < 62_000
    assert page.count("<summary>Counts and figures") == 12
    assert 0 < page.count("failing examples of") < 12
    assert " did not fit into a comment; report.html has all." in page
    assert page.count("<details>") == page.count("</details>")


def past(**changes: object) -> PastRun:
    test = past_test(test_type="order_bias", verdict="pass", pass_rate=0.8, interval=(0.7, 0.9), scored=38)
    base = {"run_id": "earlier", "suite": "quickstart", "model": "hf/example/tiny-270m"}
    return past_run(**base | {"started": "2026-11-01T08:00:00+00:00", "verdict": "pass", "tests": [test]} | changes)


def test_what_changed_since_the_last_run_that_passed_is_told() -> None:
    changes = (Change(facet="library", name="torch", before="2.12.0", after="2.13.0"),)
    page = render(report(history=History(green=past(), previous=past(run_id="later"), changes=changes))).decode()
    assert "### Since the last run that passed\n\nCompared with earlier of 1 November 2026" in page
    assert "| order&#95;bias | 80% | 23.7% | -56.3 points |" in page.replace("order_bias", "order&#95;bias")
    assert "| library | torch | 2.12.0 | 2.13.0 |" in page
    assert page.index("### Since") < page.index("| test | pass rate |") < page.index("### add")


BLOCKS = [Block(0, "head"), Block(2, "least " * 5), Block(1, "middle"), Block(0, "foot")]
LESS = "1 part did not fit into a comment; report.html has all."


def test_what_fits_stays_in_order_and_what_matters_least_goes_first() -> None:
    assert join_fitting_blocks(BLOCKS) == f"head\n\n{'least ' * 5}\n\nmiddle\n\nfoot"
    assert join_fitting_blocks(BLOCKS, most=30) == f"head\n\nmiddle\n\nfoot\n\n{LESS}"
    for text in ("é" * 20, "\U0001f600" * 10):
        assert LESS in join_fitting_blocks([Block(0, text)], most=30), "size is counted in bytes"


NASTY = "<img src=x onerror=alert(1)> [a](javascript:b) | `c` @team"


def decision(text: str = "mock") -> Decision:
    side = Side(model=text, revision=text, folder=text, verdict="pass", reason=text)
    return Decision(
        schema_version=1,
        verdict="hold",
        reasons=[text],
        model=text,
        revision=text,
        training_run=text,
        margin=0.05,
        tests=[CheckFinding(test_type="order_bias", verdict="worse", reason=text)],
        candidate=side,
        baseline=side,
        answer={"approved": False, "reason": text},
        check="0",
        decided="2030-01-01T00:00:00+00:00",
        folder=text,
    )


def test_verdict_reasons_and_tests_are_told() -> None:
    found = render_decision(decision()).decode()
    assert found.startswith("**❌ Hold** mock, revision mock, training run mock")
    assert "Rejected by a person: mock" in found
    assert "- ❌ order_bias: worse. mock" in found
    assert "The margin is 5 points" in found


def test_an_approval_says_by_whom_and_why() -> None:
    approved = decision()
    approved["answer"] = {"approved": True, "reason": "Seen by hand.", "by": "Ana"}
    assert list_answer(approved) == ["Approved by Ana: Seen by hand."]
    assert "Approved by Ana: Seen by hand." in render_decision(approved).decode()
    approved["answer"] = None
    assert list_answer(approved) == []


def test_no_markup_comes_out_of_any_text() -> None:
    found = render_decision(decision(NASTY)).decode()
    assert "<img" not in found
    assert "](" not in found
    assert "@team" not in found
    assert "| `" not in found


def test_the_files_take_the_place_of_older_ones(tmp_path: Path) -> None:
    write_decision(Place(str(tmp_path)), decision("first"))
    write_decision(Place(str(tmp_path)), decision("second"))
    assert json.loads((tmp_path / "verdict.json").read_text()) == decision("second")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["verdict.json", "verdict.md"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot write the verdict"):
        write_decision(Place(str(tmp_path / "file")), decision())
