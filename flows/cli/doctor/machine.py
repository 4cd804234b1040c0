"""Processor, graphics card, memory and disk, found without importing torch."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from contrapose.flows.cli.doctor.base import DoctorFinding, ok, problem, warning

GB = 1_000_000_000
LITTLE_MEMORY = 2 * GB
"""The embedded model's weights, torch and a batch fit in about as much."""
LITTLE_DISK = 3 * GB
"""The embedded model is converted in 1.5 GB; the rest is for tables and answers."""
NO_DISK = GB // 5

BFLOAT16 = ("avx512_bf16", "amx_bf16")
"""Features of a processor that computes in bfloat16."""


def findings(_: object) -> Iterator[DoctorFinding]:
    """What this machine has."""
    yield _processor()
    yield _graphics()
    yield _memory()
    yield _disk()


def _processor() -> DoctorFinding:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    features = _read("/proc/cpuinfo")
    bfloat16 = next((feature for feature in BFLOAT16 if feature in features), None)
    numbers = f"bfloat16 ({bfloat16})" if bfloat16 else "float32 (no bfloat16 found)"
    return ok("processor", f"{cores} cores, {platform.machine()}; local models compute in {numbers}")


def _graphics() -> DoctorFinding:
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return ok("GPU", "Apple, which torch reaches as mps")
    cards = _nvidia()
    if not cards:
        return ok("GPU", "none found; local models run on the processor")
    build = _torch_build()
    if build is None:
        remedy = "Install torch with CUDA or ROCm: https://pytorch.org/get-started/locally"
        return warning("GPU", f"{cards}, and a torch that cannot use it", remedy)
    return ok("GPU", f"{cards}; torch for {build}")


def _nvidia() -> str:
    """The cards that the driver lists; empty where there is no driver, or it does not answer."""
    if shutil.which("nvidia-smi") is None:
        return ""
    command = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        listing = subprocess.run(command, capture_output=True, text=True, timeout=4, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return "; ".join(" ".join(line.split()) for line in listing.stdout.splitlines())


def _torch_build() -> str | None:
    """What torch was built for, as its own file says; None for the processor alone."""
    spec = find_spec("torch")
    written = _read(str(Path(spec.origin).parent / "version.py")) if spec and spec.origin else ""
    match = re.search(r"^(cuda|hip)\b[^=\n]*=\s*'([\d.]+)", written, re.MULTILINE)
    return f"{match[1]} {match[2]}" if match else None


def _memory() -> DoctorFinding:
    total, free = memory()
    if total is None or free is None:
        return ok("memory", "unknown on this system")
    message = f"{free / GB:.1f} GB free of {total / GB:.1f} GB"
    if free < LITTLE_MEMORY:
        return warning("memory", message, "End other programs before you run a local model, or set a small batch_size.")
    return ok("memory", message)


def memory() -> tuple[int | None, int | None]:
    """Bytes of memory in all and free, or those that a container may use; None where the system does not say."""
    figures = dict(re.findall(r"^(\w+):\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE))
    if "MemAvailable" not in figures:
        return None, None
    total, free = int(figures["MemTotal"]) * 1024, int(figures["MemAvailable"]) * 1024
    with suppress(ValueError):
        most = int(_read("/sys/fs/cgroup/memory.max"))
        total = min(total, most)
        free = min(free, most - int(_read("/sys/fs/cgroup/memory.current")))
    return total, free


def _disk() -> DoctorFinding:
    from contrapose.tasks.tables.table import home

    place = next(folder for folder in (home().absolute(), *home().absolute().parents) if folder.is_dir())
    if not os.access(place, os.W_OK | os.X_OK):
        return problem("cache", f"{home()} cannot be written", "Mend its rights, or name another in CONTRAPOSE_HOME.")
    free = shutil.disk_usage(place).free
    message = f"{home()}, {free / GB:.1f} GB free"
    remedy = "Make room, or name another folder in CONTRAPOSE_HOME."
    if free < LITTLE_DISK:
        return (problem if free < NO_DISK else warning)("cache", message, remedy)
    return ok("cache", message)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
