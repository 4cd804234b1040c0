"""Examples before every prompt: what is sent, what it is found again by, and who is not told of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contrapose.tasks.config.model_spec import ModelSpec, Shot
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.registry import find
from contrapose.tasks.forecast.counting import CallCount
from contrapose.tasks.forecast.forecast import PastAnswers, _select_settings, forecast
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai.bodies import RequestBodies

SHOTS = (Shot(user=" Is ice cold?\n", assistant="Yes. "), Shot(user="Is fire cold?", assistant="No."))
ASKED = Question(kind="generate", prompt="Is snow cold?")
IDENTITY = {"revision": "1", "dtype": "", "device": ""}
TURNS = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": " Is ice cold?\n"},
    {"role": "assistant", "content": "Yes. "},
    {"role": "user", "content": "Is fire cold?"},
    {"role": "assistant", "content": "No."},
    {"role": "user", "content": "Is snow cold?"},
]


def spec(**args: Any) -> ModelSpec:
    address = {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "none", **args}
    return ModelSpec(id="openai/x", few_shot=SHOTS, system_instruction="Be brief.", args=address)


def body(model: ModelSpec, kind: Any = "generate") -> dict[str, Any]:
    """What is sent, and what is written for a batch: the spec comes back from the store as JSON there."""
    question = Question(kind=kind, prompt=ASKED.prompt, labels=("A", "B") if kind == "choose" else ())
    sent: dict[str, Any] = json.loads(RequestBodies(spec=model).make_body(question))
    return sent


@pytest.mark.parametrize("kind", ["generate", "choose"])
def test_a_chat_gets_them_as_turns_exactly_as_they_are_written(kind: str) -> None:
    assert body(spec(), kind)["messages"] == TURNS


def test_a_completions_endpoint_gets_them_as_lm_eval_writes_them() -> None:
    sent = body(spec(endpoint="completions"))
    assert sent["prompt"] == "Be brief.\n\n Is ice cold?\n Yes. \n\nIs fire cold? No.\n\nIs snow cold?"


def test_what_a_request_takes_at_most_counts_them() -> None:
    models = spec(), spec().model_copy(update={"few_shot": ()})
    with_shots, without = (RequestBodies(spec=model).estimate_usage(ASKED).prompt_tokens for model in models)
    more = with_shots - without
    assert more >= sum(len(message["content"]) for message in TURNS[1:5]) // 2


def test_a_forecast_counts_them() -> None:
    count = CallCount(questions=10, characters=130, replies=10)
    figures = [
        forecast(count, model, past=PastAnswers(answers=()), price=None).prompt_tokens.value
        for model in (spec(), spec().model_copy(update={"few_shot": ()}))
    ]
    assert figures[0] is not None
    assert figures[1] is not None
    more = 10 * sum(len(message["content"]) for message in TURNS[1:5]) / 4
    assert figures[0] - figures[1] == pytest.approx(more, abs=1)


def test_answers_with_other_examples_tell_nothing_of_tokens() -> None:
    with_shots, without = (RunConfig(model="openai/x", few_shot=shots).model_dump(mode="json") for shots in (SHOTS, ()))
    before = {name: value for name, value in without.items() if name != "few_shot"}
    assert _select_settings(with_shots) != _select_settings(without) == _select_settings(before)


def test_they_are_part_of_the_key_of_an_answer() -> None:
    models = [spec(), spec().model_copy(update={"few_shot": SHOTS[::-1]}), spec().model_copy(update={"few_shot": ()})]
    for kind in ("generate", "choose", "loss"):
        question = Question(kind=kind, prompt="Q", labels=("A", "B"))
        assert len({Keys(model, IDENTITY).make_key(question) for model in models}) == 3


@pytest.mark.parametrize("model", ["app/cmd:cat", "app/package.module:function", "recorded/replies.jsonl"])
def test_who_has_a_prompt_of_its_own_refuses_them(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_APPS", "*")
    chosen = ModelSpec(id=model, few_shot=SHOTS)
    with pytest.raises(ModelError, match="examples before the prompt; expected none: ") as refused:
        find("providers", chosen.provider)().identity(chosen)
    assert "Leave few_shot out." in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("shots", "where"),
    [
        ([{"user": "x", "assistant": "y", "system": "z"}], "few_shot.0.system"),
        ([{"user": "x", "assistant": ""}], "few_shot.0.assistant"),
        ([{"user": "x" * 20_001, "assistant": "y"}], "few_shot.0.user"),
        ([{"user": "x", "assistant": 5}], "few_shot.0.assistant"),
        ([["x", "y"]], "few_shot.0"),
        ({"user": "x", "assistant": "y"}, "few_shot"),
    ],
)
def test_a_wrong_list_is_refused_in_one_line(shots: Any, where: str) -> None:
    from contrapose.tasks.config.suite_files import validate

    with pytest.raises(ConfigError) as refused:
        validate({"few_shot": shots}, where="suite")
    assert f"suite: {where}: " in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500
