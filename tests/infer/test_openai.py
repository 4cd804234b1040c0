"""The OpenAI-compatible provider, against a real server on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_endpoint import Endpoint, serving

from contrapose.tasks.config import Generation, ModelSpec
from contrapose.tasks.errors import ModelError
from contrapose.tasks.infer.openai import OpenAI


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with serving() as endpoint:
        yield endpoint


def spec(server: Endpoint, **changes: object) -> ModelSpec:
    args = {"base_url": f"http://127.0.0.1:{server.port}/v1", "retries": 0, **changes.pop("args", {})}  # type: ignore[dict-item]
    return ModelSpec.model_validate({"id": "openai/any", "args": args, **changes})


def test_chat_sends_the_system_instruction_and_greedy_settings(server: Endpoint) -> None:
    reply = (
        OpenAI()
        .open(spec(server, system_instruction="Be brief.", generation=Generation(stop=("\n",))))
        .generate(["Hello"])[0]
    )
    body = server.bodies[0]
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]
    assert (body["temperature"], body["max_tokens"], body["stop"]) == (0.0, 32, ["\n"])
    assert reply.text
    assert (reply.usage.calls, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1, 10, 2)


def test_completions_put_the_system_instruction_before_the_prompt(server: Endpoint) -> None:
    OpenAI().open(spec(server, args={"endpoint": "completions"}, system_instruction="Be brief.")).generate(["Hello"])
    assert server.bodies[0]["prompt"] == "Be brief.\n\nHello"


def test_replies_keep_the_order_of_the_prompts(server: Endpoint) -> None:
    prompts = [f"Prompt {number}" for number in range(40)]
    model = OpenAI().open(spec(server))
    assert [each.text for each in model.generate(prompts)] == [model.generate([prompt])[0].text for prompt in prompts]


def test_a_server_error_is_recorded_and_is_no_answer(server: Endpoint) -> None:
    server.fail = True
    reply = OpenAI().open(spec(server)).generate(["Hello"])[0]
    assert reply.text is None
    assert reply.error is not None
    assert "500" in reply.error


def test_a_server_that_repeats_the_key_does_not_get_it_into_an_error(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server.fail = True
    error = OpenAI().open(spec(server)).generate(["Hello"])[0].error
    assert server.header == "Bearer sk-very-secret"
    assert error is not None
    assert "sk-very-secret" not in error


def test_a_broken_body_is_recorded_and_is_no_answer(server: Endpoint) -> None:
    server.garble = True
    reply = OpenAI().open(spec(server)).generate(["Hello"])[0]
    assert reply.text is None
    assert reply.error


def test_a_server_that_lists_no_models_is_reached_all_the_same(server: Endpoint) -> None:
    assert OpenAI().identity(spec(server))["device"] == "remote"


def test_a_key_is_needed_for_openai_itself() -> None:
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        OpenAI().identity(ModelSpec(id="openai/any"))
