"""Vendors with OpenAI's API: address, key and its hosts, what is special about each, and what a look at them says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from plain_broker import ask_prompts
from small_server import Asked, answering

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import FREE
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.openai import OpenAI
from contrapose.tasks.infer.openai.key import NO_KEY, Key
from contrapose.tasks.infer.openai.settings import read_settings
from contrapose.tasks.infer.openai.vendors import OPENAI, ROWS, VENDORS, Vendor

KEY = "sk-live-4f9a71c2e8"
CLOUD = [row for row in ROWS if row.needs_key and row.base_url]
LOCAL = [row for row in ROWS if not row.needs_key]

pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in ROWS:
        monkeypatch.delenv(row.key, raising=False)
    for name in ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "CONTRAPOSE_KEY_HOSTS", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")


def spec(vendor: str, **args: Any) -> ModelSpec:
    return ModelSpec(id=f"{vendor}/some-model", args=args)


def refusal(vendor: str, **args: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        read_settings(spec(vendor, **args))
    assert KEY not in str(caught.value)
    return caught.value


def names(row: Vendor) -> str:
    return row.name


def test_every_row_is_a_provider_and_every_variable_belongs_to_one_vendor() -> None:
    for row in ROWS:
        provider: Any = registry.provider(row.name)
        assert provider.vendor is row
        assert provider.concurrency == row.concurrency == provider.arguments["concurrency"].default
        assert provider.arguments["api_key_env"].default == row.key
    assert len({row.key for row in ROWS}) == len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", CLOUD, ids=names)
def test_key_of_a_vendor_goes_to_its_host_alone(row: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert row.key in refusal(row.name).found
    monkeypatch.setenv(row.key, KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    if row is not OPENAI:
        settings = read_settings(spec(row.name))
        assert settings.key == KEY
        assert settings.address == row.base_url.format(region="eu-west-1")
        assert not settings.own
    host = urlsplit(row.base_url.format(region="eu-west-1")).hostname
    for other in (
        f"http://{host}/v1",
        f"https://{host}.evil.example/v1",
        f"https://evil-{host}/v1",
        "https://a.example/v1",
    ):
        assert f"{row.key} is no key for" in refusal(row.name, base_url=other).found
        # As little through another provider, where a parameter names the variable.
        assert f"{row.key} is no key for" in refusal("openai", base_url=other, api_key_env=row.key).found
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", f"{row.key}=a.example")
    assert read_settings(spec(row.name, base_url="https://a.example/v1")).key == KEY


def test_key_of_one_vendor_is_not_sent_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in CLOUD:
        monkeypatch.setenv(row.key, KEY)
    for row in CLOUD:
        for other in CLOUD:
            if other is not row:
                assert "is no key for" in refusal(row.name, api_key_env=other.key).found


@pytest.mark.parametrize("row", LOCAL, ids=names)
def test_server_on_this_machine_needs_no_key_and_costs_nothing(row: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-1234")
    assert read_settings(spec(row.name)).key == NO_KEY
    assert registry.provider(row.name).price(spec(row.name)) == FREE
    monkeypatch.setenv(row.key, KEY)
    # The key of Ollama is for ollama.com; the others are for the server that is here.
    assert read_settings(spec(row.name)).key == (NO_KEY if row.name == "ollama" else KEY)
    assert read_settings(spec(row.name, base_url="http://127.0.0.2:5/v1")).key == NO_KEY
    assert registry.provider(row.name).price(spec(row.name, base_url="https://a.example/v1")) is None


def test_key_of_ollama_goes_to_ollama_com(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    assert read_settings(spec("ollama", base_url="https://ollama.com/v1")).key == KEY


def test_region_of_bedrock_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    mantle = "https://bedrock-mantle.us-east-1.api.aws/v1"
    assert read_settings(spec("bedrock", base_url=mantle)).key == KEY
    for wrong in ("", "evil.example/", "a b"):
        monkeypatch.setenv("AWS_REGION", wrong)
        assert "AWS_REGION" in refusal("bedrock").remedy
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    monkeypatch.delenv("AWS_REGION")
    assert read_settings(spec("bedrock")).address == "https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1"


def test_forms_and_length_are_those_of_the_server() -> None:
    offline = {"offline": True}
    forms = {name: registry.provider(name).forms(spec(name, **offline)) for name in VENDORS if name != "azure"}  # type: ignore[attr-defined]
    assert forms["anthropic"] == forms["deepseek"] == ("plain",)
    assert forms["openai"] == forms["groq"] == ("json_schema", "plain")
    assert forms["vllm"] == ("json_schema", "structured_outputs", "guided_choice", "plain")
    elsewhere = spec("openai", base_url="http://localhost:8000/v1", **offline)
    assert read_settings(elsewhere).length_field == "max_tokens"
    assert read_settings(spec("openai", **offline)).length_field == "max_completion_tokens"


def test_arguments_of_azure_are_unknown_elsewhere() -> None:
    assert "unknown argument 'api_version'" in refusal("groq", api_version="2024-10-21").found


def test_a_text_in_a_block_stays_a_key_of_openai() -> None:
    key = Key(place="secret://team", text=KEY, hosts=(), owner=OPENAI)
    settings = read_settings(spec("anthropic", offline=True))
    assert settings.address == "https://api.anthropic.com/v1"
    from contrapose.tasks.config.hosts import origin_of

    assert not key.is_for(origin_of(settings.address))


def serving(replies: dict[str, tuple[int, Any]], seen: list[Asked]) -> Any:
    """A server whose reply to a path is given; it keeps what it was asked."""

    def answer(asked: Asked) -> None:
        asked.body = asked.read()  # type: ignore[attr-defined]
        seen.append(asked)
        path = urlsplit(asked.path).path
        status, reply = replies.get(path, (404, {"error": {"message": "not found"}}))
        asked.reply(json.dumps(reply).encode(), status=status, headers={"Content-Type": "application/json"})

    return answering(answer)


def look(vendor: str, name: str, url: str, **args: Any) -> Any:
    """What a look at a model says."""
    return registry.provider(vendor).check(ModelSpec(id=f"{vendor}/{name}", args={"base_url": f"{url}/v1", **args}))


# https://platform.claude.com/docs/en/api/models-list
CLAUDES = {
    "data": [
        {"id": "claude-opus-4-6", "type": "model", "display_name": "Claude Opus 4.6"},
        {"id": "claude-sonnet-4-5-20250929", "type": "model", "display_name": "Claude Sonnet 4.5"},
    ],
    "has_more": False,
}


def test_anthropic_lists_its_models_by_headers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Asked] = []
    with serving({"/v1/models": (200, CLAUDES)}, seen) as url:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", f"ANTHROPIC_API_KEY={urlsplit(url).netloc}")
        assert look("anthropic", "claude-opus-4-6", url).state == "ok"
        assert look("anthropic", "claude-sonnet-4-5", url).state == "ok"
        check = look("anthropic", "claude-opus-4-7", url)
        assert check.state == "warning"
        assert "lists 2 models, and not this one" in check.observed
        assert "claude-opus-4-6" in check.remedy
    for asked in seen:
        assert asked.headers["x-api-key"] == KEY
        assert asked.headers["anthropic-version"] == "2023-06-01"
        assert "Authorization" not in asked.headers


@pytest.mark.parametrize(
    "listed",
    [
        {"object": "list", "data": [{"id": "models/gemini-2.5-flash", "object": "model", "owned_by": "google"}]},
        [{"id": "gemini-2.5-flash", "object": "model", "type": "chat"}],
        {"object": "list", "data": []},
        {"data": "none"},
        "nothing",
    ],
    ids=["Gemini", "Together", "empty", "no list", "no JSON"],
)
def test_lists_of_models_are_read_in_every_layout(listed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"/v1/models": (200, listed)}, []) as url:
        assert look("gemini", "gemini-2.5-flash", url).state == "ok"


# https://github.com/ollama/ollama/blob/main/docs/api.md and .../docs/openai.md; error: openai/openai.go `NewError`
TAGS = {
    "models": [
        {"name": "gemma3:latest", "model": "gemma3:latest", "digest": "a2af6cc3eb7f", "size": 3338801804},
        {"name": "qwen3:8b", "model": "qwen3:8b", "digest": "500a1f067a9f", "size": 5225388164},
    ]
}
OLLAMA_LIST = {"object": "list", "data": [{"id": "gemma3:latest", "object": "model", "owned_by": "library"}]}
OLLAMA_REPLY = {
    "id": "chatcmpl-716", "object": "chat.completion", "created": 1764403200, "model": "gemma3",
    "system_fingerprint": "fp_ollama",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "B"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 17, "completion_tokens": 2, "total_tokens": 19},
}  # fmt: skip
OLLAMA_MISSING = {
    "error": {"message": "model 'x' not found", "type": "not_found_error", "param": None, "code": None},
}


def test_ollama_answers_and_the_digest_of_its_weights_is_part_of_its_identity() -> None:
    seen: list[Asked] = []
    replies = {
        "/v1/models": (200, OLLAMA_LIST), "/api/tags": (200, TAGS), "/v1/chat/completions": (200, OLLAMA_REPLY)
    }  # fmt: skip
    with serving(replies, seen) as url:
        model = ModelSpec(id="ollama/gemma3", args={"base_url": f"{url}/v1"})
        provider: Any = registry.provider("ollama")
        assert look("ollama", "gemma3", url).state == "ok"
        assert provider.identity(model)["served"] == "a2af6cc3eb7f"
        named = model.model_copy(update={"args": {**model.args, "revision": "mine"}})
        assert provider.identity(named)["served"] == "mine"
        [answer] = ask_prompts(model, "A or B?").answers.values()
        assert (answer.completion.text, answer.completion.usage.prompt_tokens) == ("B", 17)
        replies["/api/tags"] = (200, {"models": []})
        assert "served" not in provider.identity(model)
    [asked] = [asked for asked in seen if asked.path.endswith("/completions")]
    assert json.loads(asked.body)["max_tokens"] == 32  # type: ignore[attr-defined]


def test_model_that_ollama_does_not_have_ends_the_run_and_the_doctor_says_how_to_add_it() -> None:
    replies = {"/v1/models": (200, OLLAMA_LIST), "/v1/chat/completions": (404, OLLAMA_MISSING)}
    with serving(replies, []) as url:
        check = look("ollama", "x", url)
        assert (check.state, check.remedy) == ("warning", "Run: ollama pull x")
        broker = ask_prompts(ModelSpec(id="ollama/x", args={"base_url": f"{url}/v1"}), "A?", "B?")
        assert "model 'x' not found" in str(broker.stopped)


def test_page_lists_every_vendor_as_the_table_has_it() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/api-model.md").read_text()
    for row in ROWS:
        address = f"`{row.base_url}`" if row.base_url else f"the address in `{row.base_env}`"
        key = f"`{row.key}`" + ("" if row.needs_key else " if the server wants one")
        assert f"| `{row.name}/{row.example}` | {address} | {key} | {row.notes} |\n" in page


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"constrained": "yes"}, "auto or off or json_schema"),
        ({"constrained": True}, "auto or off"),
        ({"constrained": "json_schema", "endpoint": "completions"}, "structured_outputs, guided_choice"),
        ({"constrained": "guided_choice", "base_url": "https://api.openai.com/v1"}, "json_schema"),
    ],
)
def test_a_form_that_cannot_be_is_refused(args: dict[str, object], expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        OpenAI().forms(ModelSpec(id="openai/any", args={"base_url": "http://localhost:1/v1", **args}))


@pytest.mark.parametrize(
    ("args", "forms"),
    [
        ({}, ("json_schema", "plain")),
        ({"endpoint": "completions"}, ("plain",)),
        ({"constrained": False}, ("plain",)),
    ],
)
def test_openai_itself_has_schemas_for_chat_alone(args: dict[str, object], forms: tuple[str, ...]) -> None:
    assert OpenAI().forms(ModelSpec(id="openai/any", args=args)) == forms
