"""LiteLLM's own client against a server with Anthropic's API, and with OpenAI's: what is sent, and what comes of it.

Formats: https://platform.claude.com/docs/en/api/messages and .../errors; OpenAI's as in the other tests.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from plain_broker import PlainBroker, ask_prompts
from small_server import Asked, answering

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ContraposeError, ModelError
from contrapose.tasks.core.questions import Answer
from contrapose.tasks.infer import litellm as adapter

KEY = "sk-ant-api03-4f9a71c2e8"

# Its own modules, which it imports late, warn of what pydantic does not do for them.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def test_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    adapter.load_litellm.cache_clear()
    provider = registry.provider("litellm")
    assert provider.concurrency == 16
    with pytest.raises(ModelError, match="LiteLLM is not installed") as caught:
        provider.check(ModelSpec(id="litellm/cohere/command-a-03-2025"))
    assert 'pip install "contrapose[litellm]"' in caught.value.remedy


def test_library_is_imported_only_where_it_is_used() -> None:
    import subprocess

    code = "import sys; from contrapose.tasks.core.registry import provider; provider('litellm'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "litellm" not in done.stdout.split()


@dataclass
class Server:
    """A server that gives the next of its replies."""

    url: str = ""
    replies: list[tuple[int, Any, dict[str, str]]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def answer(self, asked: Asked) -> None:
        headers = {name.lower(): value for name, value in asked.headers.items()}
        self.asked.append((asked.path, headers, json.loads(asked.read())))
        status, content, further = self.replies.pop(0)
        asked.reply(
            json.dumps(content).encode(), status=status, headers={"Content-Type": "application/json", **further}
        )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server whose host the owner of the keys names."""
    if find_spec("litellm") is None:
        pytest.skip("the extra litellm is not installed")
    adapter.load_litellm.cache_clear()
    monkeypatch.setattr("contrapose.tasks.infer.asking.outcomes.FIRST_WAIT", 0.01)
    found = Server()
    with answering(found.answer) as url:
        found.url = url
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        host = url.removeprefix("http://")
        monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", f"ANTHROPIC_API_KEY={host},OPENAI_API_KEY={host}")
        yield found


def claude(server: Server, **changes: Any) -> ModelSpec:
    args = {"api_base": server.url, "concurrency": 1, **changes.pop("args", {})}
    return ModelSpec(id="litellm/anthropic/claude-opus-4-6", args=args, **changes)


def ask(spec: ModelSpec, *prompts: str) -> tuple[list[Answer], PlainBroker]:
    broker = ask_prompts(spec, *prompts)
    return list(broker.answers.values()), broker


def message(text: str | None, stop: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL", "type": "message", "role": "assistant", "model": "claude-opus-4-6",
        "content": [] if text is None else [{"type": "text", "text": text}],
        "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 2},
    }  # fmt: skip


def error(kind: str, text: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}


def completion(text: str | None, finish: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


@pytest.mark.slow
def test_request_to_anthropic_is_sent_once_with_its_key_and_nothing_else(server: Server) -> None:
    server.replies = [(200, message("B"), {})]
    spec = claude(server, system_instruction="Be short.", generation=Generation(max_new_tokens=7, stop=("\n",)))
    [answer], _ = ask(spec, "A or B?")
    assert answer.completion.error is None
    assert (answer.completion.text, answer.completion.outcome, answer.requests) == ("B", "answered", 1)
    assert (answer.completion.usage.prompt_tokens, answer.completion.usage.completion_tokens) == (10, 2)
    [(path, headers, body)] = server.asked
    assert path == "/v1/messages"
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert body["max_tokens"] == 7
    assert body["temperature"] == 0.0
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "A or B?"}]}]
    assert "Be short." in json.dumps(body["system"])


@pytest.mark.slow
def test_every_outcome_of_anthropics_api_is_told_apart(server: Server) -> None:
    server.replies = [
        (200, message("Part", "max_tokens"), {}),
        (200, message("I must decline.", "refusal"), {}),
        (400, error("invalid_request_error", "Output blocked by content filtering policy"), {}),
        (400, error("invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"), {}),
        (429, error("rate_limit_error", "Number of request tokens has exceeded your limit"), {"retry-after": "0.05"}),
        (529, error("overloaded_error", "Overloaded"), {}),
        (500, error("api_error", f"Internal server error, key {KEY}"), {}),
        (200, message(f"B {KEY}"), {}),
    ]
    answers, broker = ask(claude(server), "one", "two", "three", "four", "five")
    assert broker.stopped is None
    assert [(answer.completion.outcome, answer.completion.text, answer.requests) for answer in answers] == [
        ("cut_off", "Part", 1),
        ("refused", "I must decline.", 1),
        ("moderated", "", 1),
        ("error", None, 1),
        # A limit, an overload and an error of the server are asked again by us; the key is in no answer.
        ("answered", "B …", 4),
    ]
    assert "does not fit" in str(answers[3].completion.error) or "too long" in str(answers[3].completion.error)
    assert len(server.asked) == 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        (401, "authentication_error", "invalid x-api-key"),
        (403, "permission_error", "Your API key does not have permission"),
        (404, "not_found_error", "model: claude-opus-4-6"),
    ],
)
def test_failure_that_concerns_every_prompt_ends_the_run(status: int, kind: str, text: str, server: Server) -> None:
    server.replies = [(status, error(kind, text), {})] * 3
    _, broker = ask(claude(server), "one", "two", "three")
    assert text in str(broker.stopped)
    assert len(server.asked) == 1


@pytest.mark.slow
def test_refused_parameter_is_named_with_its_setting(server: Server) -> None:
    said = "`temperature` is deprecated for this model."
    server.replies = [(400, error("invalid_request_error", said), {})]
    _, broker = ask(claude(server), "one", "two")
    assert "set gen_kwargs.temperature: null" in str(broker.stopped)


@pytest.mark.slow
def test_openais_format_through_litellm(server: Server) -> None:
    filtered = {"message": "The response was filtered.", "code": "content_filter", "param": "prompt", "type": None}
    server.replies = [
        (200, completion("B"), {}),
        (200, completion(None, "content_filter"), {}),
        (400, {"error": filtered}, {}),
        (429, {"error": {"message": "Rate limit", "code": "rate_limit_exceeded"}}, {"retry-after-ms": "30"}),
        (200, completion("A"), {}),
    ]
    spec = ModelSpec(id="litellm/openai/m", args={"api_base": f"{server.url}/v1", "concurrency": 1})
    answers, _ = ask(spec, "one", "two", "three", "four")
    told = [(answer.completion.outcome, answer.completion.text) for answer in answers]
    assert told == [("answered", "B"), ("moderated", ""), ("moderated", ""), ("answered", "A")]
    # A second call has an event loop of its own.
    server.replies = [(200, completion("A"), {})]
    assert ask(spec, "five")[0][0].completion.text == "A"
    assert server.asked[0][1]["authorization"] == f"Bearer {KEY}"


@pytest.mark.slow
def test_address_of_a_parameter_gets_no_key_that_does_not_name_it(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = registry.provider("litellm")
    for address in ("https://evil.example", "http://127.0.0.1:1"):
        with pytest.raises(ContraposeError, match="ANTHROPIC_API_KEY is no secret for") as caught:
            provider.check(claude(server, args={"api_base": address}))
        assert KEY not in str(caught.value)
    for name in ("vertex_ai/gemini-2.5-flash", "bedrock/anthropic.claude-3-haiku-20240307-v1:0"):
        with pytest.raises(ContraposeError, match="is no secret for"):
            provider.check(ModelSpec(id=f"litellm/{name}", args={"api_base": server.url}))
    for address in ("http://169.254.169.254", "ftp://a.example", "https://u:p@a.example"):
        with pytest.raises(ContraposeError):
            provider.check(claude(server, args={"api_base": address}))
    for name in ("huggingface/https://evil.example", "nonsense/x", "gpt-5-mini"):
        with pytest.raises(ModelError, match="LiteLLM knows no provider"):
            provider.check(ModelSpec(id=f"litellm/{name}"))
    with pytest.raises(ModelError, match="unknown argument 'base_url'"):
        provider.check(claude(server, args={"base_url": "https://evil.example"}))
    assert server.asked == []


@pytest.mark.slow
def test_settings_that_are_not_sent_are_named_and_prices_are_known(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider: Any = registry.provider("litellm")
    spec = ModelSpec(id="litellm/openai/gpt-5-mini", generation=Generation(top_p=0.5, stop=("\n",)))
    identity = provider.identity(spec)
    assert identity["dropped"] == "stop, top_p"
    [remark] = provider.describe(identity)
    assert "does not send stop, top_p" in remark
    assert provider.identity(claude(server)).get("dropped") is None
    price = provider.price(claude(server))
    assert (price.input, price.output) == (5, 25)
    assert provider.price(ModelSpec(id="litellm/cohere/nonsense")) is None
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    check = provider.check(ModelSpec(id="litellm/cohere/command-r-plus"))
    assert (check.state, check.remedy.split("=")[0]) == ("warning", "export COHERE_API_KEY")
    assert provider.check(claude(server)).state == "ok"


@pytest.mark.slow
def test_library_reports_and_logs_nothing(server: Server) -> None:
    """Fails when the library renames one of the settings that keep it quiet."""
    litellm = adapter.load_litellm()
    source = Path(litellm.__file__).read_text()
    for name in (*adapter.QUIET, *adapter.CALLBACKS):
        assert re.search(rf"^{name}\b.*=", source, re.MULTILINE) or f"\n{name}: " in source, name
    assert not any(getattr(litellm, name) for name in adapter.CALLBACKS)
    assert not litellm.drop_params
    assert logging.getLogger("LiteLLM").getEffectiveLevel() == logging.CRITICAL
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
