"""Deployments and automations on a Prefect server, created or updated from the files in deployments/."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import yaml

from contrapose.flows.deploy.automations import find_blocks, read_automations, update_automation
from contrapose.flows.deploy.deployment_options import CHECK, DeploymentOptions, apply_options, read_shipped
from contrapose.flows.orchestration.error_display import REFUSED
from contrapose.flows.serve.server_key import bring_key_as_configured, refuse_silent_server
from contrapose.tasks.config.data_settings import merge_settings
from contrapose.tasks.config.hosts import DEPLOYED, origin_of
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import remove_credentials
from contrapose.tasks.promotion.promote import find_missing
from contrapose.tasks.promotion.settings import Promotion

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.responses import DeploymentResponse

POOL = "contrapose"


def deploy(options: DeploymentOptions) -> Iterator[str]:
    """Create the work pool if there is none, deploy everything, update the automations, and yield lines.

    Raises ConfigError if no server is named or answers, a block is missing, or Prefect refuses a deployment.
    """
    from prefect.client.orchestration import get_client

    url = read_api_url()
    with get_client(sync_client=True) as client:
        if (error := client.api_healthcheck()) is not None:
            if getattr(getattr(error, "response", None), "status_code", None) in REFUSED:
                # It answers, and asks for its key: `lost_server` says so.
                raise error
            raise ConfigError(
                f"{remove_credentials(url)} does not answer ({type(error).__name__})",
                expected="a Prefect server",
                remedy="Start it, or correct the URL.",
                where="PREFECT_API_URL",
            )
        blocks = find_blocks(client, options.notify)
        yield f"work pool {POOL}: {_make_pool(client)}"
        content = apply_options(read_shipped(), options)
        wanted = [keep_settings(client, deployment) for deployment in content["deployments"]]
        deploy_file({**content, "deployments": [deployment for deployment, _ in wanted]})
        for deployment, kept in wanted:
            existing = set_parameters(client, deployment)
            crons = (getattr(schedule.schedule, "cron", "") for schedule in existing.schedules or [])
            when = "".join(f", at {cron}" for cron in crons if cron)
            still = f", still with {', '.join(kept)}" if kept else ""
            yield f"deployment {_full_name(deployment)}: version {existing.version}{when}{still}"
            if deployment["name"] == CHECK:
                yield from describe_next_steps(deployment["parameters"])
        left_out = []
        for specification in read_automations():
            if (done := update_automation(client, specification, blocks)) is not None:
                yield f"automation {specification['name']}: {done}"
            else:
                left_out.append(specification["name"])
        if left_out:
            yield f"left out: {', '.join(left_out)}; name a block with --notify to get alerts"


def describe_next_steps(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Describe what follows the check of a retrained model, with only the host of an address, and what is missing here.

    What it lacks stops nothing: the worker may be another machine.
    """
    promotion = Promotion.model_validate(parameters.get("promotion") or {})
    moved = f"alias {promotion.mlflow_alias} is moved" if promotion.mlflow_alias else ""
    called = f"{origin_of(promotion.webhook)} is called" if promotion.webhook else ""
    held = f"a person is asked, for {promotion.ask_hours:g} hours at most" if promotion.ask else "nothing"
    yield f"  after promote: {' and '.join(filter(None, (moved, called))) or 'nothing'}; after hold: {held}"
    for error in find_missing(promotion):
        yield f"  tried from here, and the worker needs it: {error.line()}"


def read_api_url() -> str:
    """Return the URL of the Prefect server's API; raise ConfigError if none is set."""
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


def _make_pool(client: SyncPrefectClient) -> str:
    """Create the work pool if there is none; leave an existing pool unchanged, whatever its type."""
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectNotFound
    from prefect.workers.process import ProcessWorker

    pool = WorkPoolCreate(
        name=POOL,
        type="process",
        description="Evaluations of language models. Start a worker: prefect worker start --pool contrapose",
        base_job_template=ProcessWorker.get_default_base_job_template(),
        concurrency_limit=2,
    )
    try:
        return f"kept, of type {client.read_work_pool(POOL).type}"
    except ObjectNotFound:
        client.create_work_pool(pool)
        return "created, of type process"


def _full_name(deployment: Mapping[str, Any]) -> str:
    return f"{resolve_name(deployment['entrypoint']).name}/{deployment['name']}"


def keep_settings(client: SyncPrefectClient, deployment: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[str]]:
    """Return a deployment with its earlier settings for everything that is not set now.

    These are parameters that somebody gave it in the UI, or earlier, whose names are returned too, and the hosts that
    were named for a key or the webhook; a new list of hosts takes their place.
    """
    from prefect.exceptions import ObjectNotFound

    wanted = deployment["parameters"]
    try:
        existing = client.read_deployment_by_name(_full_name(deployment))
    except ObjectNotFound:
        return dict(deployment), ()
    known, before = signature(resolve_name(deployment["entrypoint"])).parameters, existing.parameters
    kept = {name: before[name] for name in before if name in known and name not in wanted}
    if "promotion" in wanted:
        follows = before.get("promotion") or {}
        kept["promotion"] = {key: follows[key] for key in follows if key not in wanted["promotion"]}
    kept = {name: value for name, value in kept.items() if value not in ({}, None)}
    variables = (existing.job_variables or {}).get("env") or {}
    hosts = {name: value for name, value in variables.items() if name.endswith(DEPLOYED)}
    earlier = {"work_pool": {"job_variables": {"env": hosts}}, "parameters": kept}
    return merge_settings(earlier, deployment), list(kept)


def deploy_file(content: Mapping[str, Any]) -> None:
    """Deploy with Prefect's own command, because it knows the meaning of each key.

    Parameters that it would take for templates are left out, and set afterwards.
    """
    bare = [
        {**deployment, "parameters": {}} if _is_template(deployment["parameters"]) else deployment
        for deployment in content["deployments"]
    ]
    with tempfile.TemporaryDirectory(prefix="contrapose-") as folder:
        path = Path(folder, "prefect.yaml")
        text = yaml.safe_dump({**content, "deployments": bare}, sort_keys=False, allow_unicode=True)
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(path)],
            cwd=folder,
            env={**os.environ, "PREFECT_LOGGING_LEVEL": "ERROR"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise ConfigError(
            remove_credentials(" ".join(lines[-3:]))[:400] or f"prefect deploy ended with {done.returncode}",
            expected="deployments that Prefect accepts",
            remedy="Correct that, and deploy again: what exists is updated.",
            where="prefect deploy",
        )


def set_parameters(client: SyncPrefectClient, deployment: Mapping[str, Any]) -> DeploymentResponse:
    """Set the parameters that the command would read as templates; return the deployment on the server."""
    from prefect.client.schemas.actions import DeploymentUpdate

    existing = client.read_deployment_by_name(_full_name(deployment))
    if _is_template(deployment["parameters"]):
        client.update_deployment(existing.id, DeploymentUpdate(parameters=deployment["parameters"]))
    return existing


def _is_template(parameters: Mapping[str, Any]) -> bool:
    """Return True if Prefect's command would fill something in, such as the value of an environment variable."""
    return "{{" in json.dumps(parameters)
