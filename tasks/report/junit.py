"""junit.xml: the verdicts and some of the cases, for the test views of GitLab, Jenkins and GitHub.

A suite for each test, in which the first case is the gate. What a suite has of failures and errors follows the gate:
where that is passed, single cases that did not pass are told as skipped, for readers count one failure as a red run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import pandas as pd

from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.report.base import Report
from contrapose.tasks.report.evidence import ended, looked, looks
from contrapose.tasks.report.rows import ReportRow, RowOutcome, name_of, outcomes, read_rows, tested
from contrapose.tasks.text.cleaning import cut
from contrapose.tasks.text.diff import Segments, mark
from contrapose.tasks.text.masking import Show, shower
from contrapose.tasks.text.wording import first_line, further_reason, interval, percent, skip_words, sums

MOST = 50
"""Cases told of each test: what failed first, then errors, then those without a score, then what passed."""

LONGEST = 400
"""Characters of a text, or of a part that two prompts share."""

SHOWN = 4_000
"""Characters of a text that are looked at for what was changed."""

ORDER: tuple[RowOutcome, ...] = ("fail", "error", "unscored", "wrong before", "pass")

_KINDS = {"fail": "failure", "inconclusive": "failure", "incomplete": "error"}
"""Verdicts that are not passed, and what they are in a file of this format."""


class TestCase(NamedTuple):
    """What is said of a case that is not simply passed."""

    kind: str
    """`failure`, `error` or `skipped`."""
    type: str
    """A word for the sort of it."""
    message: str
    """In one sentence."""
    body: str = ""
    """In full; some readers show only this."""


def render(report: Report) -> bytes:
    """The file as UTF-8. Texts are masked, cut and free of signs that XML cannot hold."""
    show = shower(show_toxic=report.show_toxic, longest=SHOWN)
    summary = report.summary
    root = Element("testsuites", name=show(f"contrapose {summary['suite']}"), time=f"{summary['seconds']:.3f}")
    for outcome in summary["tests"]:
        _suite(root, outcome, report, show)
    _count(root, list(root.iter("testcase")))
    del root.attrib["skipped"]  # Jenkins' schema knows it only of a suite.
    indent(root)
    content: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _suite(root: Element, outcome: Outcome, report: Report, show: Show) -> None:
    name = name_of(outcome["test_type"])
    suite = SubElement(root, "testsuite", name=name, time="0", timestamp=show(report.summary["started"][:19]))
    properties = SubElement(suite, "properties")
    for key, value in _properties(outcome, report.summary):
        SubElement(properties, "property", name=key, value=show(value))
    cases = chain([("gate", _gate(outcome, show))], _asked(outcome, report, show), _skipped(outcome, report, show))
    titles = Counter[str]()
    for title, shown_cases in cases:
        titles[title] += 1
        # GitLab drops a case of a name that was there: long ids are cut, and may be the same then.
        own = title if titles[title] == 1 else f"{title} ({titles[title]})"
        # How long a single case took is not known.
        case = SubElement(suite, "testcase", classname=name, name=own, time="0")
        if shown_cases:
            SubElement(
                case, shown_cases.kind, type=shown_cases.type, message=cut(shown_cases.message, LONGEST)
            ).text = shown_cases.body or shown_cases.message
    _count(suite, suite.findall("testcase"))


def _count(element: Element, cases: list[Element]) -> None:
    element.set("tests", str(len(cases)))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(kind) is not None for case in cases)))


def _properties(outcome: Outcome, summary: Summary) -> Iterator[tuple[str, str]]:
    yield "run_id", summary["run_id"]
    yield "model", summary["model"]["id"]
    yield "revision", summary["model"]["revision"]
    if "reader" in summary:
        yield "reader", summary["reader"]["id"]
    yield "contrapose", summary["contrapose"]
    yield "probe_version", outcome["probe_version"]
    yield "data_sha256", outcome["data"]["sha256"]
    yield "verdict", outcome["verdict"]
    for name in ("min_pass_rate", "pass_rate", "cases", "skipped", "scored", "passed", "unscored", "errors"):
        yield name, str(outcome[name])
    low, high = outcome["interval"] or (None, None)
    yield "low_95", str(low)
    yield "high_95", str(high)
    if stopping := outcome.get("stopping"):
        yield "stopped_early", "true" if early_stop(outcome) else "false"
        yield "looks", str(stopping["looks"])
        yield "not_asked", str(stopping["cases"] - stopping["judged"])
        yield "saved", str(stopping["saved"])


def _gate(outcome: Outcome, show: Show) -> TestCase | None:
    if outcome["verdict"] == "pass":
        return None
    sure = ", ".join(filter(None, (interval(outcome), looks(outcome))))
    rate = f"Pass rate {percent(outcome['pass_rate'])} ({sure}), gate {percent(outcome['min_pass_rate'])}."
    reason = show(outcome["reason"])
    first = ended(first_line(outcome))
    lines = (first, show(further_reason(outcome)), rate, *map(ended, looked(outcome)), f"{sums(outcome)}.")
    body = "\n".join(filter(None, lines))
    return TestCase(_KINDS[outcome["verdict"]], outcome["verdict"], reason, body)


def _asked(outcome: Outcome, report: Report, show: Show) -> Iterator[tuple[str, TestCase | None]]:
    figures = report.results.figures
    rows = tested(figures[figures["test_type"] == outcome["test_type"]])
    ranks = outcomes(rows).map(ORDER.index).sort_values(kind="stable").head(MOST)
    parts = report.results.at(sorted(ranks.index))
    ranked = zip(sorted(ranks.index), parts["case_id"], read_rows(parts, show), strict=True)
    for _, case_id, row in sorted(ranked, key=lambda entry: (ranks[entry[0]], entry[0])):
        yield name_of(case_id), _case(row, gate=outcome["verdict"])


def _case(row: ReportRow, *, gate: str) -> TestCase | None:
    if row.outcome == "pass":
        return None
    if row.outcome == "unscored":
        return TestCase("skipped", "unscored", f"Not scored: {row.reason}", _texts(row))
    if row.outcome == "wrong before":
        return TestCase(
            "skipped", row.outcome, f"Tells nothing, for the answer before was wrong: {row.reason}", _texts(row)
        )
    if gate == "pass":
        return TestCase("skipped", "tolerated", f"Did not pass, which the gate allows: {row.reason}", _texts(row))
    return TestCase({"fail": "failure", "error": "error"}[row.outcome], row.outcome, row.reason, _texts(row))


def _texts(row: ReportRow) -> str:
    """The prompts, with their difference as `[-taken away-]` and `{+added+}`, and the replies."""
    first, second = mark(row.original, row.changed)
    return "\n".join(
        (
            row.reason,
            f"prompt before: {_marked(first, '[-', '-]')}",
            f"prompt after: {_marked(second, '{+', '+}')}",
            f"reply before: {cut(row.before, LONGEST)}",
            f"reply after: {cut(row.after, LONGEST)}",
        )
    )


def _marked(segments: Segments, opening: str, closing: str) -> str:
    return "".join(
        f"{opening}{cut(segment, LONGEST)}{closing}" if index % 2 else _near(segment)
        for index, segment in enumerate(segments)
    )


def _near(shared: str) -> str:
    """A shared part without its middle, where that is long: what was changed lies at its ends."""
    half = LONGEST // 2
    return shared if len(shared) <= LONGEST else f"{shared[:half]} … {shared[-half:]}"


def _skipped(outcome: Outcome, report: Report, show: Show) -> Iterable[tuple[str, TestCase]]:
    rows: pd.DataFrame = report.skipped
    if rows.empty:
        return
    for row in rows[rows["test_type"] == outcome["test_type"]].itertuples():
        reason = show(ended(skip_words(outcome["test_type"], str(row.skip_reason))))
        yield name_of(f"{row.test_type}/{row.sample_id}"), TestCase("skipped", "skipped", reason)
