"""What a call takes of the processor, the same on a busy machine as on a quiet one."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

Result = TypeVar("Result")


class Spent(NamedTuple, Generic[Result]):
    """A call that has ended."""

    result: Result
    """What it returned."""
    seconds: float
    """Processor time of its thread."""


def spent(call: Callable[[], Result]) -> Spent[Result]:
    """Call, without garbage collection meanwhile: that takes as long as all that was made before is large."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        started = time.thread_time()
        result = call()
        return Spent(result, time.thread_time() - started)
    finally:
        if collecting:
            gc.enable()
