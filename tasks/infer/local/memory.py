"""Batches that do not fit in memory are halved, and what did not fit is remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class TooLargeError(Exception):
    """A single prompt does not fit in memory."""


class Memory:
    """How large a batch may be, as far as it was found out."""

    def __init__(self) -> None:
        self.ceiling: int | None = None
        self.halvings = 0

    def run(
        self, items: Sequence[Item], work: Callable[[Sequence[Item]], list[Result]], *, size: Callable[..., int]
    ) -> list[Result]:
        """The results of some items, in as few batches as fit.

        Args:
            items: what a batch is made of.
            work: computes a batch; gives one list for all its items, in order.
            size: tokens of a batch.

        Raises:
            TooLargeError: one item alone does not fit.
        """
        if len(items) > 1 and self.ceiling is not None and size(items) > self.ceiling:
            return self._halves(items, work, size)
        try:
            return work(items)
        except (RuntimeError, MemoryError) as error:
            if not out_of_memory(error):
                raise
        # Out of the handler, so that the traceback no longer holds the batch's tensors.
        self.halvings += 1
        _release()
        if len(items) == 1:
            raise TooLargeError
        self.ceiling = size(items) // 2
        return self._halves(items, work, size)

    def _halves(
        self, items: Sequence[Item], work: Callable[[Sequence[Item]], list[Result]], size: Callable[..., int]
    ) -> list[Result]:
        middle = len(items) // 2
        return [*self.run(items[:middle], work, size=size), *self.run(items[middle:], work, size=size)]


def out_of_memory(error: BaseException) -> bool:
    """Whether an error of torch means that memory is used up."""
    import torch

    told = ("out of memory", "can't allocate memory", "cannot allocate memory", "not enough memory")
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or any(each in str(error).lower() for each in told)


def _release() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
