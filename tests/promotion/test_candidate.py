"""Candidate and baseline, the verdict on the candidate, and the event that announces it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from places import REPOSITORY

from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core import outcome
from contrapose.tasks.core.comparison import Verdict
from contrapose.tasks.core.decision import CheckFinding, Side
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai.provider import OpenAI
from contrapose.tasks.promotion.candidate import (
    ALIKE,
    Candidate,
    Ruling,
    decide,
    make_baseline_config,
    make_candidate_config,
    make_check_key,
)
from contrapose.tasks.promotion.settings import RETRAINED, build_payload, make_resource


def config(**changes: Any) -> RunConfig:
    return RunConfig.model_validate({"model": "hf/team/model", "model_args": {"revision": "v1"}, **changes})


def candidate(model: str = "hf/team/model", **changes: Any) -> Candidate:
    return Candidate(**{"model": model, "revision": "v2", "args": {}, **changes})


def test_only_the_model_differs() -> None:
    found = make_candidate_config(config(limit=7), candidate())
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
    assert make_candidate_config(base, named).model_args == args


def test_another_baseline_takes_the_place_of_the_configured_model() -> None:
    assert make_baseline_config(config(), "hf/team/other").model == "hf/team/other"
    assert make_baseline_config(config(), "") == config()


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
    specs = [make_candidate_config(served, candidate("openai/one", **each)).model_spec() for each in labels]
    specs.append(served.model_spec())
    assert len({Keys(spec, OpenAI().identity(spec))._start["choose"].hexdigest() for spec in specs}) == 7


def test_equal_announcements_have_equal_keys_and_others_have_others() -> None:
    def key(named: Candidate, changed: RunConfig, *, baseline: str = "", margin: float = 0.05) -> str:
        return make_check_key(named, changed, baseline=baseline, margin=margin)

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
    assert make_check_key(one, config(), baseline="", margin=0.0) != make_check_key(
        two, config(), baseline="", margin=0.0
    )


def compared(*verdicts: Verdict) -> list[CheckFinding]:
    return [CheckFinding(test_type=f"test_{n}", verdict=each, reason="Seen.") for n, each in enumerate(verdicts)]


def side(verdict: outcome.Verdict) -> Side:
    return Side(model="mock", revision="1", folder="runs/x", verdict=verdict, reason="So it is.")


def ruling(
    tests: list[CheckFinding],
    *,
    candidate: outcome.Verdict = "pass",
    baseline: outcome.Verdict = "pass",
    selected: int | None = None,
) -> Ruling:
    names = [f"test_{n}" for n in range(len(tests) if selected is None else selected)]
    return decide(tests, selected=names, candidate=side(candidate), baseline=side(baseline))


@pytest.mark.parametrize("verdicts", [("better", "better"), ("better", "not worse"), ("not worse",)])
def test_better_or_not_worse_everywhere_is_promoted(verdicts: tuple[Verdict, ...]) -> None:
    found = ruling(compared(*verdicts))
    assert found.verdict == "promote"
    assert len(found.reasons) == len(verdicts)


def test_one_test_that_is_worse_holds_whatever_the_others_are() -> None:
    found = ruling(compared("better", "worse", "cannot tell"))
    assert found == Ruling("hold", ["test_1: worse. Seen."])


def test_gates_of_its_own_that_failed_hold_a_better_candidate() -> None:
    found = ruling(compared("better"), candidate="fail")
    assert found == Ruling("hold", ["The candidate's own run has the verdict fail. So it is."])


@pytest.mark.parametrize(
    ("tests", "candidate", "baseline", "verdict"),
    [
        (["not worse"], "inconclusive", "pass", "promote"),
        (["not worse"], "inconclusive", "fail", "promote"),
        (["not worse"], "inconclusive", "inconclusive", "promote"),
        (["better"], "incomplete", "pass", "insufficient evidence"),
        (["better"], "pass", "incomplete", "insufficient evidence"),
        (["better", "cannot tell"], "pass", "pass", "insufficient evidence"),
    ],
)
def test_only_undecided_tests_and_incomplete_runs_are_insufficient(
    tests: list[Verdict], candidate: outcome.Verdict, baseline: outcome.Verdict, verdict: str
) -> None:
    assert ruling(compared(*tests), candidate=candidate, baseline=baseline).verdict == verdict


@pytest.mark.parametrize("count", [0, 1])
def test_a_selected_test_that_was_not_compared_is_insufficient(count: int) -> None:
    found = ruling(compared("better")[:count], selected=2)
    assert found.verdict == "insufficient evidence"
    assert found.reasons[-1] == "test_1 was not compared."


def test_the_payload_has_every_key_that_the_automation_reads() -> None:
    automation = yaml.safe_load((REPOSITORY / "deployments" / "automations" / "model_retrained.yaml").read_text())
    payload = build_payload("hf/team/model", revision="v2", training_run="")
    templates = automation["actions"][0]["parameters"]
    assert {key for key in templates if f"event.payload.{key} " in templates[key]} == set(payload)
    assert set(templates) == {*payload, "announced"}
    assert automation["trigger"]["expect"] == [RETRAINED]
    prefix = automation["trigger"]["match"]["prefect.resource.id"].removesuffix("*")
    assert make_resource("hf/team/model")["prefect.resource.id"].startswith(prefix)


@pytest.mark.parametrize("model", ["", " hf/a", "hf/a\n", "x" * 501, "hf/\x00a"])
def test_a_model_that_is_none_is_refused(model: str) -> None:
    with pytest.raises(ConfigError, match="model"):
        build_payload(model, revision="v2", training_run="")


def test_a_training_that_nothing_tells_from_another_is_refused() -> None:
    with pytest.raises(ConfigError, match="two trainings look the same"):
        build_payload("hf/team/model", revision="", training_run="")
