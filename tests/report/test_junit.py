"""junit.xml: what test views count is what the verdict says, and no text breaks the file."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, fromstring

import pandas as pd
import pytest
from factories import LONG, frame, outcome, report, row, summary
from hostile import HOSTILE, HUGE, hostile_report

from contrapose.tasks.core.outcome import Outcome, Verdict
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.junit import MOST, render

ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(of: Report) -> Element:
    return fromstring(render(of).decode())


def suite(test: Outcome, *rows: dict[str, object], skipped: pd.DataFrame | None = None) -> Element:
    told = summary(tests=[test])
    more = {} if skipped is None else {"skipped": skipped}
    found = read(report(summary=told, results=frame(list(rows) or [row()]), **more)).find("testsuite")
    assert found is not None
    return found


def kinds(of: Element) -> list[str]:
    """What became of each case, the gate first."""
    return [next((child.tag for child in case), "") for case in of.findall("testcase")]


ROWS = (
    row(**{"pass": True}),
    row(**{"pass": None}),
    row(**{"pass": None}, error="timeout"),
    row(),
)


def test_there_is_a_suite_for_each_test() -> None:
    found = read(report())
    assert [each.get("name") for each in found] == ["add_negation", "add_toxic_words", "order_bias"]
    assert found.get("tests") == str(sum(int(each.get("tests", "")) for each in found))


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [("pass", ""), ("fail", "failure"), ("inconclusive", "skipped"), ("incomplete", "error")],
)
def test_the_gate_carries_the_verdict(verdict: Verdict, kind: str) -> None:
    found = suite(outcome(verdict=verdict))
    assert (found.findall("testcase")[0].get("name"), kinds(found)[0]) == ("gate", kind)


def test_the_cases_that_failed_come_first() -> None:
    assert kinds(suite(outcome(verdict="fail"), *ROWS)) == ["failure", "failure", "error", "skipped", ""]


@pytest.mark.parametrize(("verdict", "gate", "skipped"), [("pass", "", "3"), ("inconclusive", "skipped", "4")])
def test_only_a_failed_or_incomplete_gate_is_red(verdict: Verdict, gate: str, skipped: str) -> None:
    found = suite(outcome(verdict=verdict), *ROWS)
    assert kinds(found) == [gate, "skipped", "skipped", "skipped", ""]
    assert [found.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["5", "0", "0", skipped]


def test_cases_that_were_not_asked_are_skipped_with_their_reason() -> None:
    skipped = pd.DataFrame([{"test_type": "add_negation", "sample_id": "s", "original": "", "skip_reason": "empty"}])
    last = suite(outcome(), skipped=skipped).findall("testcase")[-1]
    assert (last.get("name"), last.find("skipped").get("message")) == ("add_negation/s", "Without a word.")  # type: ignore[union-attr]


def test_no_two_cases_of_a_suite_have_one_name() -> None:
    rows = [row(case_id=f"add_negation/{'x' * 90}{number}{'x' * 90}") for number in range(3)]
    names = [each.get("name") for each in suite(outcome(verdict="fail"), *rows).findall("testcase")]
    assert len(set(names)) == len(names) == 4


def test_controls_are_no_cases() -> None:
    assert kinds(suite(outcome(), row(control=True))) == ["skipped"]


def test_a_failure_shows_what_was_changed_and_what_was_answered() -> None:
    told = suite(outcome(verdict="fail")).findtext("testcase[2]/failure") or ""
    assert "prompt after: The sky is {+not +}blue.\nreply before: Yes.\nreply after: Yes." in told


def test_a_change_at_the_end_of_a_long_text_is_shown() -> None:
    changed = row(original=f"{LONG * 4}It is open.", test_case=f"{LONG * 4}It is not open.")
    told = suite(outcome(verdict="fail"), changed).findtext("testcase[2]/failure") or ""
    assert "It is {+not +}open." in told
    assert len(told) < 2_000


@pytest.mark.parametrize(("show_toxic", "seen"), [(False, False), (True, True)])
def test_toxic_words_are_masked_unless_asked_for(show_toxic: bool, seen: bool) -> None:
    rows = [row(test_case="shit The sky is blue.", actual_result="what the fuck")]
    told = render(report(results=frame(rows), show_toxic=show_toxic)).decode()
    assert ("fuck" in told) is ("shit" in told) is seen


def test_the_file_stays_small() -> None:
    rows = [row(case_id=f"add_negation/{number}", original=LONG, test_case=LONG) for number in range(3_000)]
    found = render(report(summary=summary(tests=[outcome()]), results=frame(rows)))
    assert len(fromstring(found.decode()).findall("*/testcase")) == 1 + MOST
    assert len(found) < 300_000


def test_no_text_breaks_the_file_or_adds_to_it() -> None:
    for text in HOSTILE:
        content = render(hostile_report(text)).decode()
        assert not ILLEGAL.search(content)
        assert {each.tag for each in fromstring(content).iter()} <= {
            *("testsuites", "testsuite", "properties", "property", "testcase"),
            *("failure", "error", "skipped"),
        }


@pytest.mark.parametrize("text", HUGE)
def test_a_text_of_a_million_signs_stays_small(text: str) -> None:
    assert len(render(hostile_report(text))) < 500_000
