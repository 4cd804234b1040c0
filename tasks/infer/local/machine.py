"""Device, number type and cores of this machine; measured facts are cached."""

from __future__ import annotations

import hashlib
import os
import sys
from glob import glob
from importlib import metadata
from pathlib import Path

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.tables.memo import find_or_remember

ACCELERATORS = ("/dev/nvidia*", "/dev/kfd", "/dev/dxg", "/dev/accel*", "/dev/davinci*")
"""Places where Linux shows accelerators that torch may use."""
CAPABILITY = "ATEN_CPU_CAPABILITY"
"""Environment variable by which torch uses less of a processor than it has."""


def placement(spec: ModelSpec) -> dict[str, str]:
    """Return device and dtype: those that were asked for, else the best that this machine has."""
    device, dtype = (str(spec.args.get(name) or "auto") for name in ("device", "dtype"))
    processor = _processor()
    if processor is None:
        return _ask_torch(device, dtype)

    def is_placement(value: object) -> bool:
        return isinstance(value, dict) and value.keys() == {"device", "dtype"}

    name = f"{processor} {device} {dtype}"
    return find_or_remember("machine.json", name, lambda: _ask_torch(device, dtype), sound=is_placement)


def _ask_torch(device: str, dtype: str) -> dict[str, str]:
    """Return torch's answer. bfloat16 is chosen only where the hardware computes in it; elsewhere float32 is faster."""
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


def _processor() -> str | None:
    """Return all that torch's answer depends on where a machine has a processor alone; None where it may have more.

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
