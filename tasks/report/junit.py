"""Render junit.xml: verdicts and some cases, for the test views of GitLab, Jenkins and GitHub.

A suite for each test, in which the first case is the gate. Failures and errors follow the gate: where it is passed or
inconclusive, single cases that did not pass are reported as skipped, since readers count one failure as a red run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from contrapose.tasks.core.outcome import Outcome, Summary, Verdict
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.evidence import describe_looks, format_looks, make_sentence, make_sentences
from contrapose.tasks.report.rows import OUTCOMES, ReportRow, classify, cut_name, omit_controls, pick_test, read_rows
from contrapose.tasks.text.cleaning import cut_text
from contrapose.tasks.text.diff import Segments, mark_differences
from contrapose.tasks.text.masking import Show, make_shower
from contrapose.tasks.text.wording import (
    describe_case_sum,
    find_further_reason,
    format_pass_interval,
    note_language,
    percent,
    skip_words,
)

MOST = 50
"""Cases reported of each test: what failed first, then errors, then those without a score, then what passed."""

GATES: Mapping[Verdict, str] = {"fail": "failure", "incomplete": "error", "inconclusive": "skipped"}
"""Element of the gate, by the verdict; a passed gate has none."""

LONGEST = 400
"""Characters of a text, or of a part that two prompts share."""

SHOWN = 4_000
"""Characters of a text that are searched for what was changed."""


class TestCase(NamedTuple):
    """A JUnit case that failed, had an error or was skipped."""

    kind: str
    """`failure`, `error` or `skipped`."""
    type: str
    """A word for the sort of it."""
    message: str
    """In one sentence."""
    body: str = ""
    """In full; some readers show only this."""


def render(report: Report) -> bytes:
    """Return the XML file in UTF-8. Texts are masked, cut and free of characters that XML forbids."""
    show = make_shower(show_toxic=report.show_toxic, longest=SHOWN)
    summary = report.summary
    root = Element("testsuites", name=show(f"contrapose {summary['suite']}"), time=f"{summary['seconds']:.3f}")
    for outcome in summary["tests"]:
        name, titles = cut_name(outcome["test_type"]), Counter[str]()
        suite = SubElement(root, "testsuite", name=name, time="0", timestamp=show(summary["started"][:19]))
        properties = SubElement(suite, "properties")
        for key, value in _list_properties(outcome, summary).items():
            SubElement(properties, "property", name=key, value=show(value))
        for title, shown in _list_cases(outcome, report, show):
            titles[title] += 1
            # GitLab drops a case of a name that was there: long ids are cut, and may be the same then.
            own = title if titles[title] == 1 else f"{title} ({titles[title]})"
            # The time of a single case is not known.
            case = SubElement(suite, "testcase", classname=name, name=own, time="0")
            if shown:
                element = SubElement(case, shown.kind, type=shown.type, message=cut_text(shown.message, LONGEST))
                element.text = shown.body or shown.message
        _write_counts(suite, suite.findall("testcase"))
    _write_counts(root, list(root.iter("testcase")))
    del root.attrib["skipped"]  # Jenkins' schema knows it only of a suite.
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _write_counts(element: Element, cases: list[Element]) -> None:
    element.set("tests", str(len(cases)))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(kind) is not None for case in cases)))


def _list_properties(outcome: Outcome, summary: Summary) -> dict[str, str]:
    low, high = outcome["interval"] or (None, None)
    counts = ("min_pass_rate", "pass_rate", "cases", "skipped", "scored", "passed", "unscored", "errors")
    values = {
        "run_id": summary["run_id"],
        "model": summary["model"]["id"],
        "revision": summary["model"]["revision"],
        **({"reader": summary["reader"]["id"]} if "reader" in summary else {}),
        "contrapose": summary["contrapose"],
        "probe_version": outcome["probe_version"],
        "data_sha256": outcome["data"]["sha256"],
        "verdict": outcome["verdict"],
        **{name: outcome[name] for name in counts},  # type: ignore[literal-required]
        "low_95": low,
        "high_95": high,
    }
    if stopping := outcome.get("stopping"):
        values["stopped_early"] = "true" if early_stop(outcome) else "false"
        values |= {"looks": stopping["looks"], "not_asked": stopping["cases"] - stopping["judged"]}
        values["saved"] = stopping["saved"]
    return {name: str(value) for name, value in values.items()}


def _list_cases(outcome: Outcome, report: Report, show: Show) -> Iterator[tuple[str, TestCase | None]]:
    """Yield titles and cases of a test: the gate, then asked cases, then skipped ones."""
    test, gate = outcome["test_type"], None
    if outcome["verdict"] != "pass":
        sure = ", ".join(filter(None, (format_pass_interval(outcome), format_looks(outcome))))
        rate = f"Pass rate {percent(outcome['pass_rate'])} ({sure}), gate {percent(outcome['min_pass_rate'])}."
        first, further = make_sentence(note_language(outcome)), show(find_further_reason(outcome))
        lines = (first, further, rate, *make_sentences(describe_looks(outcome)), f"{describe_case_sum(outcome)}.")
        verdict, body = outcome["verdict"], "\n".join(filter(None, lines))
        gate = TestCase(GATES[verdict], verdict, show(outcome["reason"]), body)
    yield "gate", gate
    rows = omit_controls(pick_test(report.results.figures, test))
    ranks = classify(rows).map(OUTCOMES.index).sort_values(kind="stable").head(MOST)
    places = sorted(ranks.index)
    parts = report.results.at(places)
    asked = zip(places, parts["case_id"], read_rows(parts, show), strict=True)
    for _, case_id, row in sorted(asked, key=lambda entry: (ranks[entry[0]], entry[0])):
        yield cut_name(case_id), _make_asked(row, outcome["verdict"])
    skipped = report.skipped
    if not skipped.empty:
        for one in skipped[skipped["test_type"] == test].itertuples():
            reason = show(make_sentence(skip_words(test, str(one.skip_reason))))
            yield cut_name(f"{one.test_type}/{one.sample_id}"), TestCase("skipped", "skipped", reason)


def _make_asked(row: ReportRow, verdict: Verdict) -> TestCase | None:
    """Return an asked case with replies and prompts; `[-removed-]` and `{+added+}` mark the difference."""
    if row.outcome == "pass":
        return None
    first, second = mark_differences(row.original, row.changed)
    prompts = (
        f"prompt before: {_mark_changes(first, '[-', '-]')}",
        f"prompt after: {_mark_changes(second, '{+', '+}')}",
    )
    replies = (f"reply before: {cut_text(row.before, LONGEST)}", f"reply after: {cut_text(row.after, LONGEST)}")
    body = "\n".join((row.reason, *prompts, *replies))
    if row.outcome == "unscored":
        return TestCase("skipped", row.outcome, f"Not scored: {row.reason}", body)
    if row.outcome == "wrong before":
        return TestCase(
            "skipped", row.outcome, f"Does not count, because the answer before was wrong: {row.reason}", body
        )
    if verdict == "pass":
        return TestCase("skipped", "tolerated", f"Did not pass, which the gate allows: {row.reason}", body)
    if verdict == "inconclusive":
        return TestCase("skipped", verdict, f"Did not pass; the test is inconclusive: {row.reason}", body)
    return TestCase("error" if row.outcome == "error" else "failure", row.outcome, row.reason, body)


def _mark_changes(segments: Segments, opening: str, closing: str) -> str:
    """Return a prompt with its changed parts marked; the middle of a long unchanged part is cut."""
    parts, half = [], LONGEST // 2
    for index, text in enumerate(segments):
        if index % 2:
            parts.append(f"{opening}{cut_text(text, LONGEST)}{closing}")
        else:
            parts.append(text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}")
    return "".join(parts)
