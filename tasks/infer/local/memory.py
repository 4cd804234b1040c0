"""Batch size: a batch that does not fit in memory is halved, and the limit is remembered."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from contrapose.tasks.infer.local.rows import Limit
from contrapose.tasks.tables.memo import find_or_remember

Item = TypeVar("Item")
Result = TypeVar("Result")

CPU_TOKENS = 2048
"""Of 512, 1024, 2048 and 4096 the quickest in one bfloat16 run on two cores; the four were 20 % apart."""
CPU_REPLY_TOKENS = 4096
"""A step of replies reads all weights for one token of each: of 2048, 4096 and 8192 the second took least work."""
FIRST, LAST = 1024, 1 << 17
"""Tokens that are tried first and at most."""
WIDTH = 256
"""Tokens of a row that is tried."""
GAIN = 1.05
"""Least gain in tokens a second for which a batch is made larger."""
LOGITS = 1 << 27
"""Logits of one batch: places times words of the vocabulary."""


class TooLargeError(Exception):
    """A single prompt does not fit in memory."""


class Memory:
    """Largest size of a batch, as far as it was found out."""

    def __init__(self) -> None:
        self.ceiling: int | None = None
        self.halvings = 0

    def run(
        self, items: Sequence[Item], work: Callable[[Sequence[Item]], list[Result]], *, size: Callable[..., int]
    ) -> list[Result]:
        """Return the results of some items, in as few batches as fit."""
        if len(items) == 1 or self.ceiling is None or size(items) <= self.ceiling:
            try:
                return work(items)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
            # Out of the handler, so that the traceback no longer holds the batch's tensors.
            self.halvings += 1
            _release()
            if len(items) == 1:
                raise TooLargeError
            self.ceiling = size(items) // 2
        middle = len(items) // 2
        return [*self.run(items[:middle], work, size=size), *self.run(items[middle:], work, size=size)]


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of torch means that memory is used up."""
    import torch

    signs = ("out of memory", "can't allocate memory", "cannot allocate memory", "not enough memory")
    return isinstance(error, (torch.OutOfMemoryError, MemoryError)) or any(sign in str(error).lower() for sign in signs)


def _release() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def batch_limit(batch_size: int | Literal["auto"], model: Any, *, name: str) -> Limit:
    """Return the limit of a batch."""
    wanted = max(1, LOGITS // int(model.config.get_text_config().vocab_size))
    if batch_size != "auto":
        return Limit(tokens=1 << 30, wanted=max(wanted, batch_size), prompts=batch_size)
    if model.device.type == "cpu":
        return Limit(tokens=CPU_TOKENS, wanted=wanted, replies=CPU_REPLY_TOKENS)

    def search() -> int:
        return search_tokens(lambda tokens: _seconds(model, tokens))

    # A run that is resumed batches as it did.
    tokens = find_or_remember("batching.json", name, search, sound=lambda value: isinstance(value, int))
    return Limit(tokens=tokens, wanted=wanted)


def search_tokens(seconds: Callable[[int], float]) -> int:
    """Double the tokens of a batch until memory ends or speed has stopped growing; return the best number."""
    best, speed, tokens = FIRST, 0.0, FIRST
    # One size may be slow by chance.
    while tokens <= min(4 * best, LAST):
        try:
            reached = tokens / seconds(tokens)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            # Real batches also hold masks and kept prefixes.
            return max(FIRST, best // 2)
        if reached >= speed * GAIN:
            best, speed = tokens, reached
        tokens *= 2
    return best


def _seconds(model: Any, tokens: int) -> float:
    import torch

    ids = torch.ones((tokens // WIDTH, WIDTH), dtype=torch.long, device=model.device)
    times = []
    with torch.inference_mode():
        # The first pass also chooses kernels.
        for _ in range(2):
            start = time.perf_counter()
            # Reading a figure back waits for the device.
            float(model(input_ids=ids, logits_to_keep=1, use_cache=False).logits[0, 0, 0])
            times.append(time.perf_counter() - start)
    return min(times)
