"""From a comparison to a verdict on the candidate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contrapose.tasks.comparison import Comparison, judged
from contrapose.tasks.decision import Finding, Side, Verdict


class Ruling(NamedTuple):
    """A verdict and its reasons, a sentence each."""

    verdict: Verdict
    reasons: list[str]


def verdicts(comparison: Comparison) -> list[Finding]:
    """What the comparison says of the candidate, test by test."""
    return [
        Finding(test_type=test, verdict=pair["verdict"], reason=pair["reason"])
        for test, pair in judged(comparison["tests"])
        if pair["verdict"] is not None
    ]


def decide(tests: Sequence[Finding], *, selected: Sequence[str], candidate: Side, baseline: Side) -> Ruling:
    """The verdict: the first that applies of those in `DEFINITIONS`.

    Args:
        tests: what was compared.
        selected: names of the tests that were to be.
        candidate: its run.
        baseline: its run.
    """
    if worse := [*_of(tests, "worse"), *_failed(candidate)]:
        return Ruling("hold", worse)
    if open_ := [*_of(tests, "cannot tell"), *_missing(tests, selected), *_incomplete(candidate, baseline)]:
        return Ruling("insufficient evidence", open_)
    return Ruling("promote", [*_of(tests, "better"), *_of(tests, "not worse")])


def _of(tests: Sequence[Finding], verdict: str) -> Iterator[str]:
    for test in tests:
        if test["verdict"] == verdict:
            yield f"{test['test_type']}: {verdict}. {test['reason']}".strip()


def _failed(candidate: Side) -> Iterator[str]:
    if candidate["verdict"] == "fail":
        yield f"The candidate's own run has the verdict fail. {candidate['reason']}"


def _missing(tests: Sequence[Finding], selected: Sequence[str]) -> Iterator[str]:
    compared = {test["test_type"] for test in tests}
    for name in selected:
        if name not in compared:
            yield f"{name} was not compared."


def _incomplete(candidate: Side, baseline: Side) -> Iterator[str]:
    for name, side in (("candidate", candidate), ("baseline", baseline)):
        if side["verdict"] == "incomplete":
            yield f"The run of the {name} is incomplete. {side['reason']}"
