"""Deployments and automations on a Prefect server, created or updated from the files in deployments/."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from contrapose.flows.command.automations import find_blocks, specifications, update
from contrapose.flows.command.wishes import Wishes, changed, shipped
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.layers import merged
from contrapose.tasks.secrets import without_user

if TYPE_CHECKING:
    from prefect import Flow
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.responses import DeploymentResponse

POOL = "contrapose"


def deploy(wishes: Wishes) -> Iterator[str]:
    """Create the work pool if there is none, deploy everything, and update the automations.

    Yields:
        What was done, a line each.

    Raises:
        ConfigError: no server is named or it does not answer, a block is missing, or Prefect refuses a deployment.
    """
    from prefect.client.orchestration import get_client

    url = server_url()
    with get_client(sync_client=True) as client:
        _refuse_silent(client, url)
        blocks = find_blocks(client, wishes.notify)
        yield f"work pool {POOL}: {_pool(client)}"
        wanted = changed(shipped(), wishes)
        kept = {each["name"]: _kept(client, each) for each in wanted["deployments"]}
        wanted["deployments"] = [_with(each, kept[each["name"]]) for each in wanted["deployments"]]
        _deploy_file(wanted)
        for each in wanted["deployments"]:
            yield _told(each, _deployed(client, each), kept[each["name"]])
        for each in specifications():
            done = update(client, each, blocks)
            yield f"automation {each['name']}: {done or 'left out; name a block with --notify to be told'}"


def server_url() -> str:
    """URL of the Prefect server's API.

    Raises:
        ConfigError: none is set.
    """
    from prefect.settings import PREFECT_API_URL

    if url := PREFECT_API_URL.value():
        return str(url)
    raise ConfigError(
        "no Prefect server is named",
        expected="its URL, such as http://127.0.0.1:4200/api",
        remedy="Set it, or start a server of your own with everything deployed: contrapose ui.",
        where="PREFECT_API_URL",
    )


def _refuse_silent(client: SyncPrefectClient, url: str) -> None:
    if (error := client.api_healthcheck()) is not None:
        raise ConfigError(
            f"{without_user(url)} does not answer ({type(error).__name__})",
            expected="a Prefect server",
            remedy="Start it, or correct the URL.",
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


def _deploy_file(content: Mapping[str, Any]) -> None:
    """Hand the deployments to Prefect's own command, which knows what each key means.

    Parameters that it would take for templates are left out, and set afterwards.
    """
    bare = [{**each, "parameters": {}} if _is_template(each["parameters"]) else each for each in content["deployments"]]
    with tempfile.TemporaryDirectory(prefix="contrapose-") as folder:
        path = Path(folder, "prefect.yaml")
        path.write_text(
            yaml.safe_dump({**content, "deployments": bare}, sort_keys=False, allow_unicode=True), encoding="utf-8"
        )
        done = _prefect(["--no-prompt", "deploy", "--all", "--prefect-file", str(path)], folder)
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise ConfigError(
            without_user(" ".join(lines[-3:]))[:400] or f"prefect deploy ended with {done.returncode}",
            expected="deployments that Prefect accepts",
            remedy="Correct that, and deploy again: what exists is updated.",
            where="prefect deploy",
        )


def _prefect(arguments: Sequence[str], folder: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PREFECT_LOGGING_LEVEL": "ERROR"}
    command = [sys.executable, "-m", "prefect", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def _deployed(client: SyncPrefectClient, deployment: Mapping[str, Any]) -> DeploymentResponse:
    """The deployment on the server, its parameters as they are wanted."""
    from prefect.client.schemas.actions import DeploymentUpdate

    flow = import_flow(deployment["entrypoint"])
    found = client.read_deployment_by_name(f"{flow.name}/{deployment['name']}")
    if _is_template(deployment["parameters"]):
        client.update_deployment(found.id, DeploymentUpdate(parameters=deployment["parameters"]))
    return found


def _is_template(parameters: Mapping[str, Any]) -> bool:
    """Whether Prefect's command would fill something in, such as the value of an environment variable."""
    return "{{" in json.dumps(parameters)


def _kept(client: SyncPrefectClient, deployment: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that somebody gave the deployment in the UI, or earlier, and that nothing is said about now."""
    from prefect.exceptions import ObjectNotFound

    flow = import_flow(deployment["entrypoint"])
    try:
        found = client.read_deployment_by_name(f"{flow.name}/{deployment['name']}")
    except ObjectNotFound:
        return {}
    given, before = deployment["parameters"], found.parameters
    kept = {name: before[name] for name in before if name in flow.parameters.properties and name not in given}
    if "promotion" in given:
        kept["promotion"] = {
            key: each for key, each in before.get("promotion", {}).items() if key not in given["promotion"]
        }
    return {name: value for name, value in kept.items() if value not in ({}, None)}


def _with(deployment: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    return {**deployment, "parameters": merged(kept, deployment["parameters"])}


def _told(deployment: Mapping[str, Any], found: DeploymentResponse, kept: Mapping[str, Any]) -> str:
    crons = (getattr(each.schedule, "cron", "") for each in found.schedules or [])
    when = "".join(f", at {cron}" for cron in crons if cron)
    still = f", still with {', '.join(kept)}" if kept else ""
    name = import_flow(deployment["entrypoint"]).name
    return f"deployment {name}/{found.name}: version {found.version}{when}{still}"


def import_flow(entrypoint: str) -> Flow[..., Any]:
    """The flow at an entrypoint."""
    from importlib import import_module

    module, _, name = entrypoint.rpartition(".")
    flow: Flow[..., Any] = getattr(import_module(module), name)
    return flow
