"""What this machine computes with: its device, its number type and its cores; what was found out is remembered."""

from __future__ import annotations

import hashlib
import os
import sys
from glob import glob
from importlib import metadata
from pathlib import Path

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.tables.memo import remembered

ACCELERATORS = ("/dev/nvidia*", "/dev/kfd", "/dev/dxg", "/dev/accel*", "/dev/davinci*")
"""Where Linux shows what torch may compute on beside the processor."""
CAPABILITY = "ATEN_CPU_CAPABILITY"
"""Environment variable that tells torch to use less of a processor than it has."""


def placement(spec: ModelSpec) -> dict[str, str]:
    """Device and dtype: what was asked for, else the best that this machine has.

    Raises:
        ModelError: there is no such dtype, or the device is not usable here.
    """
    device, dtype = (str(spec.args.get(name) or "auto") for name in ("device", "dtype"))
    processor = _processor()
    if processor is None:
        return _ask_torch(device, dtype)
    name = f"{processor} {device} {dtype}"
    return remembered("machine.json", name, lambda: _ask_torch(device, dtype), sound=_is_placement)


def _is_placement(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"device", "dtype"}
        and all(isinstance(text, str) for text in value.values())
    )


def _ask_torch(device: str, dtype: str) -> dict[str, str]:
    """What torch finds. bfloat16 is chosen only where the hardware computes in it; elsewhere float32 is faster."""
    import torch

    if device == "auto":
        device = _best_device()
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


def _processor() -> str | None:
    """All that torch's answer hangs on where a machine has a processor alone; None where it may have more.

    To ask torch takes a second, which a run whose answers are all stored would wait for. Whether an accelerator can be
    used may change from one minute to the next: there it is asked each time.
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
