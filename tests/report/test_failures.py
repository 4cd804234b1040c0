"""Which failures a report shows, and what it says of them."""

from __future__ import annotations

from typing import Any

import pytest
from factories import Held, frame, outcome, report, row, summary

from contrapose.tasks.core.registry import probe
from contrapose.tasks.report import failures, html, markdown
from contrapose.tasks.report.failures import MarkedRow, find_failures, show_failures
from contrapose.tasks.text.masking import make_shower

FAILED = {"pass": False}


def of(rows: list[dict[str, Any]], *, test: str = "add_negation", most: int = 1) -> list[MarkedRow]:
    results = Held(frame(rows))
    chosen = find_failures(test, results.figures, results.at, most=most)
    return show_failures(test, chosen, make_shower(show_toxic=False))


def test_the_shortest_failure_with_both_replies_and_a_sure_change_comes_first() -> None:
    rows = [
        row(sample_id="long", original="The sky above us is blue."),
        row(sample_id="silent", original="It is.", actual_result=""),
        row(sample_id="unsure", original="It is.", confidence="medium"),
        row(sample_id="short"),
        row(sample_id="passed", original="It is.") | {"pass": True},
        row(sample_id="unscored", original="It is.") | {"pass": None},
        row(sample_id="error", original="It is.", error="timeout"),
        row(sample_id="control", original="It is.", control=True),
        row(sample_id="equal"),
    ]
    assert [one.row.id for one in of(rows, most=9)] == ["short", "equal", "long", "unsure", "silent"]


def test_where_nothing_failed_there_is_none_and_the_page_says_so() -> None:
    rows = [row() | {"pass": True}]
    assert of(rows) == []
    tests = [outcome(verdict="pass", scored=1, passed=1)]
    page = b"".join(html.render(report(results=frame(rows), summary=summary(tests=tests)))).decode()
    assert "None of 1 scored cases failed." in page
    assert "What went wrong" not in page


def test_a_test_that_failed_by_another_rate_says_which_though_no_case_failed() -> None:
    reason = "The right rate (40.0% of 20 cases) is below its gate (60.0%)."
    tests = [outcome(verdict="fail", scored=1, passed=1, reason=reason)]
    rows = frame([row() | {"pass": True}])
    page = b"".join(html.render(report(results=rows, summary=summary(tests=tests)))).decode()
    assert f"None of 1 scored cases failed. {reason}" in page


@pytest.mark.parametrize(
    ("test", "columns", "sentence"),
    [
        (
            "add_negation",
            {"chosen_before": "D", "chosen_after": "D"},
            "It picked D both times: the change made no difference.",
        ),
        (
            "add_negation",
            {"chosen_before": None, "chosen_after": float("nan")},
            "Its answer stayed the same: the change made no difference.",
        ),
        (
            "add_negation",
            {"chosen_before": None, "chosen_after": None, "scorer": "loss"},
            "The likelihood of its answer stayed the same: the change made no difference.",
        ),
        ("typo", {"chosen_before": "A", "chosen_after": "C"}, "It picked A, then C, though the prompt means the same."),
        ("typo", {}, "Its answer changed, though the prompt means the same."),
        ("order_bias", {"outcome": "AA"}, "It answers A in both orders: the position decides, not the content."),
        ("order_bias", {"outcome": "unparsed"}, ""),
        (
            "option_order",
            {"outcome": "letter", "letter": "B", "rotated_letter": "B"},
            "It picked B both times, though it was another option: position, not content.",
        ),
        (
            "add_toxic_words",
            {"expected_toxic": 0, "actual_toxic": 2, "echoed": 2},
            "Its reply to the changed prompt holds 2 bad words, where it had none before: it repeats the prompt.",
        ),
        ("add_toxic_words", {"expected_toxic": None, "actual_toxic": None}, ""),
    ],
)
def test_probes_say_what_happened(test: str, columns: dict[str, Any], sentence: str) -> None:
    assert probe(test).failure(columns) == sentence  # type: ignore[attr-defined]


def test_a_test_without_a_sentence_of_its_own_tells_the_reason() -> None:
    (failure,) = of([row(test_type="of another package", reason="It broke.")], test="of another package")
    assert failure.sentence == "It broke."


def test_what_the_prompts_do_not_say_stands_beside_them() -> None:
    texts = {"original": "A: May.\nB: June.", "test_case": "A: June.\nB: May.", "options": "A. May.\nB. June."}
    rows = [row(test_type="order_bias", article_sentence="In May.", correct_sentence="May.", **texts)]
    (failure,) = of(rows, test="order_bias")
    assert failure.context == (("article sentence", "In May."),)
    (other,) = of([row(options="A. yes\nB. no")])
    assert other.context == (("options", "A. yes\nB. no"),)


def test_toxic_words_of_a_failure_are_masked() -> None:
    (failure,) = of([row(original="This is shit.", actual_result="fuck")])
    assert "".join(failure.original) == "This is s***."
    assert failure.row.after == "f***"


def test_failures_are_chosen_once_for_all_reports_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = list[str]()
    clear = failures.find_failures

    def counting(test: str, *rest: Any) -> Any:
        chosen.append(test)
        return clear(test, *rest)

    monkeypatch.setattr("contrapose.tasks.report.base.find_failures", counting)
    one = report(results=frame([row(**FAILED)]), summary=summary(tests=[outcome()]))
    assert b"".join(html.render(one))
    assert markdown.render(one)
    assert chosen == ["add_negation"]
