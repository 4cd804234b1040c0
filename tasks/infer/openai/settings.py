"""What `model_args` says about an endpoint, checked before anything is sent."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import urlsplit

from contrapose.tasks.config.hosts import origin_of, refuse_forbidden
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument
from contrapose.tasks.core.questions import Form
from contrapose.tasks.infer.arguments import rate, seconds_of, whole, wrong
from contrapose.tasks.infer.base import refuse_unknown
from contrapose.tasks.infer.openai.key import BASE_URL, NO_KEY, OPENAI_HOST, is_own, read_key

CONCURRENCY = 32
"""Requests at once where `model_args.concurrency` says nothing."""
TOP_LOGPROBS = 20
"""Log-probabilities that OpenAI and most other servers list at most."""

ARGUMENTS: Mapping[str, Argument] = {
    "base_url": Argument(type="address", description="The endpoint, up to and including /v1; empty: OpenAI's own."),
    "endpoint": Argument(type="text", description="The API that is asked: chat or completions.", default="chat"),
    "concurrency": Argument(
        type="whole number",
        description="Most requests at a time; halved while the endpoint says that it is overloaded.",
        default=CONCURRENCY,
        role="pace",
    ),
    "timeout": Argument(type="seconds", description="For one request.", default=30, role="pace"),
    "total_timeout": Argument(type="seconds", description="For one prompt with all retries.", default=600, role="pace"),
    "retries": Argument(
        type="whole number", description="For failures; rate-limited requests do not count.", default=8, role="pace"
    ),
    "requests_per_minute": Argument(type="number", description="The account's limit.", role="pace"),
    "tokens_per_minute": Argument(type="number", description="The account's limit.", role="pace"),
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
        description="Ask nobody: take only answers that are stored, such as those of a batch.",
        default=False,
        role="pace",
    ),
    "revision": Argument(type="text", description="What is served: it keeps answers apart, and is not sent."),
}
OPENAI_URL = f"https://{OPENAI_HOST}/v1"

USER_INFO = re.compile(r"//[^/@\s]+@")
"""Name and password in an address, such as that of a proxy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an endpoint is reached and how hard it is pushed."""

    base_url: str
    """Address up to and including /v1."""
    key: str
    """The API key, or NO_KEY."""
    own: bool
    """Whether what the environment says of OpenAI beside the key, such as OPENAI_ORG_ID, is for that address."""
    endpoint: Literal["chat", "completions"]
    """Which of the two APIs is asked."""
    concurrency: int
    """The most requests under way at a time."""
    timeout: float
    """Seconds that one request may take."""
    total_timeout: float
    """Seconds that one prompt may take, from its first request on, with all retries and waits."""
    retries: int
    """How often a failed request is made again; rate-limited ones do not count."""
    requests_per_minute: float | None
    """The account's rate limit; None is no limit."""
    tokens_per_minute: float | None
    """The account's rate limit; None is no limit."""
    offline: bool
    """Whether nobody is asked: then no key is needed, and nothing need listen at the address."""
    logprobs: bool
    """Whether option letters are compared by the log-probabilities that the endpoint returns."""
    top_logprobs: int
    """How many of the likeliest tokens are listed."""
    length_field: str
    """What the API calls the greatest number of tokens to write."""
    called: str = "the endpoint"
    """In messages."""

    @property
    def address(self) -> str:
        """Where limits a minute are kept for it together."""
        return self.base_url


def read_settings(spec: ModelSpec) -> Settings:
    """The settings of a model.

    Raises:
        ConfigError: the place that is named for the key cannot be used, or the address is nobody's to ask.
        ModelError: an argument is unknown or wrong, or a key is needed and missing, or not for that host.
    """
    if not spec.name:
        raise ModelError(
            "no model name",
            expected="openai/<model>, such as openai/gpt-4.1-mini",
            remedy="Name the model as the endpoint knows it.",
            where=spec.id,
        )
    refuse_unknown(spec, ARGUMENTS)
    wanted_forms(spec)
    base_url, endpoint, offline = _base_url(spec), _endpoint(spec), is_offline(spec)
    return Settings(
        base_url=base_url,
        key=NO_KEY if offline else read_key(spec, base_url=base_url),
        offline=offline,
        own=is_own(base_url),
        endpoint=endpoint,
        concurrency=whole(spec, "concurrency", CONCURRENCY, low=1, high=1000),
        timeout=seconds_of(spec, "timeout", 30),
        total_timeout=seconds_of(spec, "total_timeout", 600),
        retries=whole(spec, "retries", 8, low=0, high=100),
        requests_per_minute=rate(spec, "requests_per_minute"),
        tokens_per_minute=rate(spec, "tokens_per_minute"),
        logprobs=wants_logprobs(spec),
        top_logprobs=whole(spec, "top_logprobs", TOP_LOGPROBS, low=2, high=100),
        length_field=_length_field(spec, endpoint),
    )


def wants_logprobs(spec: ModelSpec) -> bool:
    """Whether log-probabilities are asked for; no key is needed to tell.

    Raises:
        ModelError: the argument is no switch.
    """
    return _switch(spec, "logprobs")


def is_offline(spec: ModelSpec) -> bool:
    """Whether nobody is to be asked.

    Raises:
        ModelError: the argument is no switch.
    """
    return _switch(spec, "offline")


def wanted_forms(spec: ModelSpec) -> tuple[Form, ...]:
    """How replies are held to option letters; no key is needed to tell.

    Raises:
        ModelError: the argument names no form, or one that the API does not have.
    """
    named = spec.args.get("constrained", "auto")
    possible = _possible_forms(spec)
    if named == "auto":
        return possible
    # YAML reads a bare `off` as false.
    if named is False or named == "off":
        return ("plain",)
    known = [form for form in possible if form != "plain"]
    if named not in known:
        raise wrong("constrained", named, expected=" or ".join(filter(None, ["auto", "off", ", ".join(known)])))
    return (cast(Form, named),)


def _possible_forms(spec: ModelSpec) -> tuple[Form, ...]:
    """Those that the endpoint may have: choices are vLLM's own, and the older API knows nothing else."""
    own, chat = urlsplit(_base_url(spec)).hostname == OPENAI_HOST, _endpoint(spec) == "chat"
    schema: tuple[Form, ...] = ("json_schema",) if chat else ()
    choices: tuple[Form, ...] = () if own else ("structured_outputs", "guided_choice")
    return (*schema, *choices, "plain")


def _base_url(spec: ModelSpec) -> str:
    address = str(spec.args.get("base_url") or os.environ.get(BASE_URL) or OPENAI_URL)
    origin = origin_of(address)
    if origin is None:
        raise wrong("base_url", USER_INFO.sub("//…@", address), expected="http://host:port/v1 or https://…")
    url = urlsplit(address)
    if url.username is not None or url.password is not None or url.query or url.fragment:
        # Its value is not shown: it is where secrets hide.
        raise wrong("base_url", "…", expected="an address without user, password and query")
    refuse_forbidden(origin.host, where="model_args.base_url")
    # Written as ever: the response store knows answers by it.
    return url._replace(netloc=url.netloc.lower(), path=url.path.rstrip("/")).geturl()


def _endpoint(spec: ModelSpec) -> Literal["chat", "completions"]:
    endpoint = spec.args.get("endpoint", "chat")
    if endpoint not in ("chat", "completions"):
        raise wrong("endpoint", endpoint, expected="chat or completions")
    return cast(Literal["chat", "completions"], endpoint)


def _length_field(spec: ModelSpec, endpoint: str) -> str:
    """OpenAI's own chat API renamed the field; other servers know the old name."""
    own_chat = endpoint == "chat" and urlsplit(_base_url(spec)).hostname == OPENAI_HOST
    return str(spec.args.get("max_tokens_field") or ("max_completion_tokens" if own_chat else "max_tokens"))


def _switch(spec: ModelSpec, name: str) -> bool:
    value = spec.args.get(name, False)
    if not isinstance(value, bool):
        raise wrong(name, value, expected="true or false")
    return value
