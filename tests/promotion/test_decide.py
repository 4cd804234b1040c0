"""From verdicts in tests and on runs to a verdict on the candidate."""

from __future__ import annotations

import pytest

from contrapose.tasks.core import outcome
from contrapose.tasks.core.comparison import Verdict
from contrapose.tasks.core.decision import CheckFinding, Side
from contrapose.tasks.promotion.candidate import Ruling, decide


def compared(*verdicts: Verdict) -> list[CheckFinding]:
    return [CheckFinding(test_type=f"test_{n}", verdict=each, reason="Seen.") for n, each in enumerate(verdicts)]


def side(verdict: outcome.Verdict) -> Side:
    return Side(model="mock", revision="1", folder="runs/x", verdict=verdict, reason="So it is.")


def ruling(
    tests: list[CheckFinding],
    *,
    candidate: outcome.Verdict = "pass",
    baseline: outcome.Verdict = "pass",
    selected: int | None = None,
) -> Ruling:
    names = [f"test_{n}" for n in range(len(tests) if selected is None else selected)]
    return decide(tests, selected=names, candidate=side(candidate), baseline=side(baseline))


@pytest.mark.parametrize("verdicts", [("better", "better"), ("better", "not worse"), ("not worse",)])
def test_better_or_not_worse_everywhere_is_promoted(verdicts: tuple[Verdict, ...]) -> None:
    found = ruling(compared(*verdicts))
    assert found.verdict == "promote"
    assert len(found.reasons) == len(verdicts)


def test_one_test_that_is_worse_holds_whatever_the_others_are() -> None:
    found = ruling(compared("better", "worse", "cannot tell"))
    assert found == Ruling("hold", ["test_1: worse. Seen."])


def test_gates_of_its_own_that_failed_hold_a_better_candidate() -> None:
    found = ruling(compared("better"), candidate="fail")
    assert found == Ruling("hold", ["The candidate's own run has the verdict fail. So it is."])


@pytest.mark.parametrize(
    ("tests", "candidate", "baseline", "verdict"),
    [
        (["not worse"], "inconclusive", "pass", "promote"),
        (["not worse"], "inconclusive", "fail", "promote"),
        (["not worse"], "inconclusive", "inconclusive", "promote"),
        (["better"], "incomplete", "pass", "insufficient evidence"),
        (["better"], "pass", "incomplete", "insufficient evidence"),
        (["better", "cannot tell"], "pass", "pass", "insufficient evidence"),
    ],
)
def test_only_undecided_tests_and_incomplete_runs_are_insufficient(
    tests: list[Verdict], candidate: outcome.Verdict, baseline: outcome.Verdict, verdict: str
) -> None:
    assert ruling(compared(*tests), candidate=candidate, baseline=baseline).verdict == verdict


@pytest.mark.parametrize("count", [0, 1])
def test_a_selected_test_that_was_not_compared_is_insufficient(count: int) -> None:
    found = ruling(compared("better")[:count], selected=2)
    assert found.verdict == "insufficient evidence"
    assert found.reasons[-1] == "test_1 was not compared."
