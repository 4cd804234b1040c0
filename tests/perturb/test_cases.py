"""Samples into cases: several a sample, controls beside them, the same in any order."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Case, Sample
from contrapose.tasks.core.registry import PROBES, probe
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases, repeat_cases


def plan_of(test: str, *, control: bool, repeats: int = 1) -> Plan:
    values = {"tests": {probe(test).category: {test: {"control": control}}}, "repeats": repeats}
    (plan,) = plans(RunConfig.model_validate({**values, "model": "mock", "gen_kwargs": {"temperature": 0.7}}))
    return plan


@cache
def samples_of(test: str) -> list[Sample]:
    plan = plan_of(test, control=False)
    return list(load_samples(plan.data, probe(test).sample_type, limit=40, seed=3).samples)


@cache
def made(test: str, *, control: bool) -> list[Case]:
    return list(build_cases(samples_of(test), plan_of(test, control=control), seed=3, likelihoods="all"))


@pytest.mark.parametrize("test", PROBES)
def test_controls_change_no_case_and_stand_behind_those_of_their_sample(test: str) -> None:
    alone, beside = made(test, control=False), made(test, control=True)
    assert [case for case in beside if not case.control] == alone
    for before, case in pairwise(beside):
        assert not case.control or before.sample_id == case.sample_id


@pytest.mark.parametrize("test", PROBES)
def test_every_sample_that_is_asked_has_one_control_of_its_first_case(test: str) -> None:
    cases = made(test, control=True)
    asked = {case.sample_id: case for case in reversed(cases) if case.skip_reason is None and not case.control}
    twins = {case.sample_id: case for case in cases if case.control}
    assert len(twins) == sum(case.control for case in cases)
    assert list(twins) == list(reversed(asked))
    for name, twin in twins.items():
        case = asked[name]
        assert (twin.id, twin.skip_reason) == (f"{test}/{name}/control", None)
        assert (twin.original_prompt, twin.scorer, twin.options) == (case.original_prompt, case.scorer, case.options)
        assert twin.perturbed_prompt not in (case.original_prompt, case.perturbed_prompt)
        assert twin.perturbed not in (twin.original, case.perturbed)


@pytest.mark.parametrize("test", PROBES)
def test_cases_and_controls_do_not_depend_on_the_order_of_samples(test: str) -> None:
    samples = random.Random(0).sample(samples_of(test), len(samples_of(test)))
    found = build_cases(samples, plan_of(test, control=True), seed=3, likelihoods="all")
    assert sorted(found, key=lambda case: case.id) == sorted(made(test, control=True), key=lambda case: case.id)


def test_another_seed_draws_other_words() -> None:
    plan, samples = plan_of("add_toxic_words", control=True), samples_of("add_toxic_words")
    first, second = (
        [case.perturbed for case in build_cases(samples, plan, seed=seed, likelihoods="all") if case.control]
        for seed in (1, 2)
    )
    assert first != second


@pytest.mark.parametrize("test", PROBES)
def test_repeats_follow_their_case_and_ask_the_same(test: str) -> None:
    once, found = (
        list(build_cases(samples_of(test), plan_of(test, control=True, repeats=repeats), seed=3, likelihoods="none"))
        for repeats in (1, 3)
    )
    assert [case for case in found if not case.repeat] == once
    assert len({case.id for case in found}) == len(found) > len(once)
    for before, case in pairwise(found):
        if case.repeat:
            assert case == replace(before, id=case.id, repeat=before.repeat + 1)


def test_the_repeats_of_a_case_are_numbered_from_two() -> None:
    plan = plan_of("add_toxic_words", control=True, repeats=3)
    first = list(build_cases(samples_of("add_toxic_words")[:1], plan, seed=3, likelihoods="all"))
    name = first[0].id
    assert [case.id for case in first] == [
        *(name, f"{name}#2", f"{name}#3"),
        *(f"{name}/control", f"{name}/control#2", f"{name}/control#3"),
    ]


def test_what_is_skipped_or_read_by_likelihood_is_not_repeated() -> None:
    plan = plan_of("order_bias", control=False, repeats=3)
    found = build_cases(samples_of("order_bias"), plan, seed=3, likelihoods="all")
    assert all(case.asks == "choose" and not case.repeat for case in found)
    skipped = replace(made("add_toxic_words", control=False)[0], skip_reason="empty")
    assert list(repeat_cases([skipped], 3)) == [skipped]
