"""Candidate and baseline: two configurations that differ in the model alone, and the name of their check."""

from __future__ import annotations

from typing import Any

import pytest

from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai.provider import OpenAI
from contrapose.tasks.promotion.candidate import ALIKE, Candidate, baseline_config, candidate_config, check_key


def config(**changes: Any) -> RunConfig:
    return RunConfig.model_validate({"model": "hf/team/model", "model_args": {"revision": "v1"}, **changes})


def candidate(model: str = "hf/team/model", **changes: Any) -> Candidate:
    return Candidate(**{"model": model, "revision": "v2", "args": {}, **changes})


def test_only_the_model_differs() -> None:
    found = candidate_config(config(limit=7), candidate())
    assert found.model_args == {"revision": "v2"}
    assert found.model_dump(exclude={"model_args"}) == config(limit=7).model_dump(exclude={"model_args"})


SERVED = config(model="openai/one", model_args={"base_url": "http://127.0.0.1:9/v1"})


@pytest.mark.parametrize(
    ("base", "named", "args"),
    [
        # The pin of the baseline is not the candidate's, and what is announced is what is judged.
        (config(), candidate(revision="", training_run="t1"), {}),
        (config(), candidate(training_run="t1"), {"revision": "v2"}),
        (config(), candidate(args={"revision": "v1", "dtype": "float32"}), {"revision": "v2", "dtype": "float32"}),
        (SERVED, candidate(), {"revision": "v2"}),
        (
            SERVED,
            candidate("openai/two", args={"concurrency": 2}),
            {"base_url": "http://127.0.0.1:9/v1", "concurrency": 2, "revision": "v2"},
        ),
    ],
)
def test_arguments_are_shared_with_a_baseline_of_the_same_provider_alone(
    base: RunConfig, named: Candidate, args: dict[str, Any]
) -> None:
    assert candidate_config(base, named).model_args == args


def test_another_baseline_takes_the_place_of_the_configured_model() -> None:
    assert baseline_config(config(), "hf/team/other").model == "hf/team/other"
    assert baseline_config(config(), "") == config()


def test_two_trainings_behind_one_name_have_answers_of_their_own(endpoint: int) -> None:
    served = config(model="openai/one", model_args={"base_url": f"http://127.0.0.1:{endpoint}/v1"})
    labels: list[dict[str, Any]] = [
        {"revision": "r1"},
        {"revision": "t3"},
        {"revision": "", "training_run": "t3"},
        {"revision": "r1", "training_run": "t3"},
        {"revision": "r1", "training_run": "t4"},
        {"revision": "r1 t3"},
    ]
    specs = [candidate_config(served, candidate("openai/one", **each)).model_spec() for each in labels]
    specs.append(served.model_spec())
    assert len({Keys(spec, OpenAI().identity(spec))._start["choose"].hexdigest() for spec in specs}) == 7


def test_equal_announcements_have_equal_keys_and_others_have_others() -> None:
    def key(named: Candidate, changed: RunConfig, *, baseline: str = "", margin: float = 0.05) -> str:
        return check_key(named, changed, baseline=baseline, margin=margin)

    first = key(candidate(), config())
    assert key(candidate(), config(output="elsewhere", refresh=True)) == first
    assert key(candidate(), config(), baseline="hf/team/model") == first
    others = [
        key(candidate("hf/team/other"), config()),
        key(candidate(revision="v3"), config()),
        key(candidate(training_run="t1"), config()),
        key(candidate(), config(limit=5)),
        key(candidate(), config(), baseline="mock"),
        key(candidate(), config(), margin=0.1),
    ]
    assert len({first, *others}) == 7
    assert [key[:ALIKE] == first[:ALIKE] for key in others] == [True] * 3 + [False] * 3
    assert len(first) == 64


@pytest.mark.parametrize("name", ["revision", "training_run"])
def test_values_do_not_run_into_each_other(name: str) -> None:
    one = candidate(model="mock", revision="", **{} if name == "revision" else {"training_run": "x"})
    two = candidate(model="mock", revision="x")
    assert check_key(one, config(), baseline="", margin=0.0) != check_key(two, config(), baseline="", margin=0.0)
