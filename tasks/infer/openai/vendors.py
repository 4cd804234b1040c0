"""Table of vendors with an OpenAI-compatible API: address, key, hosts of the key, and special cases of each.

To add one, write its row here and its line in `registry.PROVIDERS`. Every row was compared with the page in `docs`, or
with a copy of it, on 2026-11-29.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from contrapose.tasks.config.hosts import Origin, origin_of
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument
from contrapose.tasks.core.questions import Form

REGION = re.compile(r"[a-z]{2,8}(-[a-z0-9]+)+-\d+")
"""A region of AWS; it becomes a part of a host."""
BEARER = "Authorization"
NOWHERE = r"(?!)"
"""Pattern of no origin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """A vendor or a kind of server, as its documentation describes it."""

    name: str
    """The provider: what a model id begins with."""
    base_url: str = ""
    """Address of the API; `{region}` is replaced by the region of AWS. Empty: each user has an address."""
    key: str
    """Variable of the key."""
    docs: str
    """Page that says so."""
    example: str
    """A model, as this vendor names them."""
    hosts: str = ""
    """Pattern of the origins that may have the key; empty: the origin of `base_url` alone."""
    base_env: str = ""
    """Variable in which the vendor's own tools expect the address."""
    needs_key: bool = True
    key_header: str = BEARER
    """Header of the key. In `Authorization` the word Bearer stands before it."""
    list_headers: Mapping[str, str] = field(default_factory=dict)
    """Headers for the list of models, if that API needs others; `{key}` is replaced."""
    lists_models: bool = True
    """Whether the names of models that can be asked are listed."""
    digests: str = ""
    """Path on the server that lists its models, each with a digest that changes with its weights."""
    adds_model: str = ""
    """Command that adds a model which is not listed; `{model}` is replaced."""
    length_field: str = "max_tokens"
    """Name of the greatest number of tokens to write."""
    forms: tuple[Form, ...] = ("json_schema",)
    """Forms that hold replies to letters; they are tried before they are used."""
    concurrency: int = 32
    timeout: int = 30
    """Seconds for one request: a server on the user's machine may load the model first."""
    path: Callable[[str, ModelSpec], str] = lambda path, _: path
    """Makes the path of the API out of that of an address."""
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    """Those that other vendors do not have."""
    notes: str = ""
    """What users should know."""

    def is_own(self, origin: Origin | None) -> bool:
        """Return whether an origin belongs to this vendor, or is the usual address of this kind of server."""
        return re.fullmatch(self.hosts or re.escape(str(origin_of(self.base_url))), str(origin)) is not None

    def may_have_key(self, origin: Origin) -> bool:
        """Return whether an origin may have the key: the vendor's own, or the one in its variable."""
        return self.is_own(origin) or origin == origin_of(os.environ.get(self.base_env, ""))

    def wants_key(self, origin: Origin | None) -> bool:
        """Return whether an origin answers only with a key."""
        return self.needs_key and (self.is_own(origin) or not self.base_url)

    @property
    def own_addresses(self) -> str:
        """The hosts that may have the key, as text."""
        named = f", the address in {self.base_env}" if self.base_env else ""
        return f"an address of {self.name} itself{named}, or "

    def address(self, spec: ModelSpec) -> str:
        """Return the address of a model if `base_url` is not set."""
        if named := os.environ.get(self.base_env):
            return named
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
        if not self.base_url:
            lacking, remedy = "an address", f"export {self.base_env}=https://…, or set model_args.base_url."
        elif "{region}" in self.base_url and not REGION.fullmatch(region):
            lacking, remedy = "a region of AWS", "export AWS_REGION=us-east-1, or another region that has the model."
        else:
            return self.base_url.format(region=region)
        raise ModelError(f"{self.name} needs {lacking}", expected=lacking, remedy=remedy, where=spec.id)


def make_azure_path(path: str, spec: ModelSpec) -> str:
    """Return the path of the v1 API of an Azure resource, or of a deployment if `api_version` is set."""
    if "/openai/" in f"{path}/":
        path = path[: f"{path}/".index("/openai/")]
    version = spec.args.get("api_version")
    return f"{path}/openai/deployments/{quote(spec.name, safe='')}" if version else f"{path}/openai/v1"


AZURE_ARGUMENTS = {
    "api_version": Argument(
        type="text", description="Dated version of the older API, such as 2024-10-21; empty: the v1 API."
    ),
    "entra": Argument(
        type="true or false",
        description="Sign in with Microsoft Entra ID instead of a key.",
        default=False,
        role="key",
    ),
}

# fmt: off
ROWS = (
    Vendor(name="openai", base_url="https://api.openai.com/v1", key="OPENAI_API_KEY",
        hosts=r"https://([\w.-]+\.)?api\.openai\.com", base_env="OPENAI_BASE_URL",
        docs="https://developers.openai.com/api/reference", example="gpt-4.1-mini",
        length_field="max_completion_tokens"),
    Vendor(name="anthropic", base_url="https://api.anthropic.com/v1", key="ANTHROPIC_API_KEY",
        docs="https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk", example="claude-opus-4-6",
        list_headers={"x-api-key": "{key}", "anthropic-version": "2023-06-01"}, forms=(),
        notes="ignores response_format and logprobs"),
    Vendor(name="azure", key="AZURE_OPENAI_API_KEY", hosts=NOWHERE, base_env="AZURE_OPENAI_ENDPOINT",
        docs="https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle", example="my-deployment",
        key_header="api-key", lists_models=False, length_field="max_completion_tokens", path=make_azure_path,
        arguments=AZURE_ARGUMENTS, notes="the model is the name of your deployment"),
    Vendor(name="bedrock", base_url="https://bedrock-runtime.{region}.amazonaws.com/openai/v1",
        key="AWS_BEARER_TOKEN_BEDROCK",
        hosts=r"https://bedrock-(runtime\.[a-z0-9-]+\.amazonaws\.com|mantle\.[a-z0-9-]+\.api\.aws)",
        docs="https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html",
        example="openai.gpt-oss-20b-1:0",
        notes="region from AWS_REGION; models without Chat Completions: `litellm/bedrock/…`"),
    Vendor(name="deepseek", base_url="https://api.deepseek.com", key="DEEPSEEK_API_KEY",
        docs="https://api-docs.deepseek.com/", example="deepseek-flash", forms=(), notes="has no JSON schemas"),
    Vendor(name="gemini", base_url="https://generativelanguage.googleapis.com/v1beta/openai", key="GEMINI_API_KEY",
        docs="https://ai.google.dev/gemini-api/docs/openai", example="gemini-2.5-flash",
        notes="thoughts count as written tokens: raise gen_kwargs.max_new_tokens"),
    Vendor(name="groq", base_url="https://api.groq.com/openai/v1", key="GROQ_API_KEY",
        docs="https://console.groq.com/docs/openai", example="openai/gpt-oss-20b",
        notes="refuses logprobs; temperature 0 becomes 1e-8"),
    Vendor(name="mistral", base_url="https://api.mistral.ai/v1", key="MISTRAL_API_KEY",
        docs="https://docs.mistral.ai/api/", example="mistral-small-latest",
        notes="refuses fields that it does not know, such as logprobs"),
    Vendor(name="openrouter", base_url="https://openrouter.ai/api/v1", key="OPENROUTER_API_KEY",
        docs="https://openrouter.ai/docs/quickstart", example="openai/gpt-4o",
        notes="the host behind a model may change"),
    Vendor(name="together", base_url="https://api.together.ai/v1", key="TOGETHER_API_KEY",
        hosts=r"https://api\.together\.(ai|xyz)", docs="https://docs.together.ai/docs/inference/openai-compatibility",
        example="openai/gpt-oss-20b"),
    Vendor(name="lmstudio", base_url="http://localhost:1234/v1", key="LM_API_TOKEN",
        docs="https://lmstudio.ai/docs/api/openai-api", example="openai/gpt-oss-20b", needs_key=False,
        adds_model="lms get {model}", concurrency=4, timeout=300, notes="returns no logprobs"),
    Vendor(name="ollama", base_url="http://localhost:11434/v1", key="OLLAMA_API_KEY", hosts=r"https://ollama\.com",
        docs="https://docs.ollama.com/api/openai-compatibility", example="gemma3", needs_key=False, digests="/api/tags",
        adds_model="ollama pull {model}", concurrency=4, timeout=300, notes="the key is for models of ollama.com"),
    Vendor(name="vllm", base_url="http://localhost:8000/v1", key="VLLM_API_KEY",
        docs="https://docs.vllm.ai/en/stable/serving/openai_compatible_server/", example="Qwen/Qwen3-8B",
        needs_key=False, forms=("json_schema", "structured_outputs", "guided_choice")),
)
# fmt: on
VENDORS: Mapping[str, Vendor] = {row.name: row for row in ROWS}
OPENAI = VENDORS["openai"]
OTHER_SERVER = VENDORS["vllm"]
"""What `openai/…` with a `base_url` of its own is taken for: such servers know vLLM's fields, or ignore them."""


def find_vendor(spec: ModelSpec) -> Vendor:
    """Return the vendor that a model id names, or OpenAI for a provider of another package."""
    return VENDORS.get(spec.provider, OPENAI)
