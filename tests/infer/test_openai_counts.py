"""Token counts that are none: nothing that was paid is lost, and no budget is evaded."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import pytest
from misbehaving import Misbehaving, misbehaving, reply, sending
from openai_server import choose, generate
from plain_broker import PlainBroker

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget, Limits
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai import OpenAI
from contrapose.tasks.infer.openai.response_parsing import NoLogprobsError, correct_counts, read_reply
from contrapose.tasks.store import Store

MOST = 2**31 - 1
ODD = (-1, -(10**20), 2**31, 10**20, 10**400, 12.5, 1e300, math.nan, math.inf, -math.inf, "12", "many", True, [12], {})
"""What is no number of tokens."""
QUESTIONS = [generate(f"Prompt {number}") for number in range(60)]


def body(**usage: object) -> bytes:
    return json.dumps({"choices": [{"text": "A"}], "usage": usage}).encode()


def odd_count(content: bytes) -> str | None:
    return correct_counts(read_reply(content, generate("Hello")), content, sent=MOST, written=MOST)[1]


def answered(
    content: bytes, broker: StoreBroker, questions: Sequence[Question], *, proper_from: int | None = None
) -> int:
    """How many requests an endpoint saw that replies so."""
    with misbehaving(Misbehaving(script=sending(content), proper_from=proper_from)) as server:
        args = {"base_url": f"http://127.0.0.1:{server.port}/v1", "retries": 0, "constrained": "off"}
        OpenAI().open(ModelSpec.model_validate({"id": "openai/any", "args": args})).answer(questions, broker)
    return server.asked


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens"])
def test_what_is_no_count_is_left_out_and_told(name: str, odd: object) -> None:
    other = "completion_tokens" if name == "prompt_tokens" else "prompt_tokens"
    content = body(**{name: odd, other: 7})
    completion = read_reply(content, generate("Hello"))
    assert completion.text == "A"
    assert (getattr(completion.usage, name), getattr(completion.usage, other)) == (0, 7)
    assert str(odd_count(content)).startswith(f"{name}: ")


@pytest.mark.parametrize("usage", [-1, "none", [10, 2], True, 1e300], ids=str)
def test_usage_that_is_none_is_left_out_and_told(usage: object) -> None:
    content = json.dumps({"choices": [{"text": "A"}], "usage": usage}).encode()
    assert read_reply(content, generate("Hello")).usage == Usage(calls=1)
    assert str(odd_count(content)).startswith("usage: ")


@pytest.mark.parametrize(("said", "count"), [(0, 0), (12, 12), (12.0, 12), (MOST, MOST), (None, 0)])
def test_a_count_is_taken_as_it_is(said: object, count: int) -> None:
    content = body(prompt_tokens=said, completion_tokens=1)
    assert read_reply(content, generate("Hello")).usage == Usage(calls=1, prompt_tokens=count, completion_tokens=1)
    assert odd_count(content) is None


@pytest.mark.parametrize("usage", [{"prompt_tokens": 10**20, "completion_tokens": 3 * 10**9}, {"prompt_tokens": -5}])
def test_one_odd_count_loses_no_answer(store: str, usage: dict[str, object]) -> None:
    run, keys = Store().runs.begin("run", config="{}", folder="."), Keys(ModelSpec(id="mock"), {"revision": "1"})
    with StoreBroker(keys, run=run, model="mock", budget=Budget()) as broker:
        answered(reply(usage=usage), broker, QUESTIONS, proper_from=1)
    row = Store().runs.get(run)
    assert len(Store().answers.find([keys.make_key(question) for question in QUESTIONS])) == row.answers == 60
    # One is estimated, and the others took 12 each.
    assert 59 * 12 < row.spent.prompt_tokens + row.spent.completion_tokens < 59 * 12 + 100
    assert len(broker.warnings) == 1


@pytest.mark.parametrize(
    ("limits", "odd"),
    [(Limits(max_tokens=500), odd) for odd in (-(10**9), 0, None, 10**30)] + [(Limits(max_cost=0.0005), -1)],
)
def test_no_count_evades_a_budget(limits: Limits, odd: object) -> None:
    broker = PlainBroker(budget=Budget(limits=limits, price=Price(input=1, output=1)))
    asked = answered(reply(usage={"prompt_tokens": odd, "completion_tokens": odd}), broker, QUESTIONS)
    # By our estimate each takes 50 tokens or more.
    assert asked <= 10
    assert "max_" in str(broker.stopped)
    assert 0 < broker.budget.spent.prompt_tokens + broker.budget.spent.completion_tokens <= 500


@pytest.mark.parametrize(
    ("usage", "name"),
    [
        ({"prompt_tokens": MOST, "completion_tokens": 2}, "prompt_tokens"),
        ({"prompt_tokens": 10_000, "completion_tokens": 2}, "prompt_tokens"),
        ({"prompt_tokens": 10, "completion_tokens": MOST}, "completion_tokens"),
        ({"prompt_tokens": 10, "completion_tokens": 5_000}, "completion_tokens"),
    ],
)
def test_counts_that_no_such_request_can_take_are_estimated_and_told_once(usage: dict[str, int], name: str) -> None:
    broker = PlainBroker()
    answered(reply(usage=usage), broker, QUESTIONS)
    spent = broker.budget.spent
    assert 60 * 10 <= spent.prompt_tokens <= 60 * 40
    assert 60 <= spent.completion_tokens <= 60 * 40
    (told,) = broker.warnings.values()
    assert told.startswith(f"The endpoint says {name}: {usage[name]:,} where a number of tokens should stand that such")


THOUGHTS = {"completion_tokens_details": {"reasoning_tokens": 4_900}}


@pytest.mark.parametrize("usage", [{"prompt_tokens": 10, "completion_tokens": 5_000, **THOUGHTS},
                                   {"prompt_tokens": 900, "completion_tokens": 2}])  # fmt: skip
def test_hidden_thoughts_and_template_of_server_are_believed(usage: dict[str, int]) -> None:
    broker = PlainBroker()
    answered(reply(usage=usage), broker, QUESTIONS[:1])
    spent = broker.budget.spent
    assert (spent.prompt_tokens, spent.completion_tokens) == (usage["prompt_tokens"], usage["completion_tokens"])
    assert not broker.warnings


@pytest.mark.parametrize(("key", "text"), [("sk-very-secret", "You sent …, I see: Bearer …."), ("EMPTY", None)])
def test_a_key_that_a_reply_repeats_is_not_kept(key: str, text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    broker, said = PlainBroker(), f"You sent {key}, I see: Bearer {key}."
    with misbehaving(Misbehaving(script=sending(reply(said)))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.port}/v1")
        OpenAI().open(ModelSpec(id="openai/any", args={"constrained": "off"})).answer(QUESTIONS[:1], broker)
    assert broker.puts[0][0].completion.text == (said if text is None else text)


def test_an_answer_without_text_that_took_no_tokens_is_not_estimated() -> None:
    broker = PlainBroker()
    answered(reply(None, usage={"prompt_tokens": 10, "completion_tokens": 0}), broker, QUESTIONS[:1])
    assert broker.budget.spent == Usage(calls=1, prompt_tokens=10)


@pytest.mark.parametrize(
    "odd",
    [
        {"token": None, "logprob": -0.1},
        {"token": 5, "logprob": -0.1},
        {"token": "C", "logprob": None},
        {"token": "A", "logprob": math.nan},
        {"token": " A", "logprob": 3.0},
        {"token": "B", "logprob": "-0.1"},
        {"token": "B", "logprob": True},
        {"token": "A", "logprob": -math.inf},
        {"token": "B", "logprob": 10**400},
    ],
    ids=str,
)
@pytest.mark.parametrize("place", [0, 2])
def test_a_token_that_is_none_is_left_out(odd: dict[str, object], place: int) -> None:
    top = [{"token": "A", "logprob": -0.5}, {"token": "B", "logprob": -2.0}]
    top.insert(place, odd)
    choice = {"message": {"content": "A"}, "logprobs": {"content": [{**top[0], "top_logprobs": top}]}}
    completion = read_reply(json.dumps({"choices": [choice]}).encode(), choose("Which?"))
    assert (completion.text, completion.error) == ("A", None)
    assert completion.option_loglikelihoods == (-0.5, -2.0)


@pytest.mark.parametrize(
    "logprobs", [None, {}, [], "content", {"content": None}, {"content": []}, {"content": [None]}, {"content": [{}]},
                 {"content": [{"top_logprobs": [{"token": None, "logprob": None}]}]}, {"top_logprobs": [None]}, 5]
)  # fmt: skip
def test_log_probabilities_that_are_none_are_no_choice(logprobs: object) -> None:
    content = json.dumps({"choices": [{"message": {"content": "A"}, "logprobs": logprobs}]}).encode()
    with pytest.raises(NoLogprobsError):
        read_reply(content, choose("Which?"))


def test_labels_are_never_likelier_than_certain() -> None:
    top = [{"token": token, "logprob": 0.0} for token in ("A", " A", "B")]
    choice = {"message": {"content": "A"}, "logprobs": {"content": [{**top[0], "top_logprobs": top}]}}
    completion = read_reply(json.dumps({"choices": [choice]}).encode(), choose("Which?"))
    assert completion.option_loglikelihoods == (pytest.approx(0, abs=1e-3), 0.0)
