"""Tokens of Microsoft Entra ID, which replace a key for Azure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from contrapose.tasks.core.errors import ModelError

SCOPE = "https://cognitiveservices.azure.com/.default"
"""What a token is for. Source: the example `azure_ad.py` of OpenAI's library."""
EXTRA = 'pip install "contrapose[azure-openai]"'


def read_token(*, where: str = "") -> str:
    """Return a valid token: the cached one, or a new one if that expires in a few minutes.

    ModelError: azure-identity is not installed, or nobody is signed in.
    """
    try:
        from azure.core.exceptions import ClientAuthenticationError

        provider = _make_token_provider()
    except ImportError as error:
        raise ModelError(
            "azure-identity is not installed", expected="the extra azure-openai", remedy=f"{EXTRA}.", where=where
        ) from error
    try:
        return provider()
    except ClientAuthenticationError as error:
        # Each credential that was tried says at length why it has no token; none of them repeats a secret.
        raise ModelError(
            f"no token of Microsoft Entra ID ({str(error).splitlines()[0]})",
            expected="an identity with the role Cognitive Services OpenAI User",
            remedy="Sign in with `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET.",
            where=where,
        ) from error


@cache
def _make_token_provider() -> Callable[[], str]:
    """Return the function that gets and caches tokens for this process."""
    from azure.identity import DefaultAzureCredential, get_bearer_token_provider

    provider: Callable[[], str] = get_bearer_token_provider(DefaultAzureCredential(), SCOPE)
    return provider
