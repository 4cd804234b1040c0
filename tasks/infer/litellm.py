"""Provider `litellm/<provider>/<model>`: uses the library LiteLLM for models without an OpenAI-compatible API.

Budget, cache, retries and rate limits stay ours: LiteLLM translates a request, sends it once and prices it.
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from contrapose.tasks.config.hosts import origin_of, refuse_forbidden
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.asking.outcomes import (
    Failure,
    read_retry_after,
    remove_secrets,
    remove_secrets_from_completion,
)
from contrapose.tasks.infer.asking.pool import PooledModel
from contrapose.tasks.infer.asking.text_provider import SHOWN, TextProvider
from contrapose.tasks.infer.base import argument_error, refuse_unknown
from contrapose.tasks.infer.openai.bodies import make_sampling_fields
from contrapose.tasks.infer.openai.failures import classify_error, make_unreadable_failure
from contrapose.tasks.infer.openai.key import read_header
from contrapose.tasks.infer.openai.refusals import find_refused_parameter
from contrapose.tasks.infer.openai.response_parsing import ErrorReplyError, read_reply

if TYPE_CHECKING:
    from types import ModuleType

ENVIRONMENT = {
    # Without it a table of prices, and headers, are fetched from the web when the library is imported.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    # Else keys are read from a file .env in whatever folder a run begins in.
    "LITELLM_MODE": "PRODUCTION",
}
QUIET: Mapping[str, Any] = {
    "suppress_debug_info": True,
    "turn_off_message_logging": True,
    # What a model does not take is named, never dropped without a word.
    "drop_params": False,
    "cache": None,
    # Sessions of aiohttp outlive the event loop of a call, and complain.
    "disable_aiohttp_transport": True,
}
"""Settings of the library."""
CALLBACKS = ("callbacks", "input_callback", "success_callback", "failure_callback")
"""Lists of what would be told of every prompt."""
SECRET = re.compile(r"_(API_KEY|ACCESS_KEY|SECRET|TOKEN|BEARER_TOKEN_\w+)$")
"""How variables end that hold what LiteLLM sends."""
LEAST_KEY = 16
"""Characters of a key: a shorter value of such a variable may be a word of a reply."""
DROPPED = "dropped"


class LiteLLM(TextProvider):
    """Gets replies through LiteLLM, which reads keys from variables such as COHERE_API_KEY."""

    concurrency: ClassVar[int] = 16
    arguments: ClassVar[Mapping[str, Argument]] = {
        "api_base": Argument(
            type="address",
            description="Address of the API, with the key in <PROVIDER>_API_KEY, which must name its host.",
        ),
        **TextProvider.arguments,
    }

    async def generate(self, prompt: str, spec: ModelSpec) -> str | Completion | Failure:
        """Return the reply to a prompt, or its failure."""
        litellm, question, secrets = load_litellm(), Question(kind="generate", prompt=prompt), list_secrets()
        fields, _ = make_request_fields(spec)
        try:
            reply = await litellm.acompletion(
                model=spec.name,
                messages=spec.messages(prompt),
                **fields,
                **find_address(spec),
                num_retries=0,
                max_retries=0,
            )
            content = reply.model_dump_json().encode()
            if '"stop_reason":"refusal"' in content.decode():
                # LiteLLM calls what Claude declines to say a content filter.
                content = content.replace(b'"finish_reason":"content_filter"', b'"finish_reason":"refusal"')
            return remove_secrets_from_completion(read_reply(content, question), secrets)
        except (ErrorReplyError, ValueError) as error:
            return make_unreadable_failure(error, "")
        except Exception as error:
            failure = read_failure(error, litellm, secrets)
            refused = (
                None
                if failure.outcome == "moderated"
                else find_refused_parameter(failure, failure.message, question, sent=fields)
            )
            return refused or failure

    def open(self, spec: ModelSpec) -> PooledModel:
        """Return the model with shared limits; import the library now, because this takes seconds."""
        load_litellm()
        return super().open(spec)

    def price(self, spec: ModelSpec) -> Price | None:
        """Return the price in LiteLLM's own table, or None if it has none."""
        model, provider = split_name(spec)
        try:
            listed = load_litellm().get_model_info(model=model, custom_llm_provider=provider)
            price = Price(**{side: listed[f"{side}_cost_per_token"] * 1_000_000 for side in ("input", "output")})
        except Exception:
            # It has no error of its own for a model that is not in the table.
            return None
        return price if price.input or price.output else None

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return the model, its address and the settings that LiteLLM does not send to it."""
        refuse_unknown(spec, self.arguments)
        dropped = ", ".join(make_request_fields(spec)[1])
        return {
            "revision": str(spec.args.get("revision", "")),
            "model": spec.name,
            "address": str(find_address(spec).get("api_base", "")),
            **({DROPPED: dropped} if dropped else {}),
            "dtype": "unknown",
            "device": "remote",
        }

    def describe(self, identity: Mapping[str, str]) -> list[str]:
        """Return a remark about the settings that are not sent."""
        dropped = identity.get(DROPPED)
        return [f"LiteLLM does not send {dropped} to this model: replies come without it."] if dropped else []

    def check(self, spec: ModelSpec) -> Check:
        """Check that the library knows the provider and finds its key; nothing is sent."""
        self.identity(spec)
        missing = load_litellm().validate_environment(model=spec.name)["missing_keys"]
        if missing and not find_address(spec):
            names = " and ".join(missing)
            remedy = f"export {missing[0]}=…, or sign in as the provider's own tools do."
            return Check(state="warning", observed=f"{spec.id}: {names} not set", remedy=remedy)
        return Check(state="ok", observed=f"{spec.id}: LiteLLM knows the provider, and its key is set")


@cache
def load_litellm() -> ModuleType:
    """Import the library without telemetry and logs, or raise ModelError."""
    os.environ.update(ENVIRONMENT)
    try:
        import litellm
    except ImportError as error:
        raise ModelError(
            "LiteLLM is not installed", expected="the extra litellm", remedy='pip install "contrapose[litellm]".'
        ) from error
    for name, value in {**QUIET, **{name: [] for name in CALLBACKS}}.items():
        setattr(litellm, name, value)
    # Its own classes make pydantic warn; its modules are imported late.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic\.")
    # At level DEBUG it writes keys and prompts.
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


def split_name(spec: ModelSpec) -> tuple[str, str]:
    """Return the names of model and provider in LiteLLM, or raise ModelError."""
    litellm = load_litellm()
    if "/" in spec.name and "://" not in spec.name:
        try:
            model, provider, *_ = litellm.get_llm_provider(spec.name)
            return model, provider
        except litellm.exceptions.BadRequestError:
            pass
    # The name of a model may be an address for some of its providers: it would be sent their key.
    raise ModelError(
        f"LiteLLM knows no provider of {spec.name!r}",
        expected="litellm/<provider>/<model>, such as litellm/cohere/command-a-03-2025",
        remedy="Correct the name: https://docs.litellm.ai/docs/providers lists them.",
        where=spec.id,
    )


def make_request_fields(spec: ModelSpec) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of a request, and the names of those that LiteLLM cannot send to the model."""
    model, provider = split_name(spec)
    supported = load_litellm().get_supported_openai_params(model=model, custom_llm_provider=provider) or ()
    length = "max_tokens" if "max_tokens" in supported else "max_completion_tokens"
    wanted = make_sampling_fields(spec.generation, length_field=length)
    return {name: value for name, value in wanted.items() if name in supported}, sorted(wanted.keys() - set(supported))


def find_address(spec: ModelSpec) -> dict[str, str]:
    """Return address and key if `api_base` is set; if not, LiteLLM finds both.

    The variable of the key names the host, for every provider: it would be sent what the environment holds.
    """
    address = spec.args.get("api_base")
    if not address:
        return {}
    origin = origin_of(str(address))
    if origin is None or "@" in str(address):
        raise argument_error("api_base", "…", expected="http://host:port or https://…, without user and password")
    refuse_forbidden(origin.host, where="model_args.api_base")
    variable = f"{spec.name.partition('/')[0].upper()}_API_KEY"
    return {"api_base": str(address), "api_key": read_header(variable, address=str(address), where=spec.id)}


def read_failure(error: Exception, litellm: ModuleType, secrets: Iterable[str]) -> Failure:
    """Return the failure that an exception of LiteLLM means."""
    known, said = litellm.exceptions, str(error).partition("\nTraceback")[0]
    text = " ".join(remove_secrets(said, secrets).split())[:SHOWN]
    status = getattr(error, "status_code", None)
    if isinstance(error, known.ContentPolicyViolationError):
        return Failure(kind="moderated", message=text, then="give up", outcome="moderated")
    if isinstance(error, known.Timeout | known.APIConnectionError) or not isinstance(status, int):
        lost = isinstance(error, known.Timeout | known.APIConnectionError | OSError)
        return Failure(kind="connection" if lost else "error", message=text, then="retry" if lost else "give up")
    body, headers = getattr(error, "body", None), getattr(error, "litellm_response_headers", None)
    return classify_error(status, body or text, text, key="", wait=read_retry_after(headers or {}))


def list_secrets() -> list[str]:
    """Return all secrets in the environment, because LiteLLM may send any of them."""
    return [value for name, value in os.environ.items() if SECRET.search(name) and len(value) >= LEAST_KEY]
