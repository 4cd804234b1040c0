"""A key goes to the hosts that its owner names beside it, and to no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from counting_server import Counting, counting
from plain_broker import ask_prompts

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.infer.openai import OpenAI
from contrapose.tasks.infer.openai.key import NO_KEY, read_key
from contrapose.tasks.infer.openai.settings import read_settings

KEY, PASSWORD = "sk-live-4f9a71c2e8", "hunter2-7d1e55b0"
ELSEWHERE = "https://models.example/v1"


@pytest.fixture
def server() -> Iterator[Counting]:
    with counting() as found:
        yield found


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_DB_PASSWORD", PASSWORD)


def key_for(url: str, **args: Any) -> str:
    """The key that a model at an address is asked with."""
    return read_settings(ModelSpec(id="openai/any", args={"base_url": url, **args})).key


def refused(url: str, **args: Any) -> str:
    """What is told of an address that may not have the key."""
    with pytest.raises(ContraposeError) as caught:
        key_for(url, **args)
    told = str(caught.value)
    assert "; expected " in told
    assert "\n" not in told
    assert KEY not in told
    assert PASSWORD not in told
    return told


@pytest.mark.parametrize(
    "url",
    [
        "https://models.example/v1", "http://127.0.0.1:8000/v1", "http://localhost:11434/v1",
        "https://api.openai.com.evil.example/v1", "https://evil-api.openai.com.example/v1",
        "https://xapi.openai.com/v1", "http://api.openai.com/v1", "https://api.openai.com:8443/v1",
        "https://models.example\\.api.openai.com/v1", "https://api.openai.com\\@models.example/v1",
        "https://api.openai.com%2emodels.example/v1", "https://аpi.openai.com/v1",
    ],
)  # fmt: skip
def test_a_parameter_pairs_no_key_with_a_host(url: str) -> None:
    refused(url)


@pytest.mark.parametrize(
    "url", ["https://api.openai.com/v1", "https://API.OpenAI.com:443/v1/", "https://eu.api.openai.com/v1"]
)
def test_openai_itself_gets_the_key(url: str) -> None:
    assert key_for(url) == KEY


def test_the_refusal_says_what_would_let_it_through(monkeypatch: pytest.MonkeyPatch) -> None:
    told = refused("http://models.example:8000/v1")
    assert "OPENAI_API_KEY" in told
    assert "api_key_env=none" in told
    named = told.partition("CONTRAPOSE_KEY_HOSTS=")[2].split()[0].rstrip(",;.")
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", named)
    assert key_for("http://models.example:8000/v1") == KEY


def test_the_address_in_the_environment_gets_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://models.example:8000/v1")
    assert read_settings(ModelSpec(id="openai/any")).key == KEY
    assert key_for("http://models.example:8000/other") == KEY
    for other in ("http://models.example:8001/v1", "http://models.example/v1", "https://other.example:8000/v1"):
        refused(other)


@pytest.mark.parametrize("garbage", ["nonsense", "http://", "http://[::1", "https://*/v1"])
def test_an_address_in_the_environment_that_is_none_lets_nothing_through(
    garbage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", garbage)
    refused(ELSEWHERE)


@pytest.mark.parametrize(
    ("named", "url", "goes"),
    [
        ("models.example", "https://models.example/v1", True),
        ("models.example", "https://models.example:8443/v1", True),
        ("models.example", "http://models.example/v1", False),
        ("models.example", "https://sub.models.example/v1", False),
        ("models.example:8000", "http://models.example:8000/v1", True),
        ("models.example:8000", "https://models.example:8001/v1", False),
        ("http://models.example", "http://models.example/v1", True),
        ("http://models.example", "http://models.example:81/v1", False),
        ("https://models.example/v1", "https://models.example/v2", True),
        ("https://models.example", "http://models.example/v1", False),
        ("Models.Example.", "https://models.example/v1", True),
        ("other.example, models.example", "https://models.example/v1", True),
        ("other.example models.example:8000", "http://models.example:8000/v1", True),
        ("127.0.0.1", "http://127.0.0.1:8000/v1", True),
        ("127.0.0.1:8000", "http://127.0.0.1:8001/v1", False),
        ("localhost", "http://127.0.0.1:8000/v1", False),
        ("[::1]:8000", "http://[::1]:8000/v1", True),
        ("[0:0::1]:8000", "http://[::1]:8000/v1", True),
        ("OPENAI_API_KEY=models.example", "https://models.example/v1", True),
        ("OTHER_KEY=models.example", "https://models.example/v1", False),
        ("secret://team=models.example", "https://models.example/v1", False),
    ],
)
def test_hosts_are_named_beside_the_key(named: str, url: str, goes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", named)
    assert key_for(url) == KEY if goes else refused(url)


@pytest.mark.parametrize(
    "wrong", ["*", "*.example", "a b=c=", "=x", "1KEY=models.example", "ftp://a", "//", "a:b", "u:p@a"]
)
def test_a_list_of_hosts_that_cannot_be_read_is_told(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", wrong)
    assert "CONTRAPOSE_KEY_HOSTS" in refused(ELSEWHERE)


@pytest.mark.parametrize("url", ["https://models.example/v1", "https://api.openai.com/v1", "http://127.0.0.1:1/v1"])
def test_a_parameter_cannot_name_any_variable_as_the_key(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "MY_DB_PASSWORD" in refused(url, api_key_env="MY_DB_PASSWORD")
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "models.example api.openai.com 127.0.0.1")
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert "MY_DB_PASSWORD" in refused(url, api_key_env="MY_DB_PASSWORD")


def test_a_variable_that_is_no_key_is_not_told_apart_from_one_that_is_not_set() -> None:
    told = [refused(ELSEWHERE, api_key_env=name) for name in ("MY_DB_PASSWORD", "NOT_THERE_AT_ALL")]
    assert told[0] == told[1].replace("NOT_THERE_AT_ALL", "MY_DB_PASSWORD")


def test_another_variable_is_a_key_for_the_hosts_named_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "mine")
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "MY_KEY=models.example,OTHER_KEY=other.example")
    assert key_for(ELSEWHERE, api_key_env="MY_KEY") == "mine"
    for url in ("https://other.example/v1", "https://api.openai.com/v1"):
        assert "MY_KEY" in refused(url, api_key_env="MY_KEY")
    monkeypatch.delenv("MY_KEY")
    assert "is not set" in refused(ELSEWHERE, api_key_env="MY_KEY")


def test_a_server_without_a_key_needs_no_ceremony(monkeypatch: pytest.MonkeyPatch) -> None:
    assert key_for("http://localhost:11434/v1", api_key_env="none") == NO_KEY
    monkeypatch.delenv("OPENAI_API_KEY")
    for url in ("http://localhost:11434/v1", "http://127.0.0.1:8000/v1", "http://gpu-box:8000/v1"):
        assert key_for(url) == NO_KEY


def block(name: str, value: object) -> str:
    from prefect.blocks.system import Secret

    Secret(value=value).save(name, overwrite=True)
    return name


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("as_text", [False, True])
def test_a_block_names_its_hosts_beside_the_key(as_text: bool) -> None:
    import json

    value = {"key": "mine", "hosts": ["models.example", "127.0.0.1:8000"]}
    named = block("bound", json.dumps(value) if as_text else value)
    assert key_for(ELSEWHERE, api_key_block=named) == "mine"
    assert key_for("http://127.0.0.1:8000/v1", api_key_block=named) == "mine"
    for url in ("http://127.0.0.1:8001/v1", "https://api.openai.com/v1", "http://models.example/v1"):
        told = refused(url, api_key_block=named)
        assert "bound" in told
        assert "mine" not in told


@pytest.mark.usefixtures("prefect_server")
def test_a_block_that_names_no_host_is_for_openai_or_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named = block("plain", "mine")
    assert key_for("https://api.openai.com/v1", api_key_block=named) == "mine"
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "models.example")
    assert "secret://plain" in refused(ELSEWHERE, api_key_block=named)
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", "secret://plain=models.example")
    assert key_for(ELSEWHERE, api_key_block=named) == "mine"


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("value", [{"key": "mine", "hosts": ["*"]}, {"hosts": ["a.example"]}, {"key": ""}, {"key": 1}])
def test_a_block_of_another_form_is_told_and_not_shown(value: object) -> None:
    assert "mine" not in refused(ELSEWHERE, api_key_block=block("odd", value))


AMBIENT = {
    "OPENAI_ORG_ID": "org-secret",
    "OPENAI_PROJECT_ID": "proj-secret",
    "OPENAI_CUSTOM_HEADERS": f"X-Gateway: {PASSWORD}\nAuthorization: Bearer {PASSWORD}",
    "OPENAI_ADMIN_KEY": "sk-admin-secret",
}


def test_nothing_else_of_the_environment_goes_to_a_host_that_has_no_key(
    server: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in AMBIENT.items():
        monkeypatch.setenv(name, value)
    chosen = ModelSpec(id="openai/any", args={"base_url": server.url, "api_key_env": "none"})
    OpenAI().identity(chosen)
    ask_prompts(chosen, "Hello")
    assert {method for method, _ in server.asked} == {"GET", "POST"}
    assert "secret" not in str(server.headers)
    assert PASSWORD not in str(server.headers)
    assert KEY not in str(server.headers)


def test_a_host_of_the_environment_gets_what_stands_beside_the_key(
    server: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    OpenAI().identity(ModelSpec(id="openai/any"))
    assert server.headers[0]["openai-organization"] == "org-1"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_redirect_to_another_host_is_refused_and_not_followed(
    server: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting(redirects_to=f"{server.url}/models") as first:
        monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", f"127.0.0.1:{first.port}")
        with pytest.raises(ContraposeError, match=f"redirects to http://127.0.0.1:{server.port}"):
            OpenAI().identity(ModelSpec(id="openai/any", args={"base_url": first.url}))
    assert first.headers[0]["authorization"] == f"Bearer {KEY}"
    assert server.asked == []


def test_a_redirect_of_a_prompt_stops_the_run_and_is_not_followed(
    server: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting(redirects_to=f"{server.url}/chat/completions", only_methods=("POST",)) as first:
        monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", f"127.0.0.1:{first.port}")
        chosen = ModelSpec(id="openai/any", args={"base_url": first.url, "concurrency": 1})
        OpenAI().identity(chosen)
        broker = ask_prompts(chosen, *(f"Hello {number}" for number in range(9)))
    assert f"redirects to http://127.0.0.1:{server.port}" in str(broker.stopped)
    assert server.asked == []
    assert len(first.asked) == 2


def test_a_redirect_on_the_same_host_is_somebody_who_answers(server: Counting) -> None:
    server.redirects_to = f"{server.url}/models/"
    chosen = ModelSpec(id="openai/any", args={"base_url": server.url, "api_key_env": "none"})
    assert OpenAI().identity(chosen)["device"] == "remote"


def test_read_key_without_settings_is_bound_all_the_same() -> None:
    with pytest.raises(ContraposeError, match="OPENAI_API_KEY"):
        read_key(ModelSpec(id="openai/any"), base_url=ELSEWHERE)
