"""Any OpenAI-compatible endpoint, through the official client: many requests at a time, none lost, none twice."""

from contrapose.tasks.infer.openai.provider import OpenAI

__all__ = ["OpenAI"]
