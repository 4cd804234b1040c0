"""Samples into cases: several a sample, controls beside them, the same in any order."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from contrapose.tasks.config import Plan, RunConfig, plans
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.records import Case, Sample
from contrapose.tasks.registry import PROBES, probe


def plan_of(test: str, *, control: bool) -> Plan:
    config = RunConfig.model_validate({"tests": {probe(test).category: {test: {"control": control}}}})
    (plan,) = plans(config)
    return plan


def samples_of(test: str) -> list[Sample]:
    plan = plan_of(test, control=False)
    return list(load_samples(plan.data, probe(test).sample_type, limit=40, seed=3).samples)


def made(test: str, *, control: bool) -> list[Case]:
    return list(build_cases(samples_of(test), plan_of(test, control=control), seed=3, likelihoods="all"))


@pytest.mark.parametrize("test", PROBES)
def test_controls_change_no_case_and_stand_behind_those_of_their_sample(test: str) -> None:
    alone, beside = made(test, control=False), made(test, control=True)
    assert [case for case in beside if not case.control] == alone
    for before, case in pairwise(beside):
        assert not case.control or before.sample_id == case.sample_id


@pytest.mark.parametrize("test", PROBES)
def test_every_sample_that_is_asked_has_one_control(test: str) -> None:
    cases = made(test, control=True)
    asked = list(dict.fromkeys(case.sample_id for case in cases if case.skip_reason is None))
    twins = [case for case in cases if case.control]
    assert [twin.sample_id for twin in twins] == asked
    assert all(twin.skip_reason is None and twin.perturbed_prompt != twin.original_prompt for twin in twins)


@pytest.mark.parametrize("test", PROBES)
def test_cases_and_controls_do_not_depend_on_the_order_of_samples(test: str) -> None:
    samples = samples_of(test)
    random.Random(0).shuffle(samples)
    found = build_cases(samples, plan_of(test, control=True), seed=3, likelihoods="all")
    assert sorted(found, key=lambda case: case.id) == sorted(made(test, control=True), key=lambda case: case.id)


def test_another_seed_draws_other_words() -> None:
    plan, samples = plan_of("add_toxic_words", control=True), samples_of("add_toxic_words")
    first, second = (
        [case.perturbed for case in build_cases(samples, plan, seed=seed, likelihoods="all") if case.control]
        for seed in (1, 2)
    )
    assert first != second
