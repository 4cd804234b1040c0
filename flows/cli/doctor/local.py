"""Checks of this machine: Python, packages, processor, graphics card, memory, disk, without slow imports."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from contrapose.tasks.core.bounds import call_with_timeout
from contrapose.tasks.core.errors import ContraposeError, install_command
from contrapose.tasks.core.provider import State
from contrapose.tasks.core.registry import find_installed_versions

if TYPE_CHECKING:
    from packaging.requirements import Requirement

CONSTRAINTS = Path(__file__).resolve().parents[3] / "constraints.txt"
"""The versions that the project is tested with; only a checkout has them."""
GB = 1_000_000_000


class DoctorFinding(NamedTuple):
    """One line of the doctor's table."""

    name: str
    """What was looked at."""
    state: State
    """`ok`; `warning`, which keeps nothing from working; or `problem`."""
    observed: str
    """What was seen."""
    remedy: str = ""
    """What to do about it; where all is well, an offer."""


def check_python(_: object) -> Iterator[DoctorFinding]:
    """Compare Python's version with the range that the installed distribution accepts."""
    from packaging.specifiers import SpecifierSet

    wanted = metadata.metadata("contrapose")["Requires-Python"]
    fits = SpecifierSet(wanted).contains(platform.python_version(), prereleases=True)
    interpreter = f"{platform.python_version()} in {sys.prefix}"
    yield DoctorFinding("Python", "ok" if fits else "problem", interpreter, "" if fits else f"Use Python {wanted}.")


def check_packages(_: object) -> Iterator[DoctorFinding]:
    """Compare the required packages with their ranges: one finding for each package outside its range."""
    needed = read_requirements()
    wrong = [need for need in needed if not _is_in_range(need)]
    for need in wrong:
        observed = f"{_find_version(need.name) or 'not installed'}; needed: {need.specifier or 'any'}"
        yield DoctorFinding(need.name, "problem", observed, f'pip install "{need.name}{need.specifier}"')
    if not wrong:
        yield DoctorFinding("packages", "ok", f"all {len(needed)} in their ranges")


def check_tested_versions(_: object) -> Iterator[DoctorFinding]:
    """Compare the installed versions with the pinned ones, if this is a checkout."""
    if not CONSTRAINTS.is_file():
        return
    label, lines = "tested versions", CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pins = dict(line.strip().split("==", 1) for line in lines if "==" in line and not line.startswith("#"))
    installed = find_installed_versions(pins)
    # What follows a plus names a build, such as +cpu.
    other = [
        f"{name} {version} ({pins[name]})" for name, version in installed.items() if version.split("+")[0] != pins[name]
    ]
    if not other:
        yield DoctorFinding(label, "ok", f"{len(installed)} packages, as in {CONSTRAINTS.name}")
        return
    more = f" and {len(other) - 3} more" if len(other) > 3 else ""
    remedy = f'pip install -c {CONSTRAINTS.name} -e ".[embedded]"'
    yield DoctorFinding(label, "warning", f"others than in {CONSTRAINTS.name}: {', '.join(other[:3])}{more}", remedy)


def check_extras(_: object) -> Iterator[DoctorFinding]:
    """List complete and absent extras in one line; an extra with packages outside their ranges has its own line."""
    complete: list[str] = []
    absent: list[str] = []
    for extra in metadata.metadata("contrapose").get_all("Provides-Extra") or []:
        wrong = {need.name: _find_version(need.name) for need in read_requirements(extra) if not _is_in_range(need)}
        if extra == "dev":
            continue
        if wrong and None not in wrong.values():
            observed = "of other versions: " + ", ".join(f"{name} {version}" for name, version in wrong.items())
            yield DoctorFinding(f"extra {extra}", "warning", observed, install_command(extra))
        else:
            (absent if wrong else complete).append(extra)
    parts = {"installed": ", ".join(complete), "not installed": ", ".join(absent)}
    remedy = install_command("NAME") if absent else ""
    yield DoctorFinding("extras", "ok", "; ".join(f"{key}: {names}" for key, names in parts.items() if names), remedy)


def read_requirements(extra: str = "") -> Sequence[Requirement]:
    """Read the requirements of the distribution on this machine, or those that one of its extras adds."""
    from packaging.requirements import Requirement

    every = [Requirement(line) for line in metadata.requires("contrapose") or []]
    plain = [need for need in every if need.marker is None or need.marker.evaluate({"extra": ""})]
    if not extra:
        return plain
    return [need for need in every if need not in plain and need.marker and need.marker.evaluate({"extra": extra})]


def _is_in_range(wanted: Requirement) -> bool:
    version = _find_version(wanted.name)
    return version is not None and wanted.specifier.contains(version, prereleases=True)


def _find_version(name: str) -> str | None:
    return find_installed_versions([name]).get(name)


def check_spacy(_: object) -> Iterator[DoctorFinding]:
    """Look for spaCy and its models, which only `second_opinion: spacy` needs."""
    spacy = _find_version("spacy")
    points = metadata.entry_points(group="spacy_models")
    models = sorted(f"{point.name} {point.dist.version}" for point in points if point.dist)
    if spacy is None:
        yield DoctorFinding("spaCy", "ok", "not installed; second_opinion: spacy needs it, nothing else does")
    elif models:
        yield DoctorFinding("spaCy", "ok", f"{spacy} with {', '.join(models)}")
    else:
        observed = f"{spacy} without a model; second_opinion: spacy needs one"
        yield DoctorFinding("spaCy", "ok", observed, "See docs/second-opinion.md.")


def check_processor(_: object) -> Iterator[DoctorFinding]:
    """Count the cores that this process may use, and look for bfloat16."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    features = _read_path("/proc/cpuinfo")
    bfloat16 = next((feature for feature in ("avx512_bf16", "amx_bf16") if feature in features), None)
    numbers = f"bfloat16 ({bfloat16})" if bfloat16 else "float32 (no bfloat16 found)"
    yield DoctorFinding("processor", "ok", f"{cores} cores, {platform.machine()}; local models compute in {numbers}")


def check_gpu(_: object) -> Iterator[DoctorFinding]:
    """List graphics cards, and compare them with the cards that torch was built for, as torch's own file names them."""
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        yield DoctorFinding("GPU", "ok", "Apple, which torch reaches as mps")
        return
    cards = ""
    if shutil.which("nvidia-smi") is not None:
        command = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
        with suppress(OSError, subprocess.SubprocessError):
            listing = subprocess.run(command, capture_output=True, text=True, timeout=4, check=True).stdout
            cards = "; ".join(" ".join(line.split()) for line in listing.splitlines())
    spec = find_spec("torch")
    source = _read_path(str(Path(spec.origin).parent / "version.py")) if spec and spec.origin else ""
    build = re.search(r"^(cuda|hip)\b[^=\n]*=\s*'([\d.]+)", source, re.MULTILINE)
    if not cards:
        yield DoctorFinding("GPU", "ok", "none found; local models run on the processor")
    elif build or not spec:
        use = f"torch for {build[1]} {build[2]}" if build else "torch, which uses it, is not installed"
        yield DoctorFinding("GPU", "ok", f"{cards}; {use}", "" if build else install_command("local"))
    else:
        remedy = "Install torch with CUDA or ROCm: https://pytorch.org/get-started/locally"
        yield DoctorFinding("GPU", "warning", f"{cards}, and a torch that cannot use it", remedy)


def check_memory(_: object) -> Iterator[DoctorFinding]:
    """Read total and free memory, limited to what a container may use."""
    figures = dict(re.findall(r"^(\w+):\s+(\d+) kB", _read_path("/proc/meminfo"), re.MULTILINE))
    if "MemAvailable" not in figures:
        yield DoctorFinding("memory", "ok", "unknown on this system")
        return
    total, free = int(figures["MemTotal"]) * 1024, int(figures["MemAvailable"]) * 1024
    with suppress(ValueError):
        limit = int(_read_path("/sys/fs/cgroup/memory.max"))
        total, free = min(total, limit), min(free, limit - int(_read_path("/sys/fs/cgroup/memory.current")))
    message = f"{free / GB:.1f} GB free of {total / GB:.1f} GB"
    # The embedded model's weights, torch and a batch fit in about as much.
    if free < 2 * GB:
        remedy = "End other programs before you run a local model, or set a small batch_size."
        yield DoctorFinding("memory", "warning", message, remedy)
    else:
        yield DoctorFinding("memory", "ok", message)


def check_disk(_: object) -> Iterator[DoctorFinding]:
    """Measure the free space of the folder that holds converted models, tables and answers."""
    from contrapose.tasks.core.home import home_folder

    place = next(folder for folder in (home_folder().absolute(), *home_folder().absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(place).free
    message = f"{home_folder()}, {free / GB:.1f} GB free"
    if not os.access(place, os.W_OK | os.X_OK):
        remedy = "Fix its permissions, or set CONTRAPOSE_HOME to another folder."
        yield DoctorFinding("cache", "problem", f"{home_folder()} cannot be written", remedy)
    elif free < 3 * GB:
        # The embedded model is converted in 1.5 GB; the rest is for tables and answers.
        remedy = "Make room, or name another folder in CONTRAPOSE_HOME."
        yield DoctorFinding("cache", "problem" if free < GB // 5 else "warning", message, remedy)
    else:
        yield DoctorFinding("cache", "ok", message)


def check_places(_: object) -> Iterator[DoctorFinding]:
    """Check that the folders of tables and of the history are writable, if the environment names them."""
    from contrapose.flows.cli.start import explain_unwritable
    from contrapose.tasks.core.places import Place
    from contrapose.tasks.history.dataset import VARIABLE
    from contrapose.tasks.tables.table import STORAGE

    for name, variable in (("storage", STORAGE), ("history", VARIABLE)):
        if not (address := os.environ.get(variable)):
            continue
        try:
            place = Place.at(address, setting=variable)
            why = explain_unwritable(place.path) if place.is_local else call_with_timeout(place.try_writing, 20.0) or ""
        except ContraposeError as error:
            yield DoctorFinding(name, "problem", f"{variable}: {error.found}", error.remedy)
        except TimeoutError as error:
            yield DoctorFinding(name, "problem", f"{address}: {error}", f"Correct {variable}, or start its server.")
        else:
            shown, remedy = f"{variable}={address}", f"Correct its rights, or name another folder in {variable}."
            if why:
                yield DoctorFinding(name, "problem", f"{shown} cannot be written ({why})", remedy)
            else:
                yield DoctorFinding(name, "ok", shown)


def _read_path(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
