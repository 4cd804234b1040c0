"""Cases in portions: the cases of a sample stay together."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from asked_case import case
from hypothesis import given, settings
from hypothesis import strategies as st

from contrapose.tasks.core.records import Case, TextSample
from contrapose.tasks.infer.chunks import LEAST, MOST_LOOKS, Look, group_rows, list_looks, yield_chunks
from contrapose.tasks.load.task import arrange
from contrapose.tasks.tables.table import read, read_rows, write


def made(*counts: int) -> list[Case]:
    """As many cases of each sample as the counts say."""
    return [
        case(f"{sample}/{number}", sample_id=str(sample))
        for sample, count in enumerate(counts)
        for number in range(count)
    ]


def samples(*counts: int) -> list[tuple[str, int]]:
    """Sample and row of those cases."""
    return [(case.sample_id, row) for row, case in enumerate(made(*counts))]


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [((1, 1, 1, 1, 1), [2, 2, 1]), ((3, 3), [3, 3]), ((1, 2, 1), [1, 2, 1]), ((5, 1), [5, 1]), ((), [])],
)
def test_a_portion_never_parts_a_sample(counts: tuple[int, ...], sizes: list[int]) -> None:
    assert [len(portion) for portion in group_rows(samples(*counts), 2)] == sizes


@given(counts=st.lists(st.integers(1, 7), max_size=30), size=st.integers(1, 9))
def test_portions_hold_every_case_once_in_order(counts: list[int], size: int) -> None:
    cases = made(*counts)
    rows = list(group_rows(samples(*counts), size))
    assert [row for portion in rows for row in portion] == list(range(len(cases)))
    for portion in rows:
        assert len(portion) <= size or len({cases[row].sample_id for row in portion}) == 1


def test_labels_tell_which_cases_a_portion_holds() -> None:
    table = write(made(3, 2, 1), Case)
    portions_of_three = list(yield_chunks("p", table, 4))
    assert [chunk.label for chunk in portions_of_three] == ["p 1-3 of 6", "p 4-6 of 6"]
    assert [len(read_rows(table, Case, first=chunk.first, end=chunk.end)) for chunk in portions_of_three] == [3, 3]


def test_skipped_cases_are_counted_by_row_and_not_by_label() -> None:
    cases = [replace(case, skip_reason="too short") if case.sample_id in "02" else case for case in made(1, 2, 3, 1)]
    chunk, last = yield_chunks("p", write(cases, Case), 2)
    assert (chunk.label, chunk.first, chunk.end) == ("p 1-2 of 3", 1, 3)
    assert (last.label, last.first, last.end) == ("p 3-3 of 3", 6, 7)


def test_very_many_cases_make_no_more_than_so_many_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.chunks.MOST_CHUNKS", 3)
    table = write(made(*[1] * 12), Case)
    assert [(chunk.first, chunk.end) for chunk in yield_chunks("p", table, 2)] == [(0, 4), (4, 8), (8, 12)]


CLUSTERS = st.lists(st.integers(1, 9), min_size=1, max_size=40)


def clustered_cases(*sizes: int) -> list[Case]:
    """Clusters of so many samples, each with one case and one control, and every fifth sample skipped."""
    samples = [(f"c{cluster}", number) for cluster, size in enumerate(sizes) for number in range(size)]
    cases = []
    for place, ((cluster, _), own) in enumerate(zip(samples, made(*[1] * len(samples)), strict=True)):
        skipped = replace(own, cluster=cluster, skip_reason="empty" if place % 5 == 4 else None)
        cases.append(skipped)
        if skipped.skip_reason is None:
            cases.append(replace(skipped, id=f"{own.id}/control", control=True))
    return cases


@settings(max_examples=25)
@given(CLUSTERS, st.integers(1, 20))
def test_looks_part_no_cluster_and_count_what_is_judged(sizes: list[int], size: int) -> None:
    cases = clustered_cases(*sizes)
    chosen = list_looks(write(cases, Case), size=size)
    for look in chosen:
        before, after = cases[: look.end], cases[look.end :]
        assert look.judged == sum(not case.control and case.skip_reason is None for case in before)
        assert not {case.cluster for case in before} & {case.cluster for case in after}
    assert all(later.judged - look.judged >= size for look, later in pairwise(chosen[:-1]))
    if chosen:
        assert chosen[-1].end == len(cases)


def test_of_a_cluster_and_a_sample_of_one_name_each_is_its_own() -> None:
    first, second = made(1, 1)
    cases = [replace(first, sample_id="x", cluster="y"), replace(second, sample_id="y")]
    assert list_looks(write(cases, Case), size=1) == [Look(1, 1), Look(2, 2)]


def test_unless_told_otherwise_portions_suit_the_number_of_cases() -> None:
    assert [look.judged for look in list_looks(write(made(*[1] * 100), Case), size=None)] == [
        LEAST,
        2 * LEAST,
        3 * LEAST,
        100,
    ]
    assert len(list_looks(write(made(*[1] * 5000), Case), size=None)) == MOST_LOOKS


@pytest.mark.parametrize("cases", [[], [replace(case, skip_reason="empty") for case in made(1, 1)]])
def test_where_nothing_is_judged_nobody_looks(cases: list[Case]) -> None:
    assert list_looks(write(cases, Case), size=8) == []


@settings(max_examples=25)
@given(CLUSTERS, st.integers(1, 20), st.integers(1, 20))
def test_no_portion_that_is_asked_reaches_across_a_look(sizes: list[int], size: int, portion: int) -> None:
    cases = clustered_cases(*sizes)
    table = write(cases, Case)
    ends = [look.end for look in list_looks(table, size=size)]
    parts = list(yield_chunks("p", table, portion, ends=ends))
    assert not any(part.first < end < part.end for part in parts for end in ends)
    covered = [row for part in parts for row in range(part.first, part.end) if cases[row].skip_reason is None]
    assert covered == [row for row, case in enumerate(cases) if case.skip_reason is None]


def arranged(samples: list[TextSample], *, seed: int = 0) -> list[TextSample]:
    return read(arrange.fn("p", write(samples, TextSample), seed), TextSample)


def texts(count: int) -> list[TextSample]:
    return [
        TextSample(id=f"s{number}", text="x", cluster=f"c{number % 7}" if number % 3 else None)
        for number in range(count)
    ]


def test_samples_are_arranged_by_themselves() -> None:
    whole = arranged(texts(60))
    assert sorted(sample.id for sample in whole) == sorted(sample.id for sample in texts(60))
    fewer = arranged(list(reversed(texts(60)))[10:])
    left = [sample.id for sample in fewer if sample.cluster is None]
    assert left == [sample.id for sample in whole if sample.id in left]
    assert arranged(texts(60), seed=1) != whole
    places = [sample.cluster for sample in whole if sample.cluster]
    assert len([name for name, before in zip(places, [None, *places], strict=False) if name != before]) >= 7


def test_samples_of_one_cluster_stay_together_in_their_order() -> None:
    names = [sample.cluster or sample.id for sample in arranged(texts(60))]
    begun = [name for name, before in zip(names, [None, *names], strict=False) if name != before]
    assert len(begun) == len(set(begun))
    one = [sample.id for sample in arranged(texts(60)) if sample.cluster == "c1"]
    assert one == [sample.id for sample in texts(60) if sample.cluster == "c1"]


def test_the_beginning_is_a_fair_sample() -> None:
    """Over many seeds every sample is among the first tenth about as often."""
    samples = [TextSample(id=f"s{number}", text="x") for number in range(50)]
    table, counts = write(samples, TextSample), dict.fromkeys([sample.id for sample in samples], 0)
    for seed in range(300):
        for sample in read(arrange.fn("p", table, seed), TextSample)[:5]:
            counts[sample.id] += 1
    # 300 draws at 10 %: 30, standard deviation 5.2.
    assert min(counts.values()) >= 10
    assert max(counts.values()) <= 53
