"""A function of this process, offered to its runs."""

from contrapose.tasks.infer.function.offering import Function

__all__ = ["Function"]
