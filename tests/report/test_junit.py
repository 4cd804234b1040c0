"""junit.xml and summary.json: what machines read is what the verdict says, and no text breaks the files."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pandas as pd
import pytest
from attacks import ATTACKS
from factories import LONG, control, effect, frame, outcome, report, row, summary
from hostile import HOSTILE, HUGE, hostile_report
from jsonschema import Draft202012Validator, ValidationError

from contrapose.tasks.core.outcome import Outcome, Verdict
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.junit import MOST, render
from contrapose.tasks.report.schema import encode_schema, locate_schema, make_schema
from contrapose.tasks.report.summary import render as render_json
from contrapose.tasks.report.summary import to_json
from contrapose.tasks.text.cleaning import replace_surrogates

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


ROWS = (row(**{"pass": True}), row(**{"pass": None}), row(**{"pass": None}, error="timeout"), row())


def test_there_is_a_suite_for_each_test() -> None:
    found = read(report())
    assert [each.get("name") for each in found] == ["add_negation", "add_toxic_words", "order_bias"]
    assert found.get("tests") == str(sum(int(each.get("tests", "")) for each in found))


@pytest.mark.parametrize(
    ("verdict", "kind"), [("pass", ""), ("fail", "failure"), ("inconclusive", "skipped"), ("incomplete", "error")]
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


def closed(schema: Any) -> Any:
    """The schema, without leave for keys that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    own = {"additionalProperties": False} if "properties" in schema and "required" in schema else {}
    return {name: closed(part) for name, part in schema.items()} | own


def complete() -> Any:
    """A summary in which every part is there."""
    langtest = {"judged": 36, "passed": 20, "agreed": 30}
    return summary(tests=[outcome(control=control(), effects=[effect()], langtest=langtest)])


def test_the_published_schema_is_up_to_date() -> None:
    assert locate_schema().read_bytes() == encode_schema(), "Renew it: python -m contrapose.tasks.report.schema"


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(make_schema())


@pytest.mark.parametrize("told", [summary(), complete()])
def test_what_is_written_fits_and_has_nothing_that_is_not_described(told: Any) -> None:
    Draft202012Validator(closed(make_schema())).validate(json.loads(render_json(report(summary=told))))


@pytest.mark.parametrize("kind", ATTACKS)
def test_hostile_texts_fit_too_and_keep_it_valid(kind: str) -> None:
    for text in ATTACKS[kind]:
        assert strict(render_json(hostile_report(text)))["suite"] == replace_surrogates(text)
    told = strict(render_json(hostile_report("\n".join(ATTACKS[kind]))))
    Draft202012Validator(make_schema()).validate(told)


@pytest.mark.parametrize("wrong", [{"schema_version": 2}, {"verdict": "maybe"}, {"tests": None}, {"seconds": "long"}])
def test_anything_else_does_not_fit(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Draft202012Validator(make_schema()).validate(json.loads(json.dumps({**summary(), **wrong})))


def test_every_field_says_what_it_is() -> None:
    schema = make_schema()
    kinds = {"Summary": schema, **schema["$defs"]}
    bare = [
        (kind, name)
        for kind, parts in kinds.items()
        for name, field in parts["properties"].items()
        if not field.get("description")
    ]
    assert bare == []


def strict(text: str | bytes) -> Any:
    """JSON as its standard has it, without NaN."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


def test_the_file_holds_the_summary_in_whatever_order_its_keys_are() -> None:
    assert strict(render_json(report())) == json.loads(json.dumps(summary()))
    assert to_json(dict(reversed(summary().items()))) == to_json(summary())  # type: ignore[arg-type]


def test_what_is_not_finite_becomes_null() -> None:
    odd = outcome(figures={"a": float("nan"), "b": float("inf"), "c": np.float64("nan"), "d": np.int64(3)})
    tests = strict(to_json(summary(tests=[odd])))["tests"]
    assert tests[0]["figures"] == {"a": None, "b": None, "c": None, "d": 3}
