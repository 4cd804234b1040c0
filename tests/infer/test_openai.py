"""The OpenAI-compatible provider, against a real server on loopback: what is sent, and what is read."""

from __future__ import annotations

import pytest
from fake_endpoint import Endpoint
from openai_server import answered, choose, generate, only, spec
from plain_broker import PlainBroker, completions

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.asking.http import find_proxy
from contrapose.tasks.infer.openai import OpenAI
from contrapose.tasks.infer.openai.response_parsing import read_reply


def test_chat_sends_the_system_instruction_and_greedy_settings(server: Endpoint) -> None:
    chosen = spec(server, system_instruction="Be brief.", generation=Generation(stop=("\n",)))
    reply = only(answered(chosen, generate("Hello")))
    body = server.bodies[0]
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]
    assert (body["temperature"], body["max_tokens"], body["stop"]) == (0.0, 32, ["\n"])
    assert reply.completion.text
    used = reply.completion.usage
    assert (used.calls, used.prompt_tokens, used.completion_tokens) == (1, 10, 2)
    assert (reply.requests, reply.seconds > 0) == (1, True)


def test_every_question_gets_its_own_answer(server: Endpoint) -> None:
    questions = [generate(f"Prompt {number}") for number in range(10)]
    model = OpenAI().open(spec(server))
    together = [each.text for each in completions(model, questions)]
    assert together == [completions(model, [question])[0].text for question in questions]


@pytest.mark.parametrize("always", ["status 500", "status 400"])
def test_a_server_that_repeats_the_key_does_not_get_it_into_an_error(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch, always: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "127.0.0.1")
    server.always = always
    error = only(answered(spec(server), generate("Hello"))).completion.error
    assert server.header == "Bearer sk-very-secret"
    assert "fell over" in str(error)
    assert "sk-very-secret" not in str(error)


def test_packed_replies_are_read(server: Endpoint) -> None:
    server.compress = True
    broker = answered(spec(server, args={"concurrency": 1}), *(generate(f"Hello {number}") for number in range(3)))
    assert [answer.completion.error for answer in broker.answers.values()] == [None] * 3


def test_later_requests_carry_the_same_headers_as_the_first(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1234")
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "127.0.0.1")
    answered(spec(server, args={"concurrency": 1}), *(generate(f"Hello {number}") for number in range(3)))
    assert server.header == "Bearer sk-1234"
    assert len(server.bodies) == 3


def test_the_proxy_is_the_one_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside")
    assert find_proxy("http://outside/v1") == "http://proxy:3128"
    assert find_proxy("http://inside/v1") is None


def test_half_a_surrogate_pair_becomes_text_that_files_can_hold() -> None:
    body = b'{"choices": [{"text": "a\\ud800b"}]}'
    assert read_reply(body, generate("Hello")).text == "a?b"


def test_option_letters_are_compared_by_log_probability(server: Endpoint) -> None:
    server.logprobs = {" B": -0.5, "B": -2.0, "A": -3.0, "The": -4.0}
    chosen = spec(server, args={"logprobs": True})
    reply = only(answered(chosen, choose("Which?", ("A", "B", "C")))).completion
    body = server.bodies[0]
    assert (body["max_tokens"], body["logprobs"], body["top_logprobs"]) == (1, True, 20)
    assert reply.text == "B"
    assert reply.option_loglikelihoods == pytest.approx((-3.0, -0.2986, -4.0), abs=1e-3)


def test_completions_list_log_probabilities_too(server: Endpoint) -> None:
    server.logprobs = {"A": -0.5, "B": -2.0}
    chosen = spec(server, args={"logprobs": True, "endpoint": "completions"})
    assert only(answered(chosen, choose("Which?"))).completion.option_loglikelihoods == (-0.5, -2.0)


def test_a_reply_without_any_label_is_left_to_reading(server: Endpoint) -> None:
    server.logprobs = {"Hm": -0.1}
    reply = only(answered(spec(server, args={"logprobs": True}), choose("Which?"))).completion
    assert reply.text
    assert reply.option_loglikelihoods is None


def test_an_endpoint_without_log_probabilities_stops_the_run(server: Endpoint) -> None:
    broker = PlainBroker()
    with pytest.raises(ModelError, match=r"returned no log-probabilities.*Set model_args\.logprobs: false"):
        OpenAI().open(spec(server, args={"logprobs": True})).answer([choose("Which?")], broker)
    assert str(only(broker).completion.error).startswith("not asked to the end")


@pytest.mark.parametrize(
    "address", ["http://user:hunter2@host/v1", "http://host/v1?key=hunter2", "http://[::1", "http://h:99999/v1"]
)
def test_an_address_that_cannot_be_used_is_told_and_no_secret_of_it(address: str) -> None:
    with pytest.raises(ModelError) as told:
        OpenAI().identity(ModelSpec(id="openai/any", args={"base_url": address}))
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize("key", ["sk-ä", "sk-1\n2"])
def test_a_key_that_no_header_can_hold_is_told(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelError, match="printable ASCII"):
        OpenAI().identity(ModelSpec(id="openai/any", args={"base_url": "http://127.0.0.1:1/v1"}))


def test_likelihoods_are_what_the_arguments_say(server: Endpoint) -> None:
    assert OpenAI().likelihoods(spec(server)) == "none"
    assert OpenAI().likelihoods(spec(server, args={"logprobs": True})) == "choices"


def test_a_server_that_lists_no_models_is_reached_all_the_same(server: Endpoint) -> None:
    assert OpenAI().identity(spec(server))["device"] == "remote"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("concurrency", 0),
        ("concurrency", 1.5),
        ("timeout", "soon"),
        ("total_timeout", True),
        ("retries", -1),
        ("requests_per_minute", 0),
        ("tokens_per_minute", float("nan")),
        ("logprobs", "yes"),
        ("endpoint", "embeddings"),
        ("base_url", "localhost"),
    ],
)
def test_a_wrong_argument_is_named(server: Endpoint, name: str, value: object) -> None:
    with pytest.raises(ModelError, match=f"model_args.{name}"):
        OpenAI().open(spec(server, args={name: value}))


def test_nothing_is_asked_once_the_run_has_stopped(server: Endpoint) -> None:
    broker = PlainBroker(stopped="enough")
    OpenAI().open(spec(server)).answer([generate("Hello")], broker)
    assert not server.bodies
