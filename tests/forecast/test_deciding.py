"""What the cases of a run can decide: those that are asked, fewer where they belong together."""

from __future__ import annotations

from asked_case import case

from contrapose.tasks.core.records import Case
from contrapose.tasks.forecast.deciding import CaseGroups, DecidingPower, find_deciding_power


def grouped(*cases: Case) -> CaseGroups:
    groups = CaseGroups()
    for _ in groups.counting([cases]):
        pass
    return groups


def decided(*cases: Case, gate: float = 0.65, level: float = 0.05, samples: int | None = None) -> DecidingPower:
    found = find_deciding_power(grouped(*cases), samples=samples or len(cases), rows=500, gate=gate, level=level)
    assert found is not None
    return found


def many(count: int, **changes: object) -> list[Case]:
    return [case(f"s{number}", **changes) for number in range(count)]


def test_skipped_cases_and_controls_decide_nothing() -> None:
    skipped = case("b", perturbed=None, perturbed_prompt=None, skip_reason="empty")
    assert (
        find_deciding_power(grouped(skipped, case("c", control=True)), samples=2, rows=2, gate=0.65, level=0.05) is None
    )


def test_portions_pass_unchanged() -> None:
    portions = [many(3), many(2)]
    assert list(CaseGroups().counting(portions)) == portions


def test_a_cluster_tells_less_than_as_many_samples_of_their_own() -> None:
    assert decided(*many(40)).effective == 40
    pairs = [case(f"s{number}", cluster=f"c{number // 2}") for number in range(40)]
    assert decided(*pairs).effective < 40


def test_a_cluster_may_be_named_as_a_sample_of_another_one_is() -> None:
    named = [case(f"s{number}", cluster=None if number < 20 else f"s{number - 20}") for number in range(40)]
    assert decided(*named).effective == 40


def test_repeats_are_cases_that_tell_less() -> None:
    repeats = [case(f"s{number}", repeat=repeat) for number in range(40) for repeat in range(3)]
    found = decided(*repeats, samples=40)
    assert found.cases == 120
    assert 40 < found.effective < 120


def test_few_cases_leave_too_much_open_and_the_limit_called_for_does_not() -> None:
    few = decided(*many(40))
    assert few.wide
    assert few.limit is not None
    assert not decided(*many(few.limit)).wide


def test_skipped_samples_raise_the_limit_called_for() -> None:
    all_asked, half_asked = decided(*many(40)), decided(*many(40), samples=80)
    assert all_asked.limit is not None
    assert half_asked.limit == 2 * all_asked.limit


def test_more_tests_decide_less_with_the_same_cases() -> None:
    alone, among = decided(*many(200)), decided(*many(200), level=0.01)
    assert among.reach.undecided > alone.reach.undecided


def test_few_clusters_pass_no_strict_gate_however_many_cases_they_have() -> None:
    # 0.9^28 is above 0.05, 0.9^29 is not.
    few, enough = ([case(f"s{number}", cluster=f"c{number % count}") for number in range(580)] for count in (20, 29))
    assert decided(*few, gate=0.9).reach.passes_from is None
    assert (decided(*few, gate=0.9).limit or 0) > 580 / 20 * 28
    assert decided(*enough, gate=0.9).reach.passes_from is not None
