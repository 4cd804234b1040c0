"""Whether runs that are due are taken: the work pool, its worker, and the runs themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prefect.client.schemas.objects import WorkPoolStatus

from contrapose.flows.command.checks.base import DoctorFinding, ok, problem, warning
from contrapose.flows.command.checks.deployments import AGAIN
from contrapose.flows.command.checks.on_server import LATE, MOST, RUNNING
from contrapose.flows.command.deploy import POOL
from contrapose.tasks.text.wording import counted

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun, WorkPool

    from contrapose.flows.command.checks.on_server import OnServer

START = f"prefect worker start --pool {POOL}"


def findings(found: OnServer) -> Iterator[DoctorFinding]:
    """The pool, and the runs that wait or are under way."""
    late = [each for each in found.runs if each.state_name == LATE]
    running = [each for each in found.runs if each.state_name == RUNNING]
    yield _pool(found.pool, waiting=bool(late))
    if late:
        told = _since(late, [each.expected_start_time for each in late])
        yield warning("overdue runs", told, f"See that a worker is there ({START}), and has room.")
    if running:
        yield _running(running, unattended=found.pool is None or _is_left(found.pool))


def _pool(pool: WorkPool | None, *, waiting: bool) -> DoctorFinding:
    """A pool without a worker is a problem only where something waits for one: others start it when they need it."""
    name = "work pool"
    if pool is None:
        return problem(name, f"{POOL} is gone, and the deployments need it", AGAIN)
    if pool.is_paused or pool.status == WorkPoolStatus.PAUSED:
        told = f"{POOL} is paused: no run is started"
        return (problem if waiting else warning)(name, told, f"prefect work-pool resume {POOL}")
    if _is_left(pool):
        told = f"{POOL}: no worker has asked for work lately, so no run is started"
        return (problem if waiting else warning)(name, told, START)
    full = pool.concurrency_limit is not None and (pool.active_slots or 0) >= pool.concurrency_limit
    return ok(name, f"{POOL}, of type {pool.type}, is ready{', and all its slots are taken' * full}")


def _is_left(pool: WorkPool) -> bool:
    """Whether nobody is there to start runs; pools in the cloud do without a worker."""
    served = pool.is_push_pool or pool.is_managed_pool
    return pool.status == WorkPoolStatus.NOT_READY and not served


def _running(runs: Sequence[FlowRun], *, unattended: bool) -> DoctorFinding:
    name = "runs under way"
    told = _since(runs, [each.start_time for each in runs])
    if not unattended:
        return ok(name, told)
    remedy = (
        "See in the Prefect UI whether they are alive, and cancel those that are not: they hold places in the pool."
    )
    return warning(name, f"{told}, though no worker is there", remedy)


def _since(runs: Sequence[FlowRun], times: Sequence[datetime | None]) -> str:
    """How many there are, and since when the first."""
    least = "at least " * (len(runs) == MOST)
    first = min((each for each in times if each), default=None)
    when = f"{first.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if first else "an unknown time"
    return f"{least}{counted('runs', len(runs))}, {'the first ' * (len(runs) > 1)}since {when}"
