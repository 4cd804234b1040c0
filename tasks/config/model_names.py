"""Providers of models, and what an id may have meant that names none."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from contrapose.tasks.core.errors import ConfigError, suggest_name
from contrapose.tasks.core.hub import existing_folder
from contrapose.tasks.core.registry import names

OF_OPENAI = re.compile(r"(?:gpt|chatgpt|o\d|text-embedding|davinci)\b", re.IGNORECASE)
"""How the models of OpenAI's own address begin."""

COMPATIBLE = {
    "anthropic": "https://api.anthropic.com/v1",
    "azure": "https://RESOURCE.openai.azure.com/openai/v1",
    "bedrock": "https://bedrock-runtime.REGION.amazonaws.com/openai/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "groq": "https://api.groq.com/openai/v1",
    "lmstudio": "http://localhost:1234/v1",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://localhost:11434/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "vllm": "http://localhost:8000/v1",
}
"""Addresses at which others speak OpenAI's protocol, as their documentation names them."""


def known_provider(model: str) -> str:
    """Return the provider that an id names, or raise ConfigError with the id that was probably meant."""
    name = model.partition("/")[0]
    if name in names("providers"):
        return name
    raise ConfigError(
        f"unknown provider {name!r}" if name else f"{model!r} names no provider",
        expected=f"one of {', '.join(sorted(names('providers')))}",
        remedy=_remedy(model),
    )


def _remedy(model: str) -> str:
    name, slash, rest = model.partition("/")
    if model.startswith(("./", "../", "/", "~")) or existing_folder(model):
        return f"Did you mean 'hf/{model}', the model in that folder?"
    if OF_OPENAI.match(name) and not slash:
        return f"Did you mean 'openai/{model}'?"
    if rest and (address := COMPATIBLE.get(name.lower())):
        local = address.startswith("http://")
        key, host = f"{name.upper()}_API_KEY", urlsplit(address).hostname
        sent = (
            ""
            if local
            else f" --set model_args.api_key_env={key}, and allow its host: CONTRAPOSE_KEY_HOSTS={key}={host}"
        )
        return f"Use --model openai/{rest} --set model_args.base_url={address}{sent}."
    if close := suggest_name(name, names("providers"), otherwise=""):
        return close
    if rest and "/" not in rest:
        return f"Did you mean 'hf/{model}', of the Hugging Face hub, or 'openai/{model}' with model_args.base_url?"
    if model and not slash:
        return f"Did you mean 'openai/{model}' with model_args.base_url, such as http://localhost:11434/v1?"
    return "Correct the name, or install the package that provides it."
