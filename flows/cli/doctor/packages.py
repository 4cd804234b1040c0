"""Python, the packages that are required, and those that are optional."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from contrapose.flows.cli.doctor.base import DoctorFinding, ok, problem, warning

if TYPE_CHECKING:
    from packaging.requirements import Requirement

CONSTRAINTS = Path(__file__).resolve().parents[3] / "constraints.txt"
"""The versions that the project is tested with; only a checkout has them."""

DEVELOPMENT = "dev"


def findings(_: object) -> Iterator[DoctorFinding]:
    """Versions against the ranges of the installed distribution."""
    yield _python()
    yield from _required()
    if CONSTRAINTS.is_file():
        yield _tested()
    yield from _extras()


def _python() -> DoctorFinding:
    from packaging.specifiers import SpecifierSet

    wanted = metadata.metadata("contrapose")["Requires-Python"]
    interpreter = f"{platform.python_version()} in {sys.prefix}"
    if SpecifierSet(wanted).contains(platform.python_version(), prereleases=True):
        return ok("Python", interpreter)
    return problem("Python", interpreter, f"Use Python {wanted}.")


def _required() -> Iterator[DoctorFinding]:
    needed = requirements()
    wrong = [need for need in needed if not _fits(need)]
    for need in wrong:
        observed = f"{_version(need.name) or 'not installed'}; needed: {need.specifier or 'any'}"
        yield problem(need.name, observed, _install(f"{need.name}{need.specifier}"))
    if not wrong:
        yield ok("packages", f"all {len(needed)} in their ranges")


def _tested() -> DoctorFinding:
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pins = dict(line.strip().split("==", 1) for line in lines if "==" in line and not line.startswith("#"))
    installed = {name: version for name in pins if (version := _version(name)) is not None}
    # What follows a plus names a build, such as +cpu.
    other = [
        f"{name} {version} ({pins[name]})" for name, version in installed.items() if version.split("+")[0] != pins[name]
    ]
    if not other:
        return ok("tested versions", f"{len(installed)} packages, as in {CONSTRAINTS.name}")
    more = f" and {len(other) - 3} more" if len(other) > 3 else ""
    remedy = f'pip install -c {CONSTRAINTS.name} -e ".[embedded]"'
    return warning("tested versions", f"others than in {CONSTRAINTS.name}: {', '.join(other[:3])}{more}", remedy)


def _extras() -> Iterator[DoctorFinding]:
    """One line for those that are whole or absent, and one for each that is neither."""
    whole: list[str] = []
    absent: list[str] = []
    for extra in metadata.metadata("contrapose").get_all("Provides-Extra") or []:
        wanted = requirements(extra)
        missing = [need.name for need in wanted if not _fits(need)]
        if extra == DEVELOPMENT:
            continue
        if missing and len(missing) < len(wanted):
            remedy = _install(f"contrapose[{extra}]")
            yield warning(f"extra {extra}", f"incomplete, or of other versions: {', '.join(missing)}", remedy)
        else:
            (absent if missing else whole).append(extra)
    parts = [f"installed: {', '.join(whole)}"] * bool(whole) + [f"not installed: {', '.join(absent)}"] * bool(absent)
    yield ok("extras", "; ".join(parts), _install(f"contrapose[{','.join(absent)}]") if absent else "")


def requirements(extra: str = "") -> Sequence[Requirement]:
    """What the distribution needs on this machine, or what one of its extras adds."""
    from packaging.requirements import Requirement

    every = [Requirement(line) for line in metadata.requires("contrapose") or []]
    plain = [need for need in every if need.marker is None or need.marker.evaluate({"extra": ""})]
    if not extra:
        return plain
    return [need for need in every if need not in plain and need.marker and need.marker.evaluate({"extra": extra})]


def _fits(wanted: Requirement) -> bool:
    version = _version(wanted.name)
    return version is not None and wanted.specifier.contains(version, prereleases=True)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _install(what: str) -> str:
    return f'pip install "{what}"'
