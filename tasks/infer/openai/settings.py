"""Settings of an endpoint in `model_args`, checked before anything is sent."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast
from urllib.parse import urlsplit

from contrapose.tasks.config.hosts import origin_of, refuse_forbidden
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument
from contrapose.tasks.core.questions import Form
from contrapose.tasks.infer.arguments import PACE, argument_error, read_pace, whole_number
from contrapose.tasks.infer.asking.endpoint import AskingPace
from contrapose.tasks.infer.base import refuse_unknown
from contrapose.tasks.infer.openai.key import BASE_URL, NO_KEY, OPENAI_HOST, is_own, read_key

CONCURRENCY = 32
"""Requests at once where `model_args.concurrency` says nothing."""
TOP_LOGPROBS = 20
"""Log-probabilities that OpenAI and most other servers list at most."""

ARGUMENTS: Mapping[str, Argument] = {
    "base_url": Argument(type="address", description="The endpoint, up to and including /v1; empty: OpenAI's own."),
    "endpoint": Argument(type="text", description="The API that is asked: chat or completions.", default="chat"),
    **PACE,
    "concurrency": replace(
        PACE["concurrency"],
        description="Most requests at a time; halved while the endpoint says that it is overloaded.",
        default=CONCURRENCY,
    ),
    "timeout": replace(PACE["timeout"], default=30),
    "retries": replace(PACE["retries"], description="For failures; rate-limited requests do not count."),
    "logprobs": Argument(
        type="true or false", description="Compare option letters by the endpoint's log-probabilities.", default=False
    ),
    "top_logprobs": Argument(
        type="whole number",
        description="Log-probabilities that are asked for, of the likeliest tokens.",
        default=TOP_LOGPROBS,
        role="pace",
    ),
    "constrained": Argument(
        type="text",
        description="How replies are held to letters: auto, off, json_schema, structured_outputs, guided_choice.",
        default="auto",
    ),
    "api_key_env": Argument(type="name", description="Environment variable that holds the key, or none.", role="key"),
    "api_key_block": Argument(type="name", description="Prefect Secret block that holds the key.", role="block"),
    "max_tokens_field": Argument(type="text", description="What the endpoint calls the longest reply, in tokens."),
    "offline": Argument(
        type="true or false",
        description="Use only stored answers, such as those of a batch; send no request.",
        default=False,
        role="pace",
    ),
    "revision": Argument(
        type="text", description="Version that is served; each has its own cached answers. It is not sent."
    ),
}
OPENAI_URL = f"https://{OPENAI_HOST}/v1"

USER_INFO = re.compile(r"//[^/@\s]+@")
"""Name and password in an address, such as that of a proxy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(AskingPace):
    """Address, up to and including /v1, and pace of an endpoint, and how it is asked."""

    key: str
    """The API key, or NO_KEY."""
    own: bool
    """Whether what the environment says of OpenAI beside the key, such as OPENAI_ORG_ID, is for that address."""
    endpoint: Literal["chat", "completions"]
    """Which of the two APIs is asked."""
    offline: bool
    """Whether nobody is asked: then no key is needed, and nothing need listen at the address."""
    logprobs: bool
    """Whether option letters are compared by the log-probabilities that the endpoint returns."""
    top_logprobs: int
    """How many of the likeliest tokens are listed."""
    length_field: str
    """Name that the API has for the greatest number of tokens to write."""

    @property
    def path(self) -> str:
        """Address of the API below the base URL."""
        return "/chat/completions" if self.endpoint == "chat" else "/completions"


def read_settings(spec: ModelSpec) -> Settings:
    """Return the settings of a model."""
    if not spec.name:
        raise ModelError(
            "no model name",
            expected="openai/<model>, such as openai/gpt-4.1-mini",
            remedy="Name the model as the endpoint knows it.",
            where=spec.id,
        )
    refuse_unknown(spec, ARGUMENTS)
    wanted_forms(spec)
    base_url, endpoint, offline = _base_url(spec), _endpoint(spec), read_switch(spec, "offline")
    # OpenAI's own chat API renamed the field; other servers know the old name.
    own_chat = endpoint == "chat" and urlsplit(base_url).hostname == OPENAI_HOST
    return Settings(
        **read_pace(spec, concurrency=CONCURRENCY, timeout=30),
        address=base_url,
        key=NO_KEY if offline else read_key(spec, base_url=base_url),
        offline=offline,
        own=is_own(base_url),
        endpoint=endpoint,
        logprobs=read_switch(spec, "logprobs"),
        top_logprobs=whole_number(spec, "top_logprobs", TOP_LOGPROBS, low=2, high=100),
        length_field=str(spec.args.get("max_tokens_field") or ("max_completion_tokens" if own_chat else "max_tokens")),
    )


def wanted_forms(spec: ModelSpec) -> tuple[Form, ...]:
    """Return the forms in which replies may be held to option letters; no key is needed for that.

    Choices are vLLM's own, and the older API knows nothing else.
    """
    own, chat = urlsplit(_base_url(spec)).hostname == OPENAI_HOST, _endpoint(spec) == "chat"
    schema: tuple[Form, ...] = ("json_schema",) if chat else ()
    known: tuple[Form, ...] = schema if own else (*schema, "structured_outputs", "guided_choice")
    named = spec.args.get("constrained", "auto")
    if named == "auto":
        return (*known, "plain")
    # YAML reads a bare `off` as false.
    if named is False or named == "off":
        return ("plain",)
    if named not in known:
        expected = " or ".join(filter(None, ["auto", "off", ", ".join(known)]))
        raise argument_error("constrained", named, expected=expected)
    return (cast(Form, named),)


def _base_url(spec: ModelSpec) -> str:
    address = str(spec.args.get("base_url") or os.environ.get(BASE_URL) or OPENAI_URL)
    origin = origin_of(address)
    if origin is None:
        shown = USER_INFO.sub("//…@", address)
        raise argument_error("base_url", shown, expected="http://host:port/v1 or https://…")
    url = urlsplit(address)
    if url.username is not None or url.password is not None or url.query or url.fragment:
        # Its value is not shown: it is where secrets hide.
        raise argument_error("base_url", "…", expected="an address without user, password and query")
    refuse_forbidden(origin.host, where="model_args.base_url")
    # Written as ever: the response store knows answers by it.
    return url._replace(netloc=url.netloc.lower(), path=url.path.rstrip("/")).geturl()


def _endpoint(spec: ModelSpec) -> Literal["chat", "completions"]:
    endpoint = spec.args.get("endpoint", "chat")
    if endpoint not in ("chat", "completions"):
        raise argument_error("endpoint", endpoint, expected="chat or completions")
    return cast(Literal["chat", "completions"], endpoint)


def read_switch(spec: ModelSpec, name: str) -> bool:
    """Return an argument that is true or false; no key is needed for that."""
    value = spec.args.get(name, False)
    if not isinstance(value, bool):
        raise argument_error(name, value, expected="true or false")
    return value
