"""The automations: all there and switched on, and somebody is told when something goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prefect.events.actions import RunDeployment

from contrapose.flows.command.automations import specifications
from contrapose.flows.command.checks.base import DoctorFinding, ok, problem, warning
from contrapose.flows.command.checks.deployments import AGAIN
from contrapose.flows.command.checks.on_server import blocks_of
from contrapose.tasks.text.wording import counted

if TYPE_CHECKING:
    from prefect.events.schemas.automations import Automation

    from contrapose.flows.command.checks.on_server import OnServer

NAME = "automations"
NOTIFY = "contrapose deploy --notify TYPE/NAME, with the same options as before"
NOBODY = "nobody is told of failed, late or stuck runs: no block is named"


def findings(found: OnServer) -> Iterator[DoctorFinding]:
    """The automations, and the alerts that some of them send."""
    files = specifications()
    wrong = list(_wrong(found, files))
    yield from wrong or [ok(NAME, f"{counted('automations', len(found.automations))}, switched on")]
    yield from _alerts(found, files)


def _wrong(found: OnServer, files: list[dict[str, Any]]) -> Iterator[DoctorFinding]:
    # One that does nothing but notify is left out where no block was named.
    missing = [each["name"] for each in files if "actions" in each and each["name"] not in found.automations]
    disabled = sorted(name for name, each in found.automations.items() if not each.enabled)
    lost = sorted(name for name, each in found.automations.items() if _starts_nothing(each, found))
    if missing:
        yield warning(NAME, f"missing: {', '.join(missing)}", AGAIN)
    if disabled:
        remedy = f"Unless that is meant: prefect automation resume {disabled[0]}"
        yield warning(NAME, f"switched off: {', '.join(disabled)}", remedy)
    if lost:
        yield problem(NAME, f"starts a deployment that is gone: {', '.join(lost)}", AGAIN)


def _starts_nothing(automation: Automation, found: OnServer) -> bool:
    there = {each.id for each in found.deployments.values()}
    started = {each.deployment_id for each in automation.actions if isinstance(each, RunDeployment)}
    return bool(started - there)


def _alerts(found: OnServer, files: list[dict[str, Any]]) -> Iterator[DoctorFinding]:
    sending = {name: blocks for name, each in found.automations.items() if (blocks := blocks_of(each))}
    broken = sorted(name for name, blocks in sending.items() if blocks & set(found.gone))
    silent = [_short(each["name"]) for each in files if "notify" in each and each["name"] not in sending]
    if broken:
        told = f"the block that they are sent through is gone: {', '.join(map(_short, broken))}"
        yield problem("alerts", told, NOTIFY)
    if silent:
        told = f"no block is named for {', '.join(silent)}" if sending else NOBODY
        yield warning("alerts", told, NOTIFY)
    if not broken and not silent:
        yield ok("alerts", f"sent by {counted('automations', len(sending))}")


def _short(name: str) -> str:
    return name.removeprefix("contrapose-")
