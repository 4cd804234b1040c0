"""Choose device, number type, cores and batch size for a model on this machine; measured values are cached."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from glob import glob
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, TypeVar

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.local.rows import BatchLimit
from contrapose.tasks.tables.memo import find_or_remember

ACCELERATORS = ("/dev/nvidia*", "/dev/kfd", "/dev/dxg", "/dev/accel*", "/dev/davinci*")
"""Places where Linux shows accelerators that torch may use."""
CAPABILITY = "ATEN_CPU_CAPABILITY"
"""Environment variable by which torch uses less of a processor than it has."""


def choose_placement(spec: ModelSpec) -> dict[str, str]:
    """Return device and dtype: those that you set, or else the best of this machine."""
    device, dtype = (str(spec.args.get(name) or "auto") for name in ("device", "dtype"))
    processor = _describe_processor()
    if processor is None:
        return _ask_torch(device, dtype)

    def is_placement(value: object) -> bool:
        return isinstance(value, dict) and value.keys() == {"device", "dtype"}

    name = f"{processor} {device} {dtype}"
    return find_or_remember("machine.json", name, lambda: _ask_torch(device, dtype), sound=is_placement)


def _ask_torch(device: str, dtype: str) -> dict[str, str]:
    """Return torch's choice: bfloat16 only if the hardware computes in it, because float32 is faster otherwise."""
    import torch

    if device == "auto":
        fallback = "mps" if torch.backends.mps.is_available() else "cpu"
        device = "cuda" if torch.cuda.is_available() else fallback
    if dtype == "auto":
        dtype = "bfloat16" if _computes_bfloat16(device) else "float32"
    if dtype not in ("float32", "bfloat16", "float16"):
        raise ModelError(
            f"unknown dtype {dtype!r}",
            expected="auto, float32, bfloat16 or float16",
            remedy="Correct model_args.dtype.",
            where="model_args.dtype",
        )
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ModelError(
            f"device {device!r} is not usable here",
            expected="cpu, cuda, cuda:<n> or mps, as this machine and this torch build have it",
            remedy="Correct model_args.device, or leave it out.",
            where="model_args.device",
        ) from error
    return {"device": device, "dtype": dtype}


def _describe_processor() -> str | None:
    """Return the facts that decide torch's choice on a machine without accelerator, or None if it may have one.

    They are a cache key, because asking torch takes a second. With an accelerator, torch is asked each time.
    """
    if not sys.platform.startswith("linux") or any(glob(pattern) for pattern in ACCELERATORS):
        return None
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n\n")[0].split("\n")
    except OSError:
        return None
    lasting = [line for line in lines if "MHz" not in line and "bogomips" not in line.lower()]
    facts = "\n".join([*lasting, os.environ.get(CAPABILITY, "")])
    return f"torch {metadata.version('torch')}, processor {hashlib.sha256(facts.encode()).hexdigest()[:16]}"


def _computes_bfloat16(device: str) -> bool:
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # torch offers no public question for this; the underscore name is what its own kernels ask.
    probes = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return device == "cpu" and any(probe() for probe in probes if probe)


def use_all_cores() -> None:
    """Let torch use the cores that this process may use, unless `OMP_NUM_THREADS` is set."""
    import torch

    if os.environ.get("OMP_NUM_THREADS") or not hasattr(os, "sched_getaffinity"):
        return
    try:
        # The limit of a container, in microseconds of a period.
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = max(1, int(quota) // int(period))
    except (OSError, ValueError):
        cores = os.cpu_count() or 1
    torch.set_num_threads(max(1, min(len(os.sched_getaffinity(0)), cores)))


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
    """Raised if a single prompt does not fit in memory."""


class BatchMemory:
    """Remembers the largest batch size that fits in memory, and divides work by it."""

    def __init__(self) -> None:
        self.ceiling: int | None = None
        self.halvings = 0

    def run(
        self, items: Sequence[Item], work: Callable[[Sequence[Item]], list[Result]], *, size: Callable[..., int]
    ) -> list[Result]:
        """Return the results of `work` on some items, in as few batches as fit in memory."""
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


def find_batch_limit(batch_size: int | Literal["auto"], model: Any, *, name: str) -> BatchLimit:
    """Return the limit of a batch: the one that you set, or else the best one found for this model."""
    wanted = max(1, LOGITS // int(model.config.get_text_config().vocab_size))
    if batch_size != "auto":
        return BatchLimit(tokens=1 << 30, wanted=max(wanted, batch_size), prompts=batch_size)
    if model.device.type == "cpu":
        return BatchLimit(tokens=CPU_TOKENS, wanted=wanted, replies=CPU_REPLY_TOKENS)

    def search() -> int:
        return search_batch_tokens(lambda tokens: _measure_seconds(model, tokens))

    # A run that is resumed batches as it did.
    tokens = find_or_remember("batching.json", name, search, sound=lambda value: isinstance(value, int))
    return BatchLimit(tokens=tokens, wanted=wanted)


def search_batch_tokens(seconds: Callable[[int], float]) -> int:
    """Double the tokens of a batch until memory is used up or speed no longer grows; return the best number."""
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


def _measure_seconds(model: Any, tokens: int) -> float:
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
