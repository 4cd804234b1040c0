"""What `app/…` names, and what `model_args` says of it, checked before anything is sent or run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from contrapose.tasks.config.hosts import origin_of, refuse_forbidden
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument
from contrapose.tasks.core.secrets import holds_password
from contrapose.tasks.infer.app.passages import PASSAGE_PATH, steps_of
from contrapose.tasks.infer.arguments import rate, seconds_of, whole, wrong
from contrapose.tasks.infer.base import refuse_frame, refuse_unknown
from contrapose.tasks.infer.openai.key import read_header

Kind = Literal["http", "callable", "command"]

COMMAND = "cmd:"
PROMPT = "{prompt}"
"""What stands in a body for the prompt."""
CONCURRENCY = 4
MEGABYTES = 4096
CALLABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
METHODS = ("POST", "PUT", "PATCH", "GET")
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")

ARGUMENTS: Mapping[str, Argument] = {
    "revision": Argument(type="text", description="Version of the application: it keeps answers apart."),
    "method": Argument(type="text", description="Of requests: POST, PUT, PATCH or GET.", default="POST"),
    "body": Argument(
        type="mapping",
        description="What is sent, as JSON; {prompt} stands for the prompt in any text of it. With GET, the query.",
        default={"prompt": PROMPT},
    ),
    "reply": Argument(
        type="text", description="Where the reply stands in the JSON that comes back, such as choices.0.text."
    ),
    "context": Argument(
        type="text",
        description="Where the passages that it retrieved stand there, such as documents.*.text; * is every item of a "
        "list.",
    ),
    "headers": Argument(
        type="mapping",
        description="Names of headers to the environment variable, or `secret://<block>`, that holds each.",
        role="key",
    ),
    "concurrency": Argument(
        type="whole number", description="Most prompts at a time.", default=CONCURRENCY, role="pace"
    ),
    "timeout": Argument(type="seconds", description="For one prompt.", default=60, role="pace"),
    "total_timeout": Argument(type="seconds", description="For one prompt with all retries.", default=600, role="pace"),
    "retries": Argument(type="whole number", description="For failures of an address.", default=8, role="pace"),
    "requests_per_minute": Argument(type="number", description="The application's limit.", role="pace"),
    "memory": Argument(
        type="whole number",
        description="Megabytes that a callable's process may hold; one that holds more is begun anew.",
        default=MEGABYTES,
        role="pace",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSettings:
    """How an application is asked."""

    kind: Kind
    """What it is."""
    address: str
    """The URL, the callable as `module:function`, or the command as it was written."""
    command: tuple[str, ...]
    """Its words; empty for the other kinds."""
    method: str
    """Of requests over HTTP."""
    body: Mapping[str, Any]
    """What is sent over HTTP."""
    reply: str
    """Path to the reply in JSON; empty: the text, or the field `reply`."""
    context: tuple[str, ...]
    """Steps to the passages in JSON; empty where none are asked for."""
    headers: Mapping[str, str]
    """Further headers, with their secrets."""
    concurrency: int
    """The most prompts under way at a time."""
    timeout: float
    """Seconds that one prompt may take."""
    total_timeout: float
    """Seconds that one prompt may take with all retries and waits."""
    retries: int
    """How often a failed request is made again."""
    requests_per_minute: float | None
    """The application's limit; None is no limit."""
    tokens_per_minute: None
    """Nobody counts tokens here."""
    memory: int
    """Megabytes that a process of a callable may hold."""
    called: str = "the application"
    """In messages."""


def read_settings(spec: ModelSpec) -> AppSettings:
    """The settings of an application.

    Raises:
        ConfigError: the place of a header's value cannot be used, or the address is nobody's to ask.
        ModelError: it is none, may not be run here, or an argument is unknown or wrong.
    """
    refuse_unknown(spec, ARGUMENTS)
    kind = kind_of(spec)
    # Where a run sends portions to other machines, it has decided before that the address may be asked.
    if kind != "http" or not spec.identity:
        Permissions.here().refuse_app(spec.name)
    if kind != "http":
        for name in ("method", "body", "reply", "context", "headers"):
            if name in spec.args:
                raise wrong(name, spec.args[name], expected="nothing: it is for applications behind an address")
    refuse_frame(spec, "what an application is told besides the prompt is its own")
    return AppSettings(
        kind=kind,
        address=spec.name,
        command=_words(spec) if kind == "command" else (),
        method=_method(spec),
        body=_body(spec),
        reply=str(spec.args.get("reply") or ""),
        context=_context(spec),
        headers=_headers(spec),
        concurrency=whole(spec, "concurrency", CONCURRENCY, low=1, high=1000),
        timeout=seconds_of(spec, "timeout", 60),
        total_timeout=seconds_of(spec, "total_timeout", 600),
        retries=whole(spec, "retries", 8, low=0, high=100),
        requests_per_minute=rate(spec, "requests_per_minute"),
        tokens_per_minute=None,
        memory=whole(spec, "memory", MEGABYTES, low=64, high=1 << 20),
    )


def kind_of(spec: ModelSpec) -> Kind:
    """What is named.

    Raises:
        ModelError: nothing that can be asked.
    """
    name = spec.name
    if name.startswith(COMMAND):
        _words(spec)
        return "command"
    if "://" in name:
        _refuse_address(spec)
        return "http"
    if CALLABLE.fullmatch(name):
        return "callable"
    raise ModelError(
        f"{name[:80]!r} is no application",
        expected="app/package.module:function, app/http://host:port/path or app/cmd:<command>",
        remedy="Correct the model.",
        where="model",
    )


def _words(spec: ModelSpec) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(spec.name.removeprefix(COMMAND)))
    except ValueError as error:
        raise ModelError(
            f"a command that cannot be read ({error})",
            expected="words and quotes as in a shell",
            remedy="Correct the model.",
            where="model",
        ) from error
    if not words:
        raise ModelError("no command", expected="app/cmd:<command>", remedy="Name one.", where="model")
    return words


def _refuse_address(spec: ModelSpec) -> None:
    origin = origin_of(spec.name)
    url = urlsplit(spec.name)
    if holds_password(spec.name) or url.fragment:
        raise ModelError(
            "an address with a user, a password or a token",
            expected="an address without secrets, which every report repeats",
            remedy="Send them in model_args.headers.",
            where="model",
        )
    if origin is None:
        raise ModelError(
            f"{spec.name[:80]!r} is no address",
            expected="http://host:port/path or https://…",
            remedy="Correct the model.",
            where="model",
        )
    refuse_forbidden(origin.host, where="model")


def _method(spec: ModelSpec) -> str:
    method = str(spec.args.get("method", "POST")).upper()
    if method not in METHODS:
        raise wrong("method", spec.args["method"], expected=" or ".join(METHODS))
    return method


def _body(spec: ModelSpec) -> Mapping[str, Any]:
    body = spec.args.get("body", {"prompt": PROMPT})
    if not isinstance(body, Mapping) or not holds_prompt(body):
        raise wrong("body", body, expected=f"a mapping with {PROMPT} in one of its texts")
    if _method(spec) == "GET" and any(
        isinstance(value, bool) or not isinstance(value, str | int | float) for value in body.values()
    ):
        raise wrong("body", body, expected="texts and numbers alone, which a query can hold")
    return body


def holds_prompt(value: Any) -> bool:
    """Whether a text in a body has a place for the prompt."""
    if isinstance(value, Mapping):
        return any(map(holds_prompt, value.values()))
    if isinstance(value, list):
        return any(map(holds_prompt, value))
    return isinstance(value, str) and PROMPT in value


def _context(spec: ModelSpec) -> tuple[str, ...]:
    path = spec.args.get("context")
    if path is None:
        return ()
    steps = steps_of(path)
    if not steps or path == spec.args.get("reply"):
        raise wrong("context", path, expected=PASSAGE_PATH)
    return steps


def _headers(spec: ModelSpec) -> Mapping[str, str]:
    named = spec.args.get("headers") or {}
    if not isinstance(named, Mapping):
        raise wrong("headers", "…", expected="a mapping of names to places of secrets")
    for name in named:
        if not HEADER.fullmatch(str(name)):
            raise wrong("headers", name, expected="names of headers, such as Authorization")
    return {
        str(name): read_header(str(place), address=spec.name, where="model_args.headers")
        for name, place in named.items()
    }
