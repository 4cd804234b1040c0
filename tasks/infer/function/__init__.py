"""A function of this process, offered to its runs."""

from contrapose.tasks.infer.function.provider import Function

__all__ = ["Function"]
