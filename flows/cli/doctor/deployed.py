"""Checks of the deployments on the Prefect server: all are there, have this version, and have a worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import DeploymentFilter, FlowRunFilter
from prefect.client.schemas.objects import FlowRun, WorkPool, WorkPoolStatus
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.events.actions import CallWebhook, RunDeployment, SendNotification
from prefect.events.filters import AutomationFilter
from prefect.events.schemas.automations import Automation
from prefect.exceptions import ObjectNotFound

from contrapose.flows.cli.doctor.local import DoctorFinding
from contrapose.flows.deploy.automations import read_automations
from contrapose.flows.deploy.deploy import POOL
from contrapose.flows.deploy.deployment_options import CHECK, read_shipped
from contrapose.flows.orchestration.form import read_form
from contrapose.tasks.config.permissions import PREFIX, Permissions
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.bounds import call_with_timeout
from contrapose.tasks.core.errors import ContraposeError, require_package
from contrapose.tasks.core.secrets import remove_credentials
from contrapose.tasks.promotion.promote import read_webhook_secret
from contrapose.tasks.promotion.webhook import HOSTS, is_listed
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.wording import counted

TAG = "contrapose"
"""Tag of every deployment, and so of every run that was started through one."""
LATE, RUNNING = "Late", "Running"
MOST = 200
"""Runs that are asked for; a server gives no more at once."""
AGAIN = "contrapose deploy, with the same options as before"
"""Without them it would deploy the configuration of its own file."""
NOTIFY = "contrapose deploy --notify TYPE/NAME, with the same options as before"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """Deployments, work pools and automations of ours that a server holds."""

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


def read_server() -> ServerState:
    """Read the state of the configured server, with the same client that a run uses.

    Raises:
        Exception: of many kinds; it did not answer, or refused.
    """
    wanted = read_entrypoints()
    ours: dict[str, Any] = {
        "tags": {"all_": [TAG]},
        "state": {"name": {"any_": [LATE, RUNNING]}},
        # A comparison and a retraining check have runs of their own, which are not counted twice.
        "parent_task_run_id": {"is_null_": True},
    }
    with get_client(sync_client=True) as client:
        pool = None
        with suppress(ObjectNotFound):
            pool = client.read_work_pool(POOL)
        named: dict[str, Any] = {"name": {"any_": list(wanted)}}
        deployments = client.read_deployments(deployment_filter=DeploymentFilter.model_validate(named))
        named = {"name": {"any_": [specification["name"] for specification in read_automations()]}}
        automations = client.read_automations(automations=AutomationFilter.model_validate(named))
        gone = set()
        for block in {block for automation in automations for block in _read_blocks(automation)}:
            try:
                client.read_block_document(block, include_secrets=False)
            except ObjectNotFound:
                gone.add(block)
        runs = client.read_flow_runs(
            flow_run_filter=FlowRunFilter.model_validate(ours), sort=FlowRunSort.EXPECTED_START_TIME_ASC, limit=MOST
        )
    return ServerState(
        pool=pool,
        # Somebody else's flow may have a deployment called nightly, too.
        deployments={one.name: one for one in deployments if one.entrypoint == wanted[one.name]},
        automations={automation.name: automation for automation in automations},
        gone=gone,
        runs=runs,
    )


def read_entrypoints() -> dict[str, str]:
    """Read the deployments of deployments/prefect.yaml: their names, and where their flows are."""
    return {deployment["name"]: deployment["entrypoint"] for deployment in read_shipped()["deployments"]}


def _read_blocks(automation: Automation) -> set[UUID]:
    """Return the blocks through which an automation sends."""
    sends = (action for action in automation.actions if isinstance(action, CallWebhook | SendNotification))
    return {action.block_document_id for action in sends}


def check_deployed() -> Iterator[DoctorFinding]:
    """Check our deployments on the server, or report that there are none."""
    try:
        server = call_with_timeout(read_server)
    except Exception as error:
        # Its text may repeat what was sent.
        remedy = "See the server's log, and whether your key may read work pools, deployments and automations."
        yield DoctorFinding("deployments", "problem", f"could not be read ({type(error).__name__})", remedy)
        return
    if server.pool is None and not server.deployments:
        offer = "To have runs started there: contrapose deploy"
        yield DoctorFinding("deployments", "ok", "none on that server", offer)
        return
    for check in (_check_work, _check_versions, _check_parameters, _check_automations, _check_alerts, _check_promotion):
        for finding in check(server):
            # Others may have written the text: it becomes one line without a password.
            yield finding._replace(observed=one_line(remove_credentials(finding.observed)))


def _check_work(server: ServerState) -> Iterator[DoctorFinding]:
    """Check the work pool, and the runs that wait or are running."""
    name, pool, start = "work pool", server.pool, f"prefect worker start --pool {POOL}"
    late = [run for run in server.runs if run.state_name == LATE]
    running = [run for run in server.runs if run.state_name == RUNNING]
    # Pools in the cloud do without a worker. Elsewhere its lack is a problem only where a run waits for one.
    idle = (
        pool is not None and pool.status == WorkPoolStatus.NOT_READY and not (pool.is_push_pool or pool.is_managed_pool)
    )
    if pool is None:
        yield DoctorFinding(name, "problem", f"{POOL} does not exist, and the deployments need it", AGAIN)
    elif pool.is_paused or pool.status == WorkPoolStatus.PAUSED:
        message = f"{POOL} is paused: no run is started"
        yield DoctorFinding(name, "problem" if late else "warning", message, f"prefect work-pool resume {POOL}")
    elif idle:
        message = f"{POOL}: no worker has asked for work lately, so no run is started"
        yield DoctorFinding(name, "problem" if late else "warning", message, start)
    else:
        full = pool.concurrency_limit is not None and (pool.active_slots or 0) >= pool.concurrency_limit
        message = f"{POOL}, of type {pool.type}, is ready{', and all its slots are taken' * full}"
        yield DoctorFinding(name, "ok", message)
    if late:
        message = _describe_since(late, [run.expected_start_time for run in late])
        yield DoctorFinding("overdue runs", "warning", message, f"See that a worker is there ({start}), and has room.")
    if running:
        name, message = "runs under way", _describe_since(running, [run.start_time for run in running])
        if pool is not None and not idle:
            yield DoctorFinding(name, "ok", message)
        else:
            remedy = "Check in the Prefect UI whether they are alive, and cancel the dead ones: "
            remedy += "they hold places in the pool."
            yield DoctorFinding(name, "warning", f"{message}, though no worker is there", remedy)


def _describe_since(runs: Sequence[FlowRun], times: Sequence[datetime | None]) -> str:
    """Return the number of runs, and the time of the first."""
    least = "at least " * (len(runs) == MOST)
    first = min((moment for moment in times if moment), default=None)
    when = f"{first.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if first else "an unknown time"
    return f"{least}{counted('runs', len(runs))}, {'the first ' * (len(runs) > 1)}since {when}"


def _check_versions(server: ServerState) -> Iterator[DoctorFinding]:
    """List deployments that are missing or have another version."""
    name, here = "deployments", version("contrapose")
    missing = ", ".join(deployment for deployment in read_entrypoints() if deployment not in server.deployments)
    versions = {name: deployment.version or "none" for name, deployment in sorted(server.deployments.items())}
    other = ", ".join(f"{name} {theirs}" for name, theirs in versions.items() if theirs != here)
    if missing:
        yield DoctorFinding(name, "warning", f"missing: {missing}", AGAIN)
    if other:
        remedy = f"Install one version everywhere, then {AGAIN}"
        yield DoctorFinding(name, "warning", f"not of version {here}, as here: {other}", remedy)
    if not missing and not other:
        paused = ", ".join(sorted(name for name, deployment in server.deployments.items() if deployment.paused))
        message = f"all {len(server.deployments)} of version {here}" + f"; paused: {paused}" * bool(paused)
        yield DoctorFinding(name, "ok", message)


def _check_parameters(server: ServerState) -> Iterator[DoctorFinding]:
    """List deployments whose own parameters a run would refuse before it calls a model."""
    for name, deployment in sorted(server.deployments.items()):
        variables = deployment.job_variables or {}
        folder = Path(variables.get("working_dir") or Path.cwd())
        permissions = Permissions(folder=folder, environment={**os.environ, **(variables.get("env") or {})})
        try:
            config = read_form(deployment.parameters.get("config") or {})
            if isinstance(config, Mapping):
                config = validate(config, where="config")
            plans(config, permissions)
            for model in [config.model, *(deployment.parameters.get("models") or [])]:
                address = str(model.get("model") if isinstance(model, Mapping) else model)
                if address.startswith(PREFIX):
                    permissions.refuse_app(address.removeprefix(PREFIX))
        except ContraposeError as error:
            message = f"a run of {name} with its own parameters would be refused, seen from here: {error.found}"
            message += f" ({error.where})" if error.where else ""
            yield DoctorFinding("parameters", "problem", message, error.remedy)


def _check_automations(server: ServerState) -> Iterator[DoctorFinding]:
    """List automations that are missing, switched off, or start a deployment that no longer exists."""
    name = "automations"
    # One that does nothing but notify is left out where no block was named.
    needed = [file["name"] for file in read_automations() if "actions" in file]
    missing = [automation for automation in needed if automation not in server.automations]
    disabled = sorted(name for name, automation in server.automations.items() if not automation.enabled)
    there = {deployment.id for deployment in server.deployments.values()}
    lost = sorted(
        name
        for name, automation in server.automations.items()
        if any(isinstance(action, RunDeployment) and action.deployment_id not in there for action in automation.actions)
    )
    if missing:
        yield DoctorFinding(name, "warning", f"missing: {', '.join(missing)}", AGAIN)
    if disabled:
        remedy = f"If you did not intend this: prefect automation resume {disabled[0]}"
        yield DoctorFinding(name, "warning", f"switched off: {', '.join(disabled)}", remedy)
    if lost:
        yield DoctorFinding(name, "problem", f"starts a deployment that does not exist: {', '.join(lost)}", AGAIN)
    if not (missing or disabled or lost):
        yield DoctorFinding(name, "ok", f"{counted('automations', len(server.automations))}, switched on")


def _check_alerts(server: ServerState) -> Iterator[DoctorFinding]:
    """List alerts that send through a deleted block, and alerts without a block."""
    sending = {name: blocks for name, automation in server.automations.items() if (blocks := _read_blocks(automation))}
    broken = [name for name, blocks in sorted(sending.items()) if blocks & set(server.gone)]
    silent = [file["name"] for file in read_automations() if "notify" in file and file["name"] not in sending]
    if broken:
        names = ", ".join(name.removeprefix("contrapose-") for name in broken)
        yield DoctorFinding("alerts", "problem", f"the block that sends them does not exist: {names}", NOTIFY)
    if silent:
        names = ", ".join(name.removeprefix("contrapose-") for name in silent)
        nobody = "no alert is sent for failed, late or stuck runs: no block is named"
        yield DoctorFinding("alerts", "warning", f"no block is named for {names}" if sending else nobody, NOTIFY)
    if not broken and not silent:
        yield DoctorFinding("alerts", "ok", f"sent by {counted('automations', len(sending))}")


def _check_promotion(server: ServerState) -> Iterator[DoctorFinding]:
    """Check each step of the retraining check from this machine; the worker may be on another one."""
    name, check = "promotion", server.deployments.get(CHECK)
    wanted = check.parameters.get("promotion") if check else None
    if check is None or not isinstance(wanted, dict):
        return
    steps: list[tuple[str, str, Callable[[], object]]] = []
    if wanted.get("webhook"):
        # The deployment may be older than the list of hosts.
        environment = {**os.environ, **((check.job_variables or {}).get("env") or {})}
        problem = None
        try:
            if not is_listed(str(wanted["webhook"]), environment):
                problem = "its host is not listed, and is not called", f"{AGAIN}, --webhook among them"
        except ContraposeError as error:
            problem = error.found, error.remedy
        if problem:
            remedy = f"{problem[1]}; or name it in {HOSTS} where the worker runs."
            yield DoctorFinding(name, "warning", f"webhook of {CHECK}, seen from here: {problem[0]}", remedy)
        steps.append(("webhook", "its secret is found", read_webhook_secret))
    if wanted.get("mlflow_alias"):
        mlflow = partial(require_package, "mlflow", extra="mlflow", where="promotion.mlflow_alias")
        steps.append(("mlflow_alias", "MLflow is installed", mlflow))
    for setting, message, needed in steps:
        try:
            call_with_timeout(needed)
        except (ContraposeError, TimeoutError) as error:
            observed, remedy = str(error), "See that the Prefect server answers."
            if isinstance(error, ContraposeError):
                observed, remedy = error.found, error.remedy
            message = f"{setting} of {CHECK}, seen from here: {observed}"
            yield DoctorFinding(name, "warning", message, f"{remedy} The worker needs it.")
        else:
            yield DoctorFinding(name, "ok", f"{setting} of {CHECK}: {message}")
