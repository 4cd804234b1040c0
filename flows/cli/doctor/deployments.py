"""What was deployed to the Prefect server: whether it is whole, and whether anybody is at work there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefect.client.schemas.objects import WorkPoolStatus
from prefect.events.actions import RunDeployment

from contrapose.flows.cli.doctor.base import DoctorFinding, ok, problem, warning
from contrapose.flows.cli.doctor.on_server import LATE, MOST, RUNNING, blocks_of, entrypoints, read
from contrapose.flows.deploy.automations import specifications
from contrapose.flows.deploy.deploy import POOL
from contrapose.flows.deploy.deployment_options import CHECK
from contrapose.flows.orchestration.form import opened
from contrapose.tasks.config.permissions import PREFIX, Permissions
from contrapose.tasks.config.plan import plans
from contrapose.tasks.config.suite_files import validate
from contrapose.tasks.core.bounds import within
from contrapose.tasks.core.errors import ContraposeError, require
from contrapose.tasks.core.secrets import without_user
from contrapose.tasks.promotion.promote import webhook_secret
from contrapose.tasks.promotion.webhook import HOSTS, is_listed
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.wording import counted

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun, WorkPool
    from prefect.client.schemas.responses import DeploymentResponse

    from contrapose.flows.cli.doctor.on_server import OnServer

NAME = "deployments"
AGAIN = "contrapose deploy, with the same options as before"
"""Without them it would deploy the configuration of its own file."""


def version_findings(server: OnServer) -> Iterator[DoctorFinding]:
    """What is missing, what is of another version, or that neither is the case."""
    missing = [name for name in entrypoints() if name not in server.deployments]
    here = version("contrapose")
    versions = {name: deployment.version or "none" for name, deployment in sorted(server.deployments.items())}
    other = ", ".join(f"{name} {theirs}" for name, theirs in versions.items() if theirs != here)
    if missing:
        yield warning(NAME, f"missing: {', '.join(missing)}", AGAIN)
    if other:
        yield warning(NAME, f"not of version {here}, as here: {other}", f"Install one version everywhere, then {AGAIN}")
    if not missing and not other:
        paused = sorted(name for name, deployment in server.deployments.items() if deployment.paused)
        yield ok(
            NAME, f"all {len(server.deployments)} of version {here}" + f"; paused: {', '.join(paused)}" * bool(paused)
        )


AUTOMATIONS = "automations"
NOTIFY = "contrapose deploy --notify TYPE/NAME, with the same options as before"
NOBODY = "nobody is told of failed, late or stuck runs: no block is named"


def automation_findings(server: OnServer) -> Iterator[DoctorFinding]:
    """The automations, and the alerts that some of them send."""
    files = specifications()
    wrong = list(_wrong(server, files))
    yield from wrong or [ok(AUTOMATIONS, f"{counted('automations', len(server.automations))}, switched on")]
    yield from _alerts(server, files)


def _wrong(server: OnServer, files: list[dict[str, Any]]) -> Iterator[DoctorFinding]:
    # One that does nothing but notify is left out where no block was named.
    missing = [file["name"] for file in files if "actions" in file and file["name"] not in server.automations]
    disabled = sorted(name for name, automation in server.automations.items() if not automation.enabled)
    there = {deployment.id for deployment in server.deployments.values()}
    lost = sorted(
        name
        for name, automation in server.automations.items()
        if any(isinstance(action, RunDeployment) and action.deployment_id not in there for action in automation.actions)
    )
    if missing:
        yield warning(AUTOMATIONS, f"missing: {', '.join(missing)}", AGAIN)
    if disabled:
        remedy = f"Unless that is meant: prefect automation resume {disabled[0]}"
        yield warning(AUTOMATIONS, f"switched off: {', '.join(disabled)}", remedy)
    if lost:
        yield problem(AUTOMATIONS, f"starts a deployment that is gone: {', '.join(lost)}", AGAIN)


def _alerts(server: OnServer, files: list[dict[str, Any]]) -> Iterator[DoctorFinding]:
    sending = {name: blocks for name, automation in server.automations.items() if (blocks := blocks_of(automation))}
    broken = sorted(name for name, blocks in sending.items() if blocks & set(server.gone))
    silent = [_short(file["name"]) for file in files if "notify" in file and file["name"] not in sending]
    if broken:
        message = f"the block that they are sent through is gone: {', '.join(map(_short, broken))}"
        yield problem("alerts", message, NOTIFY)
    if silent:
        message = f"no block is named for {', '.join(silent)}" if sending else NOBODY
        yield warning("alerts", message, NOTIFY)
    if not broken and not silent:
        yield ok("alerts", f"sent by {counted('automations', len(sending))}")


def _short(name: str) -> str:
    return name.removeprefix("contrapose-")


START = f"prefect worker start --pool {POOL}"


def work_findings(server: OnServer) -> Iterator[DoctorFinding]:
    """The pool, and the runs that wait or are under way."""
    late = [run for run in server.runs if run.state_name == LATE]
    running = [run for run in server.runs if run.state_name == RUNNING]
    yield _pool(server.pool, waiting=bool(late))
    if late:
        message = _since(late, [run.expected_start_time for run in late])
        yield warning("overdue runs", message, f"See that a worker is there ({START}), and has room.")
    if running:
        yield _running(running, unattended=server.pool is None or _is_left(server.pool))


def _pool(pool: WorkPool | None, *, waiting: bool) -> DoctorFinding:
    """A pool without a worker is a problem only where something waits for one: others start it when they need it."""
    name = "work pool"
    if pool is None:
        return problem(name, f"{POOL} is gone, and the deployments need it", AGAIN)
    if pool.is_paused or pool.status == WorkPoolStatus.PAUSED:
        message = f"{POOL} is paused: no run is started"
        return (problem if waiting else warning)(name, message, f"prefect work-pool resume {POOL}")
    if _is_left(pool):
        message = f"{POOL}: no worker has asked for work lately, so no run is started"
        return (problem if waiting else warning)(name, message, START)
    full = pool.concurrency_limit is not None and (pool.active_slots or 0) >= pool.concurrency_limit
    return ok(name, f"{POOL}, of type {pool.type}, is ready{', and all its slots are taken' * full}")


def _is_left(pool: WorkPool) -> bool:
    """Whether nobody is there to start runs; pools in the cloud do without a worker."""
    served = pool.is_push_pool or pool.is_managed_pool
    return pool.status == WorkPoolStatus.NOT_READY and not served


def _running(runs: Sequence[FlowRun], *, unattended: bool) -> DoctorFinding:
    name = "runs under way"
    message = _since(runs, [run.start_time for run in runs])
    if not unattended:
        return ok(name, message)
    remedy = (
        "See in the Prefect UI whether they are alive, and cancel those that are not: they hold places in the pool."
    )
    return warning(name, f"{message}, though no worker is there", remedy)


def _since(runs: Sequence[FlowRun], times: Sequence[datetime | None]) -> str:
    """How many there are, and since when the first."""
    least = "at least " * (len(runs) == MOST)
    first = min((moment for moment in times if moment), default=None)
    when = f"{first.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if first else "an unknown time"
    return f"{least}{counted('runs', len(runs))}, {'the first ' * (len(runs) > 1)}since {when}"


def parameter_findings(server: OnServer) -> Iterator[DoctorFinding]:
    """The deployments whose own parameters would be refused; of what a form may be filled in with nothing is known."""
    for name, deployment in sorted(server.deployments.items()):
        try:
            refuse_parameters(deployment)
        except ContraposeError as error:
            message = f"a run of {name} with its own parameters would be refused, seen from here: {error.found}"
            yield problem("parameters", f"{message} ({error.where})" if error.where else message, error.remedy)


def refuse_parameters(deployment: DeploymentResponse) -> None:
    """Refuse a deployment whose parameters a run would refuse before it asks a model.

    Raises:
        ContraposeError: they name a file, folder or application that its runs may not use, or are wrong otherwise.
    """
    variables = deployment.job_variables or {}
    folder = Path(variables.get("working_dir") or Path.cwd())
    permissions = Permissions(folder=folder, environment={**os.environ, **(variables.get("env") or {})})
    config = opened(deployment.parameters.get("config") or {})
    if isinstance(config, Mapping):
        config = validate(config, where="config")
    plans(config, permissions)
    models = [config.model, *(deployment.parameters.get("models") or [])]
    for model in models:
        named = str(model.get("model") if isinstance(model, Mapping) else model)
        if named.startswith(PREFIX):
            permissions.refuse_app(named.removeprefix(PREFIX))


PROMOTION = "promotion"


def promotion_findings(server: OnServer) -> Iterator[DoctorFinding]:
    """A line for each step that the deployment asks for; none where it asks for nothing."""
    check = server.deployments.get(CHECK)
    wanted = check.parameters.get("promotion") if check else None
    if check is None or not isinstance(wanted, dict):
        return
    if wanted.get("webhook"):
        yield from _unlisted(check, str(wanted["webhook"]))
        yield _ready("webhook", "its secret is found", webhook_secret)
    if wanted.get("mlflow_alias"):
        mlflow = partial(require, "mlflow", extra="mlflow", where="promotion.mlflow_alias")
        yield _ready("mlflow_alias", "MLflow is installed", mlflow)


def _unlisted(check: DeploymentResponse, url: str) -> Iterator[DoctorFinding]:
    """A webhook whose host nobody names: not the deployment, which may be older than the list, and not this machine."""
    deployed = (check.job_variables or {}).get("env") or {}
    try:
        if is_listed(url, {**os.environ, **deployed}):
            return
        observed, remedy = "its host is not listed, and is not called", f"{AGAIN}, --webhook among them"
    except ContraposeError as error:
        observed, remedy = error.found, error.remedy
    message = f"webhook of {CHECK}, seen from here: {observed}"
    yield warning(PROMOTION, message, f"{remedy}; or name it in {HOSTS} where the worker runs.")


def _ready(setting: str, message: str, needed: Callable[[], object]) -> DoctorFinding:
    """Whether a step could be done from here; the worker, which does it, may be on another machine."""
    try:
        within(needed)
    except (ContraposeError, TimeoutError) as error:
        observed = error.found if isinstance(error, ContraposeError) else str(error)
        remedy = error.remedy if isinstance(error, ContraposeError) else "See that the Prefect server answers."
        return warning(PROMOTION, f"{setting} of {CHECK}, seen from here: {observed}", f"{remedy} The worker needs it.")
    return ok(PROMOTION, f"{setting} of {CHECK}: {message}")


def deployed_findings() -> Iterator[DoctorFinding]:
    """All that concerns what is deployed there, or that nothing is."""
    try:
        server = within(read)
    except Exception as error:
        # Its text may repeat what was sent.
        remedy = "See the server's log, and whether your key may read work pools, deployments and automations."
        yield problem("deployments", f"could not be read ({type(error).__name__})", remedy)
        return
    if server.pool is None and not server.deployments:
        yield ok("deployments", "none on that server", "To have runs started there: contrapose deploy")
        return
    for part in (work_findings, version_findings, parameter_findings, automation_findings, promotion_findings):
        yield from map(_shown, part(server))


def _shown(finding: DoctorFinding) -> DoctorFinding:
    """A finding whose text, which others may have written, is one line and holds no password."""
    return replace(finding, observed=one_line(without_user(finding.observed)))
