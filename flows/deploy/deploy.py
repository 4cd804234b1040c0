"""Deployments and automations on a Prefect server, created or updated from the files in deployments/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from contrapose.flows.deploy.automations import find_blocks, specifications, update
from contrapose.flows.deploy.deployment_options import CHECK, DeploymentOptions, changed, shipped
from contrapose.flows.deploy.deployments import (
    deploy_file,
    deployed,
    hosts_before,
    import_flow,
    parameters_before,
    with_hosts,
    with_parameters,
)
from contrapose.flows.serve.server_key import bring_key_as_configured, refuse_silent_server
from contrapose.tasks.config.hosts import origin_of
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import without_user
from contrapose.tasks.promotion.promote import missing
from contrapose.tasks.promotion.settings import Promotion

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.responses import DeploymentResponse

POOL = "contrapose"


def deploy(options: DeploymentOptions) -> Iterator[str]:
    """Create the work pool if there is none, deploy everything, and update the automations.

    Yields:
        What was done, a line each.

    Raises:
        ConfigError: no server is named or it does not answer, a block is missing, or Prefect refuses a deployment.
    """
    from prefect.client.orchestration import get_client

    url = server_url()
    with get_client(sync_client=True) as client:
        if (error := client.api_healthcheck()) is not None:
            raise ConfigError(
                f"{without_user(url)} does not answer ({type(error).__name__})",
                expected="a Prefect server",
                remedy="Start it, or correct the URL.",
                where="PREFECT_API_URL",
            )
        blocks = find_blocks(client, options.notify)
        yield f"work pool {POOL}: {_pool(client)}"
        wanted = changed(shipped(), options)
        kept = {deployment["name"]: parameters_before(client, deployment) for deployment in wanted["deployments"]}
        wanted["deployments"] = [
            with_hosts(with_parameters(deployment, kept[deployment["name"]]), hosts_before(client, deployment))
            for deployment in wanted["deployments"]
        ]
        deploy_file(wanted)
        for deployment in wanted["deployments"]:
            yield _deployment_line(deployment, deployed(client, deployment), kept[deployment["name"]])
            if deployment["name"] == CHECK:
                yield from after_check(deployment["parameters"])
        left_out = []
        for specification in specifications():
            if (done := update(client, specification, blocks)) is not None:
                yield f"automation {specification['name']}: {done}"
            else:
                left_out.append(specification["name"])
        if left_out:
            yield f"left out: {', '.join(left_out)}; name a block with --notify to be told"


def after_check(parameters: Mapping[str, Any]) -> Iterator[str]:
    """What will follow the check of a retrained model, of an address its host alone, and what is missing for it here.

    What is missing stops nothing: the worker may be another machine.
    """
    promotion = Promotion.model_validate(parameters.get("promotion") or {})
    moved = f"alias {promotion.mlflow_alias} is moved" if promotion.mlflow_alias else ""
    called = f"{origin_of(promotion.webhook)} is called" if promotion.webhook else ""
    held = f"a person is asked, for {promotion.ask_hours:g} hours at most" if promotion.ask else "nothing"
    yield f"  after promote: {' and '.join(filter(None, (moved, called))) or 'nothing'}; after hold: {held}"
    for error in missing(promotion):
        yield f"  tried from here, and the worker needs it: {error.line()}"


def _deployment_line(deployment: Mapping[str, Any], existing: DeploymentResponse, kept: Mapping[str, Any]) -> str:
    crons = (getattr(schedule.schedule, "cron", "") for schedule in existing.schedules or [])
    when = "".join(f", at {cron}" for cron in crons if cron)
    still = f", still with {', '.join(kept)}" if kept else ""
    name = import_flow(deployment["entrypoint"]).name
    return f"deployment {name}/{existing.name}: version {existing.version}{when}{still}"


def server_url() -> str:
    """URL of the Prefect server's API.

    Raises:
        ConfigError: none is set.
    """
    from prefect.settings import PREFECT_API_URL

    bring_key_as_configured()
    refuse_silent_server()
    if url := PREFECT_API_URL.value():
        return str(url)
    raise ConfigError(
        "no Prefect server is named",
        expected="its URL, such as http://127.0.0.1:4200/api",
        remedy="Set it, or start a server of your own with everything deployed: contrapose ui.",
        where="PREFECT_API_URL",
    )


def _pool(client: SyncPrefectClient) -> str:
    """Make sure that there is a work pool; one that exists is left as it is, of whatever type."""
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
    from prefect.workers.process import ProcessWorker

    try:
        return f"kept, of type {client.read_work_pool(POOL).type}"
    except ObjectNotFound:
        pool = WorkPoolCreate(
            name=POOL,
            type="process",
            description="Evaluations of language models. Start a worker: prefect worker start --pool contrapose",
            base_job_template=ProcessWorker.get_default_base_job_template(),
            concurrency_limit=2,
        )
        try:
            client.create_work_pool(pool)
        except ObjectAlreadyExists:
            # Somebody deploys at the same time.
            return f"kept, of type {client.read_work_pool(POOL).type}"
        return "created, of type process"
