"""Several replies a prompt: refused where they could not differ, and told apart in results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from mocked import mocked

from contrapose.flows.cli.preview import previews, previews_to_show
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.evaluate.gate import rules
from contrapose.tasks.evaluate.scoring import score_trials
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.infer.ask import asked
from contrapose.tasks.load.samples import load_samples
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.text.wording import sums

DATA = {"source": "x", "sha256": "0", "rows": 10}


def configured(**changes: Any) -> RunConfig:
    values = {"model": "mock", "repeats": 3, "tests": {"sensitivity": {"add_toxic_words": {}}}, **changes}
    return RunConfig.model_validate({"gen_kwargs": {"temperature": 0.7}, **values})


@pytest.mark.parametrize("model", ["mock", "openai/x", "embedded", "hf/a/b"])
def test_repeats_of_greedy_replies_are_refused(model: str) -> None:
    with pytest.raises(ConfigError, match=r"^repeats: 3; expected 1 at temperature 0.*temperature above 0\.$"):
        plans(configured(model=model, gen_kwargs={"temperature": 0}))


@pytest.mark.parametrize("model", ["embedded", "hf/a/b"])
def test_a_local_model_samples_only_at_a_temperature(model: str) -> None:
    (plan,) = plans(configured(model=model))
    assert plan.repeats == 3
    with pytest.raises(ConfigError, match=r"expected 1 at temperature 0"):
        plans(configured(model=model, gen_kwargs={"temperature": None}))


@pytest.mark.parametrize("temperature", [None, 0.7])
def test_an_endpoint_may_sample_by_its_own_temperature(temperature: float | None) -> None:
    (plan,) = plans(configured(model="openai/x", gen_kwargs={"temperature": temperature}))
    assert plan.repeats == 3


@pytest.mark.parametrize("repeats", [0, 101])
def test_so_many_repeats_are_none(repeats: int) -> None:
    with pytest.raises(ConfigError, match="repeats"):
        validate({"repeats": repeats}, where="suite")


def test_each_repeat_is_a_reply_and_a_row_of_its_own() -> None:
    config = configured()
    (plan,) = plans(config)
    samples = load_samples(plan.data, TextSample, limit=10, seed=0).samples
    cases = list(build_cases(samples, plan, seed=0, likelihoods="none"))
    assert len(asked(cases)) == 60
    table = score_trials(mocked(cases), plan, model="mock", embed=lambda texts: np.zeros((len(texts), 1)))
    rows = table.to_pandas()
    assert rows.groupby("repeat").size().to_dict() == {0: 10, 1: 10, 2: 10}
    assert rows.groupby("sample_id")["actual_result"].nunique().min() > 1
    skipped = pd.DataFrame({"sample_id": [], "skip_reason": []})
    outcome = summarise(rows, skipped, plan, data=DATA, rules=rules(config, plan))  # type: ignore[arg-type]
    assert sums(outcome).startswith("30 cases of 10 samples: all scored")
    assert outcome["gates"][0]["clusters"] == 10


def test_a_preview_shows_each_prompt_once() -> None:
    (found,) = previews(configured(limit=2))
    assert [len(cases) for cases in found.cases()] == [3, 3]
    (shown,) = previews_to_show(configured(limit=2))
    assert [len(cases) for cases in shown.cases()] == [1, 1]
