"""What a Prefect server holds of ours: a few calls, one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import DeploymentFilter, FlowRunFilter
from prefect.client.schemas.objects import FlowRun, WorkPool
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.events.actions import CallWebhook, SendNotification
from prefect.events.filters import AutomationFilter
from prefect.events.schemas.automations import Automation
from prefect.exceptions import ObjectNotFound

from contrapose.flows.deploy.automations import specifications
from contrapose.flows.deploy.deploy import POOL
from contrapose.flows.deploy.deployment_options import shipped

TAG = "contrapose"
"""Of every deployment, and so of every run that was started through one."""
LATE, RUNNING = "Late", "Running"
MOST = 200
"""Runs that are asked for; a server gives no more at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnServer:
    """What was found there."""

    pool: WorkPool | None
    """None: there is none of our name."""
    deployments: Mapping[str, DeploymentResponse]
    """By name; those of our files that exist."""
    automations: Mapping[str, Automation]
    """By name; those of our files that exist."""
    gone: Collection[UUID]
    """Blocks that an automation sends through, and that do not exist."""
    runs: Sequence[FlowRun]
    """Late or running, those first that were due first."""


def read() -> OnServer:
    """Ask the server that is set, with the same client that a run uses.

    Raises:
        Exception: of many kinds; it did not answer, or refused.
    """
    with get_client(sync_client=True) as client:
        automations = _automations(client)
        return OnServer(
            pool=_pool(client),
            deployments=_deployments(client),
            automations=automations,
            gone=_gone(client, automations.values()),
            runs=_runs(client),
        )


def entrypoints() -> dict[str, str]:
    """The deployments that our file describes: their names, and where their flows are."""
    return {deployment["name"]: deployment["entrypoint"] for deployment in shipped()["deployments"]}


def blocks_of(automation: Automation) -> set[UUID]:
    """The blocks through which an automation sends."""
    return {
        action.block_document_id for action in automation.actions if isinstance(action, CallWebhook | SendNotification)
    }


def _pool(client: SyncPrefectClient) -> WorkPool | None:
    with suppress(ObjectNotFound):
        return client.read_work_pool(POOL)
    return None


def _deployments(client: SyncPrefectClient) -> dict[str, DeploymentResponse]:
    wanted = entrypoints()
    named = DeploymentFilter.model_validate({"name": {"any_": list(wanted)}})
    deployments = client.read_deployments(deployment_filter=named)
    # Somebody else's flow may have a deployment called nightly, too.
    return {
        deployment.name: deployment for deployment in deployments if deployment.entrypoint == wanted[deployment.name]
    }


def _automations(client: SyncPrefectClient) -> dict[str, Automation]:
    names = [specification["name"] for specification in specifications()]
    automations = client.read_automations(automations=AutomationFilter.model_validate({"name": {"any_": names}}))
    return {automation.name: automation for automation in automations}


def _gone(client: SyncPrefectClient, automations: Iterable[Automation]) -> set[UUID]:
    gone = set()
    for block in set().union(*map(blocks_of, automations)):
        try:
            client.read_block_document(block, include_secrets=False)
        except ObjectNotFound:
            gone.add(block)
    return gone


def _runs(client: SyncPrefectClient) -> list[FlowRun]:
    wanted: dict[str, Any] = {
        "tags": {"all_": [TAG]},
        "state": {"name": {"any_": [LATE, RUNNING]}},
        # A comparison and a retraining check have runs of their own, which are not counted twice.
        "parent_task_run_id": {"is_null_": True},
    }
    order = FlowRunSort.EXPECTED_START_TIME_ASC
    return client.read_flow_runs(flow_run_filter=FlowRunFilter.model_validate(wanted), sort=order, limit=MOST)
