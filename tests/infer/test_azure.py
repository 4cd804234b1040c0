"""Azure: both forms of its address, a key or a token of Entra, its content filter, its limits, a missing deployment.

Formats: https://learn.microsoft.com/azure/foundry/openai/concepts/content-filter and .../reference; the request of the
older form is compared with that of OpenAI's own client.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from plain_broker import ask_prompts
from small_server import Asked, answering

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core import registry
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.openai import entra
from contrapose.tasks.infer.openai.batches import BatchEndpoint
from contrapose.tasks.infer.openai.settings import read_settings

KEY = "azure-key-77ab12cd"
RESOURCE = "https://my-resource.openai.azure.com"

pytestmark = pytest.mark.usefixtures("short_waits")

FILTERS = {
    "hate": {"filtered": False, "severity": "safe"},
    "jailbreak": {"detected": False, "filtered": False},
    "self_harm": {"filtered": False, "severity": "safe"},
    "sexual": {"filtered": False, "severity": "safe"},
    "violence": {"filtered": False, "severity": "safe"},
}
"""Azure sends them with every reply, also where nothing was filtered."""


def reply(text: str | None, finish: str = "stop", **filtered: object) -> dict[str, Any]:
    message = {"role": "assistant", "refusal": None, "annotations": [], "content": text}
    choice = {"index": 0, "logprobs": None, "content_filter_results": {**FILTERS, **filtered}, "finish_reason": finish}
    if text is not None or finish != "content_filter":
        choice["message"] = message
    return {
        "id": "chatcmpl-BcQ", "object": "chat.completion", "created": 1764403200, "model": "gpt-4.1-mini-2025-04-14",
        "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": FILTERS}],
        "choices": [choice], "system_fingerprint": "fp_1a2b",
        "usage": {"prompt_tokens": 20, "completion_tokens": 1, "total_tokens": 21},
    }  # fmt: skip


FILTERED_PROMPT = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. "
        "Please modify your prompt and retry. To learn more about our content filtering policies please read our "
        "documentation: https://go.microsoft.com/fwlink/?linkid=2198766",
        "type": None, "param": "prompt", "code": "content_filter", "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {**FILTERS, "violence": {"filtered": True, "severity": "medium"}},
        },
    }
}  # fmt: skip
LIMITED = {
    "error": {
        "code": "429",
        "message": "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have "
        "exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 1 second.",
    }
}
NO_DEPLOYMENT = {
    "error": {
        "code": "DeploymentNotFound",
        "message": "The API deployment for this resource does not exist. If you created the deployment within the last "
        "5 minutes, please wait a moment and try again.",
    }
}
NO_ACCESS = {
    "error": {
        "code": "401",
        "message": "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid "
        "key for an active subscription and use a correct regional API endpoint for your resource.",
    }
}


@dataclass
class Azure:
    """A resource with one deployment."""

    url: str = ""
    tokens: tuple[str, ...] = ()
    """Tokens that are valid, beside KEY."""
    replies: list[tuple[int, Any, dict[str, str]]] = field(default_factory=list)
    """Replies to the next prompts; then always "B"."""
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    """Path with query, headers and body of each request."""

    def answer(self, asked: Asked) -> None:
        body = json.loads(asked.read() or b"{}")
        headers = {name.lower(): value for name, value in asked.headers.items()}
        self.asked.append((asked.path, headers, body))
        status, content, further = self.outcome(asked.path, headers, body)
        asked.reply(
            json.dumps(content).encode(), status=status, headers={"Content-Type": "application/json", **further}
        )

    def outcome(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
        allowed = [f"Bearer {token}" for token in self.tokens]
        if headers.get("api-key") != KEY and headers.get("authorization") not in allowed:
            return 401, NO_ACCESS, {}
        parts = urlsplit(path)
        if parts.path == "/openai/v1/chat/completions":
            deployment, known = body.get("model"), not parts.query
        else:
            deployment, known = parts.path.split("/")[3], parts.path == "/openai/deployments/mine/chat/completions"
            known = known and parts.query == "api-version=2024-10-21"
        if deployment != "mine":
            return 404, NO_DEPLOYMENT, {}
        if not known:
            return 404, {"error": {"code": "404", "message": "Resource not found"}}, {}
        if "messages" not in body:
            return 400, {"error": {"message": "Missing required parameter: 'messages'.", "code": None}}, {}
        return self.replies.pop(0) if self.replies else (200, reply("B"), {})

    @property
    def prompts(self) -> list[tuple[str, dict[str, str], dict[str, Any]]]:
        return [request for request in self.asked if "messages" in request[2]]


@contextmanager
def resource(**content: Any) -> Iterator[Azure]:
    azure = Azure(**content)
    with answering(azure.answer) as url:
        azure.url = url
        yield azure


@pytest.fixture
def azure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Azure]:
    """A resource to which the environment names the key."""
    with resource() as found:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", found.url)
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
        monkeypatch.delenv("CONTRAPOSE_KEY_HOSTS", raising=False)
        yield found


def model(name: str = "mine", **args: Any) -> ModelSpec:
    return ModelSpec(id=f"azure/{name}", args=args)


def test_key_is_sent_in_its_own_header_to_the_v1_address(azure: Azure) -> None:
    [answer] = ask_prompts(model(), "A or B?").answers.values()
    assert (answer.completion.text, answer.completion.outcome) == ("B", "answered")
    path, headers, body = azure.prompts[0]
    assert path == "/openai/v1/chat/completions"
    assert headers["api-key"] == KEY
    assert "authorization" not in headers
    messages = [{"role": "user", "content": "A or B?"}]
    assert body == {"model": "mine", "messages": messages, "max_completion_tokens": 32, "temperature": 0.0}


def test_request_to_the_older_address_is_that_of_the_official_client(azure: Azure) -> None:
    from openai import AzureOpenAI

    [answer] = ask_prompts(model(api_version="2024-10-21"), "A or B?").answers.values()
    assert answer.completion.text == "B"
    with AzureOpenAI(azure_endpoint=azure.url, api_key=KEY, api_version="2024-10-21", max_retries=0) as client:
        client.chat.completions.create(
            model="mine", messages=[{"role": "user", "content": "A or B?"}], max_completion_tokens=32, temperature=0.0
        )
    ours, theirs = azure.prompts
    of_transport = ("user-agent", "host", "connection", "accept-encoding", "content-length")

    def kept(headers: dict[str, str]) -> dict[str, str]:
        return {key: value for key, value in headers.items() if key not in of_transport and "stainless" not in key}

    assert ours[0] == theirs[0] == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    assert kept(ours[1]) == kept(theirs[1])
    assert ours[2] == theirs[2]


@pytest.mark.parametrize(
    ("address", "args", "path"),
    [
        ("", {}, "/openai/v1"),
        ("/", {}, "/openai/v1"),
        ("/openai", {}, "/openai/v1"),
        ("/openai/v1/", {}, "/openai/v1"),
        ("", {"api_version": "2024-10-21"}, "/openai/deployments/a%2Fb"),
        ("/openai/deployments/a%2Fb", {"api_version": "2024-10-21"}, "/openai/deployments/a%2Fb"),
        ("/gateway/openai/v1", {}, "/gateway/openai/v1"),
    ],
)
def test_every_way_to_write_an_address_leads_to_the_api(address: str, args: dict[str, str], path: str) -> None:
    spec = model("a/b", base_url=RESOURCE + address, offline=True, **args)
    assert read_settings(spec).address == RESOURCE + path


def test_key_goes_to_the_named_resource_alone(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match=r"AZURE_OPENAI_API_KEY is no key for https://other\.openai\.azure\.com"):
        read_settings(model(base_url="https://other.openai.azure.com"))
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "AZURE_OPENAI_API_KEY=other.openai.azure.com")
    assert read_settings(model(base_url="https://other.openai.azure.com")).key == KEY
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    with pytest.raises(ModelError, match=r"AZURE_OPENAI_API_KEY is not set") as caught:
        read_settings(model())
    assert "model_args.entra=true" in caught.value.remedy
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT")
    with pytest.raises(ModelError, match="AZURE_OPENAI_ENDPOINT"):
        read_settings(model())


def test_content_filter_is_an_outcome_and_not_an_error(azure: Azure) -> None:
    azure.replies = [
        (400, FILTERED_PROMPT, {}),
        (200, reply(None, "content_filter", violence={"filtered": True, "severity": "high"}), {}),
        (200, reply("The", "content_filter", hate={"filtered": True, "severity": "medium"}), {}),
        (200, reply("B"), {}),
    ]
    broker = ask_prompts(model(concurrency=1), "one", "two", "three", "four")
    outcomes = [(answer.completion.outcome, answer.completion.text) for answer in broker.answers.values()]
    assert outcomes == [("moderated", ""), ("moderated", ""), ("moderated", "The"), ("answered", "B")]
    assert len(azure.prompts) == 4


def test_limit_is_waited_for_as_long_as_azure_says(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    azure.replies = [(429, LIMITED, {"retry-after-ms": "30", "retry-after": "60", "x-ratelimit-remaining-tokens": "0"})]
    [answer] = ask_prompts(model(), "A or B?").answers.values()
    assert (answer.completion.text, answer.requests) == ("B", 2)


@pytest.mark.parametrize("args", [{}, {"api_version": "2024-10-21"}])
def test_missing_deployment_is_found_before_anything_is_asked(args: dict[str, str], azure: Azure) -> None:
    provider = registry.provider("azure")
    assert provider.check(model(**args)).state == "ok"
    with pytest.raises(ModelError, match="there is no deployment 'other'"):
        provider.check(model("other", **args))
    # One that is removed meanwhile ends the run: no other prompt would fare better.
    broker = ask_prompts(model("other", **args), "A?", "B?", "C?")
    assert "refuses every request" in str(broker.stopped)
    assert registry.find("providers", "azure")().identity(model(**args)).get("api_version") == args.get("api_version")
    assert all("messages" not in body or body["model"] == "other" for _, _, body in azure.asked)


def test_wrong_key_is_refused_with_its_place(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "wrong-key-1234567")
    with pytest.raises(ModelError, match="rejected the API key") as caught:
        registry.provider("azure").check(model())
    assert "AZURE_OPENAI_API_KEY" in caught.value.remedy
    assert "wrong-key" not in str(caught.value)


def test_token_of_entra_is_renewed_before_it_expires(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    identity = pytest.importorskip("azure.identity", reason="the extra azure-openai is not installed")
    import time

    from azure.core.credentials import AccessToken

    class Credential:
        """Gives tokens of which the first expires soon."""

        given: tuple[str, ...] = ()

        def get_token(self, *scopes: str, **_: object) -> AccessToken:
            assert scopes == (entra.SCOPE,)
            Credential.given += (f"entra-token-{len(self.given)}",)
            return AccessToken(self.given[-1], int(time.time()) + (200 if len(self.given) == 1 else 4000))

    monkeypatch.setattr(identity, "DefaultAzureCredential", Credential)
    entra._make_token_provider.cache_clear()
    azure.tokens = ("entra-token-0", "entra-token-1")
    azure.replies = [(200, reply("entra-token-1 B"), {})]
    broker = ask_prompts(model(entra=True, concurrency=1), "one", "two")
    entra._make_token_provider.cache_clear()
    # What a server repeats of a token is not kept.
    assert [answer.completion.text for answer in broker.answers.values()] == ["… B", "B"]
    assert {headers["authorization"] for _, headers, _ in azure.prompts} == {"Bearer entra-token-1"}
    assert all("api-key" not in headers for _, headers, _ in azure.prompts)
    assert Credential.given == azure.tokens


def test_token_of_entra_goes_to_the_named_resource_alone(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entra, "_make_token_provider", lambda: pytest.fail("a token was made"))
    with pytest.raises(ModelError, match="a token of Microsoft Entra ID is no key for"):
        read_settings(model(entra=True, base_url="https://other.openai.azure.com"))


@pytest.mark.parametrize(("args", "sent"), [({}, KEY), ({"entra": True}, "entra-token-0")])
def test_batch_is_sent_to_the_v1_address_with_the_key_or_the_token(
    args: dict[str, bool], sent: str, azure: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("azure.identity", reason="the extra azure-openai is not installed")
    monkeypatch.setattr(entra, "_make_token_provider", lambda: lambda: "entra-token-0")
    with BatchEndpoint(model(**args)) as endpoint, pytest.raises(ModelError, match="batch endpoint"):
        endpoint.read_state("batch_1")
    path, headers, _ = azure.asked[-1]
    assert (path, headers["authorization"]) == ("/openai/v1/batches/batch_1", f"Bearer {sent}")


def test_missing_library_is_named_with_its_extra(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "azure.core.exceptions", None)
    with pytest.raises(ModelError, match=r"azure-identity is not installed") as caught:
        read_settings(model(entra=True))
    assert 'pip install "contrapose[azure-openai]"' in caught.value.remedy
