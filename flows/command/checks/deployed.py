"""What was deployed to the Prefect server that is set: whether it is whole, and whether anybody is at work there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from contrapose.flows.command.checks import alerts, deployments, promotion, work
from contrapose.flows.command.checks.base import DoctorFinding, ok, problem, within
from contrapose.flows.command.checks.on_server import read
from contrapose.tasks.config.secrets import without_user
from contrapose.tasks.text.cleaning import one_line

PARTS = (work, deployments, alerts, promotion)
"""Modules, in the order of the table."""


def findings() -> Iterator[DoctorFinding]:
    """All that concerns what is deployed there, or that nothing is."""
    try:
        found = within(read)
    except Exception as error:
        # Its text may repeat what was sent.
        remedy = "See the server's log, and whether your key may read work pools, deployments and automations."
        yield problem("deployments", f"could not be read ({type(error).__name__})", remedy)
        return
    if found.pool is None and not found.deployments:
        yield ok("deployments", "none on that server", "To have runs started there: contrapose deploy")
        return
    for part in PARTS:
        yield from map(_shown, part.findings(found))


def _shown(finding: DoctorFinding) -> DoctorFinding:
    """A finding whose text, which others may have written, is one line and holds no password."""
    return replace(finding, found=one_line(without_user(finding.found)))
