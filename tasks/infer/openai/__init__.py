"""Any OpenAI-compatible endpoint, through the official client: many requests at a time, none lost, none twice."""

from functools import partial

from contrapose.tasks.infer.openai.provider import OpenAI
from contrapose.tasks.infer.openai.vendors import VENDORS

__all__ = ["OpenAI"]


def __getattr__(name: str) -> partial[OpenAI]:
    """Return what makes the provider of a vendor: `registry.PROVIDERS` names each by its row in the table."""
    if name in VENDORS:
        return partial(OpenAI, VENDORS[name])
    raise AttributeError(name)
