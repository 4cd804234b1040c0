"""The deployments: all there, and of the version that is installed here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

from contrapose.flows.command.checks.base import DoctorFinding, ok, warning
from contrapose.flows.command.checks.on_server import entrypoints

if TYPE_CHECKING:
    from contrapose.flows.command.checks.on_server import OnServer

NAME = "deployments"
AGAIN = "contrapose deploy, with the same options as before"
"""Without them it would deploy the configuration of its own file."""


def findings(found: OnServer) -> Iterator[DoctorFinding]:
    """What is missing, what is of another version, or that neither is the case."""
    missing = [name for name in entrypoints() if name not in found.deployments]
    here = version("contrapose")
    other = {name: each.version or "none" for name, each in found.deployments.items() if each.version != here}
    if missing:
        yield warning(NAME, f"missing: {', '.join(missing)}", AGAIN)
    if other:
        told = ", ".join(f"{name} {theirs}" for name, theirs in sorted(other.items()))
        yield warning(NAME, f"not of version {here}, as here: {told}", f"Install one version everywhere, then {AGAIN}")
    if not missing and not other:
        paused = sorted(name for name, each in found.deployments.items() if each.paused)
        yield ok(
            NAME, f"all {len(found.deployments)} of version {here}" + f"; paused: {', '.join(paused)}" * bool(paused)
        )
