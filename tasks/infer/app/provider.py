"""Provider `app`: sends prompts to your application in the way that its users do."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from contrapose.tasks.config.hosts import origin_of, refuse_forbidden
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.permissions import Permissions
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.secrets import holds_password
from contrapose.tasks.infer.app.responses import PASSAGE_PATH, PROMPT, parse_path
from contrapose.tasks.infer.app.transports import (
    AppSettings,
    CallableTransport,
    CommandTransport,
    HttpTransport,
    try_callable,
)
from contrapose.tasks.infer.asking.pool import PooledModel
from contrapose.tasks.infer.asking.text_provider import TextProvider
from contrapose.tasks.infer.base import PACE, argument_error, read_pace, read_whole_number, refuse_frame, refuse_unknown
from contrapose.tasks.infer.openai.key import read_header

Kind = Literal["http", "callable", "command"]

COMMAND = "cmd:"
MEGABYTES = 4096
CALLABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
IN_ANSWERS = ("method", "body", "reply", "calls", "context")
"""Arguments of an address that decide its answers."""
METHODS = ("POST", "PUT", "PATCH", "GET")
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class App(TextProvider):
    """An application: `app/package.module:function`, `app/https://host/path` or `app/cmd:<command>`."""

    answers_only: ClassVar[Literal[True]] = True
    arguments: ClassVar[Mapping[str, Argument]] = {
        "revision": Argument(
            type="text", description="Version of the application; each version has its own cached answers."
        ),
        "method": Argument(type="text", description="Of requests: POST, PUT, PATCH or GET.", default="POST"),
        "body": Argument(
            type="mapping",
            description="Request body as JSON; {prompt} is replaced by the prompt, a value {messages} or {tools} by "
            "the list of messages or tools. With GET, the query.",
            default={"prompt": PROMPT},
        ),
        "reply": Argument(type="text", description="Path of the reply in the returned JSON, such as choices.0.text."),
        "calls": Argument(
            type="text", description="Path of the calls of tools there, such as choices.0.message.tool_calls."
        ),
        "context": Argument(
            type="text",
            description="Where the passages that it retrieved stand there, such as documents.*.text; * is every item "
            "of a list.",
        ),
        "headers": Argument(
            type="mapping",
            description="Names of headers to the environment variable, or `secret://<block>`, that holds each.",
            role="key",
        ),
        "concurrency": PACE["concurrency"],
        "timeout": replace(PACE["timeout"], description="For one prompt."),
        "total_timeout": PACE["total_timeout"],
        "retries": replace(PACE["retries"], description="For failures of an address."),
        "requests_per_minute": replace(PACE["requests_per_minute"], description="The application's limit."),
        "memory": Argument(
            type="whole number",
            description="Megabytes that a callable's process may hold; one that holds more is begun anew.",
            default=MEGABYTES,
            role="pace",
        ),
    }

    def check(self, spec: ModelSpec) -> Check:
        """Check that the callable or the command is there; an address is not checked, because it takes only prompts."""
        self.identity(spec)
        return Check(state="ok", observed=f"{spec.id} is {'named' if find_kind(spec) == 'http' else 'there'}")

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return the address, the request and the version, which only the user can name."""
        settings, kind = read_settings(spec), find_kind(spec)
        if kind == "callable":
            asyncio.run(try_callable(settings.address))
        if kind == "command" and shutil.which(settings.command[0]) is None:
            raise ModelError(
                f"there is no command {settings.command[0]}",
                expected="a program on the path, or the path of one",
                remedy="Correct the model.",
                where=f"app/{settings.address}",
            )
        version = {"served": str(spec.args["revision"])} if spec.args.get("revision") else {}
        request = {name: repr(spec.args[name]) for name in IN_ANSWERS if name in spec.args}
        return {"revision": settings.address, "dtype": "unknown", "device": "remote", **request, **version}

    def returns_passages(self, spec: ModelSpec) -> bool:
        """Return whether the settings name the place of retrieved passages."""
        return bool(read_settings(spec).context)

    def open(self, spec: ModelSpec) -> PooledModel:
        """Return the model with its settings and shared limits; no request is made yet."""
        settings = read_settings(spec)
        transport = {"http": HttpTransport, "callable": CallableTransport, "command": CommandTransport}[find_kind(spec)]
        return PooledModel(settings, partial(transport, settings), processes=spec.processes)


def read_settings(spec: ModelSpec) -> AppSettings:
    """Return the settings of an application."""
    refuse_unknown(spec, App.arguments)
    args, kind = spec.args, find_kind(spec)
    # Where a run sends portions to other machines, it has decided before that the address may be asked.
    if kind != "http" or not spec.identity:
        Permissions.here().refuse_app(spec.name)
    if kind != "http":
        for name in (*IN_ANSWERS, "headers"):
            if name in args:
                raise argument_error(name, args[name], expected="nothing: it is for applications behind an address")
    refuse_frame(spec, "an application adds everything but the prompt itself")
    method = str(args.get("method", "POST")).upper()
    if method not in METHODS:
        raise argument_error("method", args["method"], expected=" or ".join(METHODS))
    context = parse_path(args.get("context"))
    if args.get("context") is not None and (not context or args["context"] == args.get("reply")):
        raise argument_error("context", args["context"], expected=PASSAGE_PATH)
    return AppSettings(
        **read_pace(spec, concurrency=App.concurrency, timeout=60),
        address=spec.name,
        command=_split_command(spec) if kind == "command" else (),
        method=method,
        body=_read_body(spec, method),
        reply=str(args.get("reply") or ""),
        calls=str(args.get("calls") or ""),
        context=context,
        headers=_read_headers(spec),
        memory=read_whole_number(spec, "memory", MEGABYTES, low=64, high=1 << 20),
    )


def find_kind(spec: ModelSpec) -> Kind:
    """Return the kind of application that the model id names: http, callable or command."""
    name = spec.name
    if name.startswith(COMMAND):
        _split_command(spec)
        return "command"
    if CALLABLE.fullmatch(name):
        return "callable"
    if "://" not in name:
        expected = "app/package.module:function, app/http://host:port/path or app/cmd:<command>"
        raise _name_error(f"{name[:80]!r} is no application", expected=expected)
    origin = origin_of(name)
    if holds_password(name) or urlsplit(name).fragment:
        expected, remedy = "an address without secrets, which every report repeats", "Send them in model_args.headers."
        raise _name_error("an address with a user, a password or a token", expected=expected, remedy=remedy)
    if origin is None:
        raise _name_error(f"{name[:80]!r} is no address", expected="http://host:port/path or https://…")
    refuse_forbidden(origin.host, where="model")
    return "http"


def _split_command(spec: ModelSpec) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(spec.name.removeprefix(COMMAND)))
    except ValueError as error:
        raise _name_error(
            f"a command that cannot be read ({error})", expected="words and quotes as in a shell"
        ) from error
    if not words:
        raise _name_error("no command", expected="app/cmd:<command>", remedy="Name one.")
    return words


def _name_error(observed: str, *, expected: str, remedy: str = "Correct the model.") -> ModelError:
    return ModelError(observed, expected=expected, remedy=remedy, where="model")


def _read_body(spec: ModelSpec, method: str) -> Mapping[str, Any]:
    body = spec.args.get("body", {"prompt": PROMPT})
    if not isinstance(body, Mapping) or not has_place_for_prompt(body):
        raise argument_error("body", body, expected=f"a mapping with {PROMPT} in one of its texts")
    if method == "GET" and any(
        isinstance(value, bool) or not isinstance(value, str | int | float) for value in body.values()
    ):
        raise argument_error("body", body, expected="texts and numbers alone, which a query can hold")
    return body


def has_place_for_prompt(value: Any) -> bool:
    """Return whether some text in a request body has a place for the prompt."""
    if isinstance(value, Mapping | list):
        return any(map(has_place_for_prompt, value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, str) and PROMPT in value


def _read_headers(spec: ModelSpec) -> Mapping[str, str]:
    named = spec.args.get("headers") or {}
    if not isinstance(named, Mapping):
        raise argument_error("headers", "…", expected="a mapping of names to places of secrets")
    for name in named:
        if not HEADER.fullmatch(str(name)):
            raise argument_error("headers", name, expected="names of headers, such as Authorization")
    return {
        str(name): read_header(str(place), address=spec.name, where="model_args.headers")
        for name, place in named.items()
    }
