"""Several replies a prompt: refused where they could not differ, and told apart in results."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from mocked import mocked

from contrapose.flows.cli.preview import load_previews, load_previews_to_show
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import NOISE_SAMPLES, RunConfig
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import Completion, TextSample
from contrapose.tasks.evaluate.gate import make_rules
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.infer.ask import list_extras, list_questions, make_trials
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases, draw_further_ids
from contrapose.tasks.text.wording import describe_case_sum

DATA = {"source": "x", "sha256": "0", "rows": 10}


def configured(**changes: Any) -> RunConfig:
    values = {"model": "mock", "repeats": 3, "tests": {"sensitivity": {"add_toxic_words": {}}}, **changes}
    return RunConfig.model_validate({"gen_kwargs": {"temperature": 0.7}, **values})


@pytest.mark.parametrize(("name", "least"), [("repeats", 1), ("noise", 0)])
@pytest.mark.parametrize("model", ["mock", "embedded", "hf/a/b"])
@pytest.mark.parametrize("temperature", [0, None])
def test_a_local_model_at_temperature_0_is_not_asked_again(
    model: str, name: str, least: int, temperature: float | None
) -> None:
    expected = rf"^{name}: 3; expected {least} for a local model at temperature 0.*temperature above 0\.$"
    changes: dict[str, Any] = {"repeats": 1, name: 3, "model": model, "gen_kwargs": {"temperature": temperature}}
    with pytest.raises(ConfigError, match=expected):
        plans(configured(**changes))
    (plan,) = plans(configured(**{**changes, "gen_kwargs": {"temperature": 0.7}}))
    assert getattr(plan, name) == 3


@pytest.mark.parametrize("temperature", [0, None, 0.7])
@pytest.mark.parametrize("model", ["openai/x", "recorded/replies.jsonl", "app/http://127.0.0.1:1/"])
def test_an_endpoint_an_application_and_a_recording_may_answer_differently(
    model: str, temperature: float | None
) -> None:
    (plan,) = plans(configured(model=model, gen_kwargs={"temperature": temperature}))
    assert (plan.repeats, plan.noise) == (3, 0)


@pytest.mark.parametrize(
    ("changes", "noise"),
    [
        ({"model": "openai/x"}, NOISE_SAMPLES),
        ({"model": "openai/x", "noise": 7}, 7),
        ({"model": "openai/x", "repeats": 2}, 0),
        ({"model": "embedded"}, 0),
        ({"model": "embedded", "gen_kwargs": {"temperature": 0.7}}, NOISE_SAMPLES),
        ({"model": "app/http://127.0.0.1:1/"}, 0),
        ({"model": "app/http://127.0.0.1:1/", "noise": 7}, 7),
        ({"model": "recorded/replies.jsonl"}, sys.maxsize),
    ],
)
def test_noise_is_measured_where_replies_may_differ(changes: dict[str, Any], noise: int) -> None:
    (plan,) = plans(configured(**{"repeats": 1, "gen_kwargs": {"temperature": None}, **changes}))
    assert plan.noise == noise


def test_both_prompts_of_some_samples_are_asked_once_more() -> None:
    (plan,) = plans(configured(model="openai/x", repeats=1, noise=3))
    samples = load_samples(plan.data, TextSample, limit=10, seed=0).samples
    drawn = draw_further_ids([sample.id for sample in samples], plan, seed=0, likelihoods="none")
    cases = list(build_cases(samples, plan, seed=0, likelihoods="none", besides=drawn))
    again = [case for case in cases if case.also_again]
    assert len(again) == 3
    assert not any(case.control for case in again)
    questions = list_extras(cases)
    assert [question.prompt for question in questions] == [
        prompt for case in again for prompt in (case.original_prompt, case.perturbed_prompt)
    ]
    assert {question.repeat for question in questions} == {1}
    answers = {question: Completion(text="first") for question in list_questions(cases)}
    answers |= {question: Completion(text="second") for question in questions}
    for trial in make_trials(cases, answers, missing=Completion(error="missing")):
        expected = "second" if trial.case.also_again else None
        assert (trial.expected.again, trial.actual.again) == (expected, expected)


@pytest.mark.parametrize("repeats", [0, 101])
def test_so_many_repeats_are_none(repeats: int) -> None:
    with pytest.raises(ConfigError, match="repeats"):
        validate({"repeats": repeats}, where="suite")


def test_each_repeat_is_a_reply_and_a_row_of_its_own() -> None:
    config = configured()
    (plan,) = plans(config)
    samples = load_samples(plan.data, TextSample, limit=10, seed=0).samples
    cases = list(build_cases(samples, plan, seed=0, likelihoods="none"))
    assert len(list_questions(cases)) == 60
    table = score_trials(mocked(cases), plan, model="mock", embed=lambda texts: np.zeros((len(texts), 1)))
    rows = table.to_pandas()
    assert rows.groupby("repeat").size().to_dict() == {0: 10, 1: 10, 2: 10}
    assert rows.groupby("sample_id")["actual_result"].nunique().min() > 1
    skipped = pd.DataFrame({"sample_id": [], "skip_reason": []})
    outcome = summarise(rows, skipped, plan, data=DATA, rules=make_rules(config, plan))  # type: ignore[arg-type]
    assert describe_case_sum(outcome).startswith("30 cases of 10 samples: all scored")
    assert outcome["gates"][0]["clusters"] == 10


def test_a_preview_shows_each_prompt_once() -> None:
    (found,) = load_previews(configured(limit=2))
    assert [len(cases) for cases in found.cases()] == [3, 3]
    (shown,) = load_previews_to_show(configured(limit=2))
    assert [len(cases) for cases in shown.cases()] == [1, 1]
