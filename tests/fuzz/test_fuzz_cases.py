"""Whole probes: the cases of a sample do not depend on the samples around it, whatever their texts."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from fuzz_texts import corpus, text_at

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Case, TextSample
from contrapose.tasks.perturb.cases import build_cases

COUNT = 600


@pytest.fixture(scope="module")
def samples() -> list[TextSample]:
    real = corpus()
    options = [(), ("yes", "no"), ("red", "green", "blue")]
    # From 9 on, since the texts before it and every five hundredth are very long.
    numbers = (index for index in range(9, COUNT) if index % 500 > 8)
    return [TextSample(id=f"s{n}", text=text_at(n, seed=2, real=real), options=options[n % 3]) for n in numbers]


def plan_of(test: str, settings: dict[str, object]) -> Plan:
    plan = next(plan for plan in plans(RunConfig()) if plan.test == test)
    chosen = type(plan.probe_settings).model_validate(settings)
    return plan.model_copy(update={"probe_settings": chosen, "control": True})


def by_id(cases: Sequence[Case]) -> dict[str, Case]:
    assert len({case.id for case in cases}) == len(cases)
    return {case.id: case for case in cases}


@pytest.mark.parametrize(
    ("test", "settings"),
    [
        ("add_negation", {}),
        ("add_negation", {"existing_negation": "remove", "rewrite_polar": False}),
        ("add_negation", {"style": "langtest"}),
        ("add_toxic_words", {}),
        ("add_toxic_words", {"strategy": "start"}),
        ("add_toxic_words", {"strategy": "end"}),
    ],
)
def test_cases_are_the_same_in_any_order_and_batch(
    test: str, settings: dict[str, object], samples: list[TextSample]
) -> None:
    plan = plan_of(test, settings)
    whole = by_id(list(build_cases(samples, plan, seed=7, likelihoods="all")))
    shuffled = random.Random(3).sample(samples, len(samples))
    batches = (shuffled[at : at + 37] for at in range(0, len(shuffled), 37))
    assert by_id([case for batch in batches for case in build_cases(batch, plan, seed=7, likelihoods="all")]) == whole
