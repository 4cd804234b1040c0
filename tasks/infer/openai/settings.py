"""Read and check the settings of an endpoint in `model_args`, before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urlsplit

from contrapose.tasks.config.hosts import origin_of, refuse_forbidden
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument
from contrapose.tasks.core.questions import Form
from contrapose.tasks.infer.asking.endpoint import AskingPace
from contrapose.tasks.infer.base import PACE, argument_error, read_pace, read_whole_number, refuse_unknown
from contrapose.tasks.infer.openai.key import NO_KEY, is_for_openai_key, read_key
from contrapose.tasks.infer.openai.vendors import BEARER, OPENAI, OTHER_SERVER, Vendor, find_vendor

if TYPE_CHECKING:
    from openai import Omit

TOP_LOGPROBS = 20
"""Log-probabilities that OpenAI and most other servers list at most."""

ARGUMENTS: Mapping[str, Argument] = {
    "base_url": Argument(type="address", description="The endpoint, up to and including /v1; empty: the vendor's own."),
    "endpoint": Argument(type="text", description="The API that is asked: chat or completions.", default="chat"),
    **PACE,
    "concurrency": replace(
        PACE["concurrency"],
        description="Most requests at a time; halved while the endpoint says that it is overloaded.",
    ),
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

OPENAI_HOST = urlsplit(OPENAI.base_url).hostname
USER_INFO = re.compile(r"//[^/@\s]+@")
"""Name and password in an address, such as that of a proxy."""


def make_arguments(vendor: Vendor) -> Mapping[str, Argument]:
    """Return the arguments in `model_args` for a vendor's models, with its defaults."""
    defaults = {"concurrency": vendor.concurrency, "timeout": vendor.timeout, "api_key_env": vendor.key}
    if vendor.base_url and vendor is not OPENAI:
        defaults["base_url"] = vendor.base_url
    own = {name: replace(ARGUMENTS[name], default=value) for name, value in defaults.items()}
    return {**ARGUMENTS, **own, **vendor.arguments}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(AskingPace):
    """Address, up to and including /v1, rate limits and request format of an endpoint."""

    vendor: Vendor
    """Whose API it is."""
    key: str
    """The API key, a token of Entra, or NO_KEY."""
    entra: bool
    """Whether tokens of Entra are sent, which expire, in place of a key."""
    api_version: str
    """Version of Azure's older API; empty for every other one."""
    own: bool
    """Whether what the environment says of OpenAI beside the key, such as OPENAI_ORG_ID, is for that address."""
    endpoint: Literal["chat", "completions"]
    """Which of the two APIs is asked."""
    offline: bool
    """Whether nobody is asked: then no key is needed, and nothing need listen at the address."""
    top_logprobs: int
    """How many of the likeliest tokens are listed."""
    length_field: str
    """Name that the API has for the greatest number of tokens to write."""

    @property
    def path(self) -> str:
        """Address of the API below the base URL."""
        return "/chat/completions" if self.endpoint == "chat" else "/completions"

    def client_options(self) -> dict[str, Any]:
        """Return the arguments of OpenAI's clients: address and key."""
        query = {"api-version": self.api_version} if self.api_version else None
        return {"base_url": self.address, "api_key": self.key, "default_query": query}

    def key_headers(self, *, is_list: bool) -> dict[str, str | Omit]:
        """Return the headers with the key that replace OpenAI's own, for a prompt or for a list of models.

        OpenAI's own are right for a batch, and for a token of Entra.
        """
        from openai import Omit

        own = dict(self.vendor.list_headers) if is_list else {}
        if self.vendor.key_header != BEARER and not self.entra:
            own[self.vendor.key_header] = "{key}"
        return {BEARER: Omit(), **{name: value.format(key=self.key) for name, value in own.items()}} if own else {}


def read_settings(spec: ModelSpec) -> Settings:
    """Return the checked settings of a model."""
    vendor = find_vendor(spec)
    if not spec.name:
        raise ModelError(
            "no model name",
            expected=f"{vendor.name}/<model>, such as {vendor.name}/{vendor.example}",
            remedy="Name the model as the endpoint knows it.",
            where=spec.id,
        )
    refuse_unknown(spec, make_arguments(vendor))
    # Arguments that are read later are refused now.
    list_wanted_forms(spec)
    read_switch(spec, "logprobs")
    base_url, endpoint, offline = find_base_url(spec), _find_endpoint(spec), read_switch(spec, "offline")
    length_field = _find_server(spec, base_url).length_field if endpoint == "chat" else "max_tokens"
    return Settings(
        **read_pace(spec, concurrency=vendor.concurrency, timeout=vendor.timeout),
        address=base_url,
        vendor=vendor,
        key=NO_KEY if offline else read_key(spec, base_url=base_url),
        entra=read_switch(spec, "entra"),
        api_version=str(spec.args.get("api_version") or ""),
        offline=offline,
        own=is_for_openai_key(base_url),
        endpoint=endpoint,
        top_logprobs=read_whole_number(spec, "top_logprobs", TOP_LOGPROBS, low=2, high=100),
        length_field=str(spec.args.get("max_tokens_field") or length_field),
    )


def list_wanted_forms(spec: ModelSpec) -> tuple[Form, ...]:
    """Return the forms that may restrict replies to option letters; this needs no key.

    The older API knows no schema.
    """
    forms, chat = _find_server(spec, find_base_url(spec)).forms, _find_endpoint(spec) == "chat"
    known = tuple(form for form in forms if chat or form != "json_schema")
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


def _find_server(spec: ModelSpec, base_url: str) -> Vendor:
    """Return the vendor that decides the request fields; for `openai/…` at another address, it is other servers."""
    vendor = find_vendor(spec)
    return OTHER_SERVER if vendor is OPENAI and urlsplit(base_url).hostname != OPENAI_HOST else vendor


def find_base_url(spec: ModelSpec) -> str:
    """Return the address of a model's API, up to and including /v1."""
    vendor = find_vendor(spec)
    address = str(spec.args.get("base_url") or vendor.address(spec))
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
    path = vendor.path(url.path.rstrip("/"), spec)
    return url._replace(netloc=url.netloc.lower(), path=path).geturl()


def _find_endpoint(spec: ModelSpec) -> Literal["chat", "completions"]:
    endpoint = spec.args.get("endpoint", "chat")
    if endpoint not in ("chat", "completions"):
        raise argument_error("endpoint", endpoint, expected="chat or completions")
    return cast(Literal["chat", "completions"], endpoint)


def read_switch(spec: ModelSpec, name: str) -> bool:
    """Return an argument that is true or false; this needs no key."""
    value = spec.args.get(name, False)
    if not isinstance(value, bool):
        raise argument_error(name, value, expected="true or false")
    return value
