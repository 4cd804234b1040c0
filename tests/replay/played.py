"""A judge through the stages' own functions, without Prefect, a store or files: from samples to the verdict."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from asked_prompts import known
from plain_broker import PlainBroker
from planted_judges import Judge, drawn
from planted_model import AskedBack, PlantedModel

from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.outcome import DataSummary, Outcome
from contrapose.tasks.core.records import Case, Completion, Sample, TextSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.gate import make_rules
from contrapose.tasks.evaluate.scoring import score_trials, yield_follow_ups
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.infer.ask import add_reader_answers, list_questions, make_reader_question, make_trials
from contrapose.tasks.infer.base import Model
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases

SUITE = Path(__file__).parents[2] / "data" / "suites" / "full.yaml"
LIMIT = {"order_bias": 60, "judge_order": 60, "option_order": 40, "add_negation": 120}
"""Samples of a test; all where it is not named. More of them make no verdict of a planted judge another one."""
WAYS = 3
"""How often each question is filled up to four options."""
DIMENSIONS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A test as far as it goes without a model."""

    config: RunConfig
    plan: Plan
    cases: tuple[Case, ...]
    """Those that are asked."""
    skipped: pd.DataFrame
    """`sample_id` and `skip_reason` of the others."""


def config_of(test: str, **changes: object) -> RunConfig:
    """The full suite with this test alone, of a model that answers in words; `changes` are settings of the test."""
    suite = yaml.safe_load(SUITE.read_text(encoding="utf-8"))
    category = probe(test).category
    own = suite["tests"].get(category, {}).get(test, {})
    tests = {"defaults": suite["tests"]["defaults"], category: {test: {**own, **changes}}}
    return RunConfig.model_validate({**suite, "model": "openai/planted", "tests": tests})


@cache
def bundled(test: str, limit: int | None = None) -> Prepared:
    """A test on its bundled samples, as many as LIMIT says unless told otherwise."""
    config = config_of(test)
    (plan,) = plans(config)
    found = load_samples(plan.data, probe(test).sample_type, limit=limit or LIMIT.get(test), seed=0)
    return prepared(config, found.samples)


def prepared(config: RunConfig, samples: Sequence[Sample]) -> Prepared:
    """The one test of a configuration, on these samples."""
    (plan,) = plans(config)
    cases = list(build_cases(samples, plan, seed=config.seed, likelihoods="none"))
    skipped = [(case.sample_id, case.skip_reason) for case in cases if case.skip_reason is not None]
    return Prepared(
        config=config,
        plan=plan,
        cases=tuple(case for case in cases if case.skip_reason is None),
        skipped=pd.DataFrame(skipped, columns=["sample_id", "skip_reason"]),
    )


@cache
def four_options(test: str) -> Prepared:
    """A test on bundled questions, each with as many wrong options from others that it has four, in several ways.

    Among four options a guesser changes its answer in 75 % of the pairs, which is more than the gate asks for.
    """
    config = config_of(test)
    (plan,) = plans(config)
    own = load_samples(plan.data, TextSample, limit=None, seed=0).samples
    others = list(dict.fromkeys(option for sample in own for option in sample.options))
    return prepared(config, [_filled(sample, others, way) for way in range(WAYS) for sample in own])


def _filled(sample: TextSample, others: Sequence[str], way: int) -> TextSample:
    rng = drawn(sample.id, str(way))
    wrong = [option for option in (*sample.options, *rng.sample(others, 8)) if option not in sample.answers]
    options = [next(iter(sample.answers), "none of these"), *dict.fromkeys(wrong)][:4]
    rng.shuffle(options)
    return replace(sample, id=f"{sample.id}-{way}", options=tuple(options), cluster=None)


def planted(judge: Judge, test: Prepared, *, asked_back: AskedBack = "honest") -> Outcome:
    """The outcome of a test for a planted judge."""
    return played(PlantedModel(judge, known(test.cases), asked_back=asked_back), test)


def played(model: Model, test: Prepared) -> Outcome:
    """The outcome of a test for a model."""
    return judged(results(model, test), test)


def results(model: Model, test: Prepared) -> pd.DataFrame:
    """The result rows of a test for a model."""
    broker = PlainBroker()
    model.answer(list_questions(test.cases), broker)
    answers = {question: answer.completion for question, answer in broker.answers.items()}
    assert set(list_questions(test.cases)) <= set(answers), "the model left a question open"
    missing = Completion(error="missing")
    found = _asked_back(make_trials(test.cases, answers, missing=missing), test, model=model, broker=broker)
    return score_trials(found, test.plan, model="planted", embed=word_vectors).to_pandas()


def judged(rows: pd.DataFrame, test: Prepared) -> Outcome:
    """The outcome that result rows come to."""
    data = DataSummary(source="planted", sha256="", rows=len(test.cases))
    return summarise(rows, test.skipped, test.plan, data=data, rules=make_rules(test.config, test.plan))


def _asked_back(found: list[Trial], test: Prepared, *, model: Model, broker: PlainBroker) -> list[Trial]:
    """The trials, once the model was asked which option its unread replies choose."""
    if not test.plan.probe_settings.asks_back("none"):
        return found
    questions = list(yield_follow_ups([found], test.plan, embed=word_vectors))
    model.answer(list(dict.fromkeys(map(make_reader_question, questions))), broker)
    return add_reader_answers(
        found, questions, {question: each.completion for question, each in broker.answers.items()}
    )


def word_vectors(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of the words in texts, in place of an embedding model: (texts, dimensions), float32."""
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.casefold().split() or [""]:
            digest = hashlib.sha256(word.strip(".,;:!?\"'“”").encode()).digest()
            vectors[row, int.from_bytes(digest[:4], "big") % DIMENSIONS] += 1
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
