"""Where a local model computes, in which numbers, and with how many threads."""

from __future__ import annotations

import os
from pathlib import Path

from contrapose.tasks.errors import ModelError
from contrapose.tasks.model_spec import ModelSpec


def placement(spec: ModelSpec) -> dict[str, str]:
    """Device and dtype: what was asked for, else the best that this machine has.

    bfloat16 is chosen only where the hardware computes in it; elsewhere it is slower than float32.
    """
    import torch

    device = str(spec.args.get("device") or _best_device())
    dtype = str(spec.args.get("dtype") or "auto")
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


def _best_device() -> str:
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _computes_bfloat16(device: str) -> bool:
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # torch offers no public question for this; the underscore name is what its own kernels ask.
    probes = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return device == "cpu" and any(probe() for probe in probes if probe)


def use_all_cores() -> None:
    """Let torch use the cores that this process may use; `OMP_NUM_THREADS` is left to have its say."""
    import torch

    if not os.environ.get("OMP_NUM_THREADS") and hasattr(os, "sched_getaffinity"):
        torch.set_num_threads(max(1, min(len(os.sched_getaffinity(0)), _quota())))


def _quota() -> int:
    """Whole cores that a container's limit amounts to."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return os.cpu_count() or 1
