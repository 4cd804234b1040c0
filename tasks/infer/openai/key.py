"""The key of an endpoint: where it is kept, and what it is."""

from __future__ import annotations

from urllib.parse import urlsplit

from contrapose.tasks.errors import ModelError
from contrapose.tasks.model_spec import ModelSpec
from contrapose.tasks.secrets import from_block, from_environment

VARIABLE = "OPENAI_API_KEY"
"""Where the key is looked for when `model_args` says nothing."""

NO_KEY = "none"
"""What the client is given for a server that wants no key."""


def key_place(spec: ModelSpec) -> str:
    """Where the key is kept, in words."""
    if (block := spec.args.get("api_key_block")) is not None:
        return f"Prefect Secret block {block}"
    return f"environment variable {spec.args.get('api_key_env', VARIABLE)}"


def read_key(spec: ModelSpec, *, base_url: str) -> str:
    """The API key. A server of one's own may need none.

    Raises:
        ConfigError: the place that is named cannot be used.
        ModelError: a key is needed and missing, or cannot be sent.
    """
    key = _found(spec)
    if not (key.isascii() and key.isprintable()):
        raise ModelError(
            f"{key_place(spec)} holds characters that no HTTP header may have",
            expected="printable ASCII",
            remedy="Set it again.",
            where=spec.id,
        )
    if not key and (urlsplit(base_url).hostname == "api.openai.com" or "api_key_env" in spec.args):
        name = spec.args.get("api_key_env", VARIABLE)
        raise ModelError(
            f"{key_place(spec)} is not set",
            expected="an API key in it",
            remedy=f"export {name}=…, name a Prefect Secret block as model_args.api_key_block, or set "
            "model_args.base_url for a server of your own.",
            where=spec.id,
        )
    return key or NO_KEY


def _found(spec: ModelSpec) -> str:
    block = spec.args.get("api_key_block")
    if block is None:
        return from_environment(str(spec.args.get("api_key_env", VARIABLE)), where="model_args.api_key_env")
    if "api_key_env" in spec.args:
        raise ModelError(
            "api_key_env and api_key_block are both given",
            expected="one place of the key",
            remedy="Leave one of them out.",
            where="model_args",
        )
    return from_block(str(block), where="model_args.api_key_block")
