"""Kinds of misbehaviour of an endpoint, each with its outcome: once among good replies, and always."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from misbehaving import Misbehaving, Script, bomb, dripping, endless, http, misbehaving, reply, sending
from openai_server import answered, generate, only

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.infer.asking import outcomes as retrying

YEAR = 365 * 86_400
PROMPTS = 400
"""Enough that an endpoint which is not given up is asked thousands of times."""
ALWAYS = (
    *("slow drip", "endless body", "gzip bomb", "redirect", "protocol upgrade", "Retry-After of a year", "reset"),
    *("TLS garbage", "Content-Length too great", "HTML", "deeply nested JSON", "without content"),
)
"""One kind, or two, for each way in which an endpoint is given up: those that read a reply are the same for all."""
RETRIES = 8
FEW = 80
"""Requests after which an endpoint counts as broken: a round or two of all that are under way at a time."""
LIMITED = http(b"{}", f"Retry-After: {YEAR}", status="429 Too Many Requests")
REDIRECT = http(b"", "Location: http://127.0.0.1:1/v1/chat/completions", status="307 Temporary Redirect")
UPGRADE = http(b"", "Upgrade: websocket", "Connection: Upgrade", status="101 Switching Protocols", length=-1)
COUNTED = b'{"choices": [{"text": "A"}], "usage": {"prompt_tokens": 9}}'
CHUNKED = "Transfer-Encoding: chunked"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of misbehaviour, and what comes of it."""

    name: str
    script: Script
    once: Literal["answered", "asked again", "given up", "stopped"]
    """What becomes of the first prompt where the request after it would be answered properly."""
    told: str
    """In the reason why an endpoint that does nothing else is given up, or in the answer's text."""
    secure: bool = False
    """Whether it is asked by TLS."""
    timeout: float = 20
    """Seconds that a request may take; short where all of them take it."""


def taken(name: str, text: str, content: bytes) -> Kind:
    """A reply that is odd, and an answer all the same."""
    return Kind(name=name, script=sending(content), once="answered", told=text)


def slow(name: str, content: bytes) -> Kind:
    """A reply that comes byte by byte."""
    script = dripping(content, seconds=0.02)
    return Kind(name=name, script=script, once="asked again", told="no complete reply in 0.3 s", timeout=0.3)


def unread(name: str, content: bytes, told: str = "cannot be read") -> Kind:
    """A reply that is none: asked again, for it may be somebody's fault in between."""
    return Kind(name=name, script=sending(content), once="asked again", told=told)


KINDS = (
    slow("slow drip", reply() * 99),
    slow("slow headers", b"HTTP/1.1 200 OK\r\n" * 99),
    slow("headers without end", b"HTTP/1.1 100 Continue\r\n\r\n" * 99),
    Kind(name="endless body", script=endless(http(b"", length=-1), b" " * 65_536), once="given up", told="4 MiB"),
    Kind(name="gzip bomb", script=sending(bomb(1 << 28)), once="given up", told="4 MiB"),
    Kind(name="10 MB reply", script=sending(reply("A" * 10_000_000)), once="given up", told="4 MiB"),
    Kind(name="redirect", script=sending(REDIRECT), once="stopped", told="redirects to http://127.0.0.1:1/v1/chat"),
    Kind(name="protocol upgrade", script=sending(UPGRADE), once="stopped", told="status 101"),
    Kind(name="Retry-After of a year", script=sending(LIMITED), once="stopped", told=f"asks to wait {YEAR} s"),
    Kind(name="reset", script=sending(b"", reset=True), once="asked again", told="no connection"),
    Kind(name="TLS garbage", script=sending(b"\x15\x03\x01 no"), secure=True, once="asked again", told="no connection"),
    unread("TLS where HTTP is spoken", b"\x15\x03\x01\x00\x02\x02\x46"),
    unread("Content-Length too great", http(b'{"choices": []}', length=4000)),
    unread("Content-Length too small", http(b'{"choices": []}', length=5)),
    unread("two Content-Lengths", http(b"{}", "Content-Length: 9")),
    unread("chunked garbage", http(b"zz\r\n{}\r\n0\r\n\r\n", CHUNKED, length=-1)),
    unread("chunked without end", http(b"5\r\n{\r\n", CHUNKED, length=-1)),
    unread("gzip garbage", http(b"{}", "Content-Encoding: gzip")),
    unread("HTML", http(b"<html><body>Welcome</body></html>")),
    unread("204", http(b"", status="204 No Content")),
    unread("nothing", http(b"")),
    unread("broken UTF-8", http(reply("caf\u00e9").partition(b"\r\n\r\n")[2].replace(b"\\u00e9", b"\xe9"))),
    unread("cut JSON", http(b'{"choices": [{"mess')),
    unread("deeply nested JSON", http(b"[" * 200_000)),
    unread("deep under a reply", http(b'{"choices": [{"message": {"content": ' + b"[" * 100_000)),
    unread("null", http(b"null")),
    unread("a number", http(b"NaN")),
    unread("choices of null", http(b'{"choices": [null]}')),
    unread("choices that are no list", http(b'{"choices": {"0": 1}}')),
    unread("a choice without a message", http(b'{"choices": [{"finish_reason": "stop"}]}')),
    taken("without content", "", http(b'{"choices": [{"message": {"role": "assistant"}}]}')),
    taken("text: null", "", http(b'{"choices": [{"text": null}]}')),
    taken("NaN beside the answer", "A", reply(usage={"prompt_tokens": float("nan")})),
    taken(
        "a count of 9,999 digits",
        "A",
        http(b'{"choices":[{"text":"A"}],"usage":{"prompt_tokens":' + b"9" * 9999 + b"}}"),
    ),
)


def specification(server: Misbehaving, kind: Kind, **args: object) -> ModelSpec:
    """The model behind a server."""
    address = f"{'https' if kind.secure else 'http'}://127.0.0.1:{server.port}/v1"
    args = {"base_url": address, "retries": RETRIES, "timeout": kind.timeout, "constrained": "off", **args}
    return ModelSpec.model_validate({"id": "openai/any", "args": args})


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(retrying, "LONGEST_WAIT", 0.02)
    monkeypatch.setattr("contrapose.tasks.infer.asking.endpoint.STREAK_SECONDS", 0.2)
    monkeypatch.setattr("contrapose.tasks.infer.asking.endpoint.PATIENCE", 0.7)


@pytest.mark.parametrize("kind", [each for each in KINDS if not each.secure], ids=lambda kind: kind.name)
def test_what_befalls_one_prompt(kind: Kind) -> None:
    with misbehaving(Misbehaving(script=kind.script, proper_from=1)) as server:
        broker = answered(specification(server, kind, concurrency=1), generate("Hello"))
    completion = only(broker).completion
    if kind.once == "answered":
        assert (completion.text, server.asked, broker.stopped) == (kind.told, 1, None)
    elif kind.once == "asked again":
        assert (completion.text, server.asked, broker.stopped) == ("A", 2, None)
    else:
        assert (completion.text, server.asked, bool(broker.stopped)) == (None, 1, kind.once == "stopped")
        assert kind.told in f"{completion.error} {broker.stopped}"


@pytest.mark.parametrize("kind", [each for each in KINDS if each.name in ALWAYS], ids=lambda kind: kind.name)
def test_an_endpoint_that_does_nothing_else(kind: Kind) -> None:
    with misbehaving(Misbehaving(script=kind.script, on_connect=kind.secure)) as server:
        questions = [generate(f"Prompt {number}") for number in range(PROMPTS)]
        broker = answered(specification(server, kind), *questions)
    texts = [each.completion.text for each in broker.answers.values()]
    if kind.once == "answered":
        # Asked and paid once, whatever the reply is worth.
        assert (texts, server.asked, broker.stopped) == ([kind.told] * PROMPTS, PROMPTS, None)
    else:
        assert kind.told in str(broker.stopped)
        assert set(texts) <= {None}
        # An endpoint that cannot be reached is given up after some seconds, in which a fast machine asks it often.
        assert server.asked <= (FEW if "no connection" not in kind.told else PROMPTS * (1 + RETRIES) // 2)
