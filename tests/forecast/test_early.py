"""What a run that may stop early is expected to ask: by its own looks, its own evidence, and known chances."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from asked_case import case

from contrapose.tasks.core.records import Case
from contrapose.tasks.forecast.counting import CallCount
from contrapose.tasks.forecast.deciding import CaseGroups
from contrapose.tasks.forecast.early import Course, ExpectedRun, Stretch, sample_passes, simulate_rates
from contrapose.tasks.infer.chunks import list_looks
from contrapose.tasks.statistics.power import IN_CLUSTER, IN_SAMPLE, find_reach
from contrapose.tasks.statistics.shares import LEVEL, evidence, make_independent
from contrapose.tasks.tables.table import write

GATE = 0.7


def single(cases: int, *, size: int | None = None) -> Course:
    """A test with so many cases of their own, each of which asks two questions; counted in portions of 32."""
    groups = CaseGroups(
        samples=Counter({f"s{number}": 1 for number in range(cases)}),
        clusters=Counter({(f"s{number}", True): 1 for number in range(cases)}),
        judged=[*range(0, cases, size or 32), cases],
    )
    return Course(groups=groups, counts=[CallCount(questions=2 * judged) for judged in groups.judged], size=size)


def by_rate(course: Course, *, level: float = LEVEL, gate: float = GATE) -> dict[int, ExpectedRun]:
    """By how many points the true rate lies off the gate."""
    figures = simulate_rates(course, gate, level=level, cost=lambda count: count.calls / 100, seed=1)
    return {round(100 * (one.true_rate - gate)): one for one in figures}


def test_the_farther_from_the_gate_the_less_is_asked() -> None:
    found = by_rate(single(371))
    for side in (-1, 1):
        shares = [found[side * points].share or 0 for points in (30, 20, 10)]
        assert shares == sorted(shares)
        assert shares[-1] < (found[0].share or 0) <= 1
    assert (found[-30].share or 1) < 0.15
    assert found[-30].fails > 0.99
    assert found[30].passes == 1


def test_at_the_gate_hardly_a_verdict_is_wrong_and_shares_add_up() -> None:
    found = by_rate(single(371))
    error = 2 * (LEVEL / 1000) ** 0.5
    assert found[0].passes <= LEVEL + error
    assert found[0].fails <= LEVEL + error
    assert found[0].open >= 1 - 2 * (LEVEL + error)
    for one in found.values():
        assert one.passes + one.fails + one.open == pytest.approx(1)
        assert one.cost == pytest.approx(one.calls / 100)
        assert one.calls == pytest.approx(2 * 371 * (one.share or 0))
        assert (one.share or 1) <= (one.share_of_nine_in_ten or 0) * 1.2 <= 1.2


def test_one_look_is_the_test_that_is_judged_when_all_is_asked() -> None:
    found = by_rate(single(200, size=200))
    assert {one.share for one in found.values()} == {1.0}
    passing = next(true for true in range(201) if evidence(make_independent(true, 200), GATE).reached <= LEVEL)
    from scipy.stats import binom

    power = float(binom.sf(passing - 1, 200, GATE + 0.1))
    assert found[10].passes == pytest.approx(power, abs=3 * (power * (1 - power) / 1000) ** 0.5)
    bounds = find_reach(200, GATE, level=LEVEL)
    assert (found[10].passes > 0.8) == (bounds.passes_from < GATE + 0.1)


def test_a_stricter_level_asks_more() -> None:
    alone, among = by_rate(single(371)), by_rate(single(371), level=LEVEL / 4)
    assert all((among[points].share or 0) > (alone[points].share or 0) for points in (-20, -10, 10, 20))


def test_what_is_answered_costs_no_call() -> None:
    course = single(96)
    answered = Course(
        groups=course.groups,
        counts=[CallCount(questions=count.questions, answered=count.questions) for count in course.counts],
        size=None,
    )
    found = by_rate(answered)[-20]
    assert (found.calls, found.share, found.share_of_nine_in_ten, found.cost) == (0, None, None, 0)
    assert found.fails > 0.5


def test_rates_stay_within_0_and_1_and_a_gate_of_1_is_never_reached() -> None:
    found = by_rate(single(100), gate=1.0)
    assert list(found) == [-30, -20, -10, 0]
    assert all(one.passes == 0 for one in found.values())
    assert found[0].open == 1


def mixed() -> list[Case]:
    """Samples of one to three cases, in clusters of one to three samples, some skipped, some with a control."""
    cases = []
    for number in range(120):
        name, cluster = f"s{number}", f"c{number // 40}-{number // (1 + number // 40)}" if number >= 40 else None
        skipped = {"skip_reason": "empty"} if number % 7 == 3 else {}
        cases += [case(name, id=f"{name}/{one}", cluster=cluster, **skipped) for one in range(1 + number % 3)]
        cases += [case(name, id=f"{name}/control", cluster=cluster, control=True)] if number % 5 == 0 else []
    return cases


@pytest.mark.parametrize("size", [None, 8, 50])
def test_the_looks_are_those_of_the_run(size: int | None, in_tmp: object) -> None:
    cases, groups = mixed(), CaseGroups()
    for _ in groups.counting([cases]):
        pass
    course = Course(groups=groups, counts=[CallCount(), CallCount()], size=size)
    of_run = list_looks(write(cases, Case), size=size)
    assert [look.judged for look in course.looks] == [look.judged for look in of_run]
    assert len(course.looks) > 2
    assert [int(part.samples.sum()) for part in course.parts] == np.diff([0, *(n.judged for n in of_run)]).tolist()
    assert np.concatenate([part.clusters for part in course.parts]).tolist() == list(groups.clusters.values())


def test_questions_within_a_portion_are_spread_evenly_and_the_last_look_has_all() -> None:
    groups = single(100).groups
    groups.judged[:] = [0, 50, 100, 100]
    counts = [CallCount(), CallCount(questions=100), CallCount(questions=150), CallCount(questions=151)]
    course = Course(groups=groups, counts=counts, size=25)
    assert [count.questions for count in course.asked] == [50, 100, 125, 151]


def test_cases_are_as_much_alike_as_is_assumed() -> None:
    part = Stretch(samples=np.array([2, 2, 1]), begins=np.array([0, 2]))
    passed = sample_passes(part, 0.6, runs=200_000, rng=np.random.default_rng(1))
    assert passed.mean(axis=0) == pytest.approx([2.4, 0.6], abs=0.02)
    # 4 cases, 2 pairs within samples and 4 pairs between them, each pair twice.
    variance = 0.24 * (4 + 2 * (2 * IN_SAMPLE + 4 * IN_CLUSTER))
    assert passed[:, 0].var() == pytest.approx(variance, rel=0.02)
    assert passed[:, 1].var() == pytest.approx(0.24, rel=0.02)
