"""Providers of OpenAI-compatible endpoints, with OpenAI's client: rows of vendors, requests, responses, batches."""

from functools import partial

from contrapose.tasks.infer.openai.provider import OpenAI
from contrapose.tasks.infer.openai.vendors import VENDORS

__all__ = ["OpenAI"]


def __getattr__(name: str) -> partial[OpenAI]:
    """Return a function that makes the provider of a vendor, by the name that `registry.PROVIDERS` has for it."""
    if name in VENDORS:
        return partial(OpenAI, VENDORS[name])
    raise AttributeError(name)
