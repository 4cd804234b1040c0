"""Whole probes: the cases of a sample do not depend on the samples around it, whatever their texts."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import pytest
from places import REPOSITORY

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.records import Case, TextSample
from contrapose.tasks.perturb.cases import build_cases

ODD = (
    *("", " ", "\r\n", "\0", "\x85", "\u200b", "\u202e", "\ufeff", "e\u0301\u0336", "\u00a0", "“", '"', "'", "(", "…"),
    *["?", ". ", "; ", " not ", " isn't ", " A. x\nB. y", "sh1t", " f.u.c.k ", "天空", "Ωß", "😀", "\U000e0041"],
    "x" * 300,
)
"""What is put into texts."""


@pytest.fixture(scope="module")
def samples() -> list[TextSample]:
    """Texts of the bundled samples, the same with odd parts, and these alone."""
    lines = (line for path in (REPOSITORY / "data" / "samples").glob("*.jsonl") for line in path.open("rb"))
    values = (value for line in lines for value in json.loads(line).values())
    rng = random.Random(2)
    real = rng.sample(sorted({value for value in values if isinstance(value, str) and " " in value}), 100)

    def broken(text: str) -> str:
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(ODD) + text[at + rng.randint(0, 2) :]
        return text

    options = [(), ("yes", "no"), ("red", "green", "blue")]
    texts = (*real, *map(broken, real), *ODD)
    return [TextSample(id=f"s{n}", text=text, options=options[n % 3]) for n, text in enumerate(texts)]


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
