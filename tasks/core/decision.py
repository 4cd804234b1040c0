"""Records of verdict.json: the decision on a retrained model."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from contrapose.tasks.core import comparison, outcome

Verdict = Literal["promote", "hold", "insufficient evidence"]

DEFINITIONS: dict[Verdict, str] = {
    "hold": "the candidate is worse than the baseline in a test, or its own run has the verdict fail.",
    "insufficient evidence": "not hold, and a test cannot tell, is missing, or one of the two runs is incomplete.",
    "promote": "neither of these: the candidate is better or not worse in every test.",
}
"""What a verdict means: the first that applies. A candidate whose own gates are undecided may be promoted."""


class CheckFinding(TypedDict):
    """The result of comparing the candidate in one test."""

    test_type: str
    verdict: comparison.Verdict
    reason: str


class Side(TypedDict):
    """One of the two models, with its state before the decision."""

    model: str
    revision: str
    """What the provider found it to be."""
    folder: str
    verdict: outcome.Verdict
    reason: str


class PersonsAnswer(TypedDict):
    """A person's answer about a candidate that waits for approval."""

    approved: bool
    reason: str
    by: NotRequired[str]
    """Who answered, as they wrote; absent in decisions of older versions."""


class Decision(TypedDict):
    """The decision on a candidate, and the reasons."""

    schema_version: int
    verdict: Verdict
    reasons: list[str]
    model: str
    """The candidate's id, as it was announced."""
    revision: str
    """As it was announced; empty if only a training run was."""
    training_run: str
    margin: float
    """Loss of pass rate that is still called not worse."""
    tests: list[CheckFinding]
    candidate: Side
    baseline: Side
    answer: PersonsAnswer | None
    """None if nobody was asked, or nobody has answered."""
    check: str
    """What the check is called in the response store: hashes of the configuration and of the candidate."""
    decided: str
    folder: str
    """The folder of this record and of the comparison."""
