"""Deployments and automations on a Prefect server, created or updated from the files in deployments/."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from contrapose.flows.command.automations import find_blocks, specifications, update
from contrapose.tasks.errors import ConfigError
from contrapose.tasks.secrets import without_user

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.responses import DeploymentResponse

    from contrapose.tasks.config import RunConfig

POOL = "contrapose"
UNATTENDED = ("nightly", "retraining-check")
"""Deployments that nobody fills in a form for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a team changes about the deployments."""

    config: RunConfig | None = None
    """Configuration of the unattended deployments; None: that of the file."""
    cron: str | None = None
    """When nightly runs; None: as in the file."""
    timezone: str | None = None
    """Of `cron`; None: as in the file."""
    work_dir: str = "."
    """Folder on the worker in which runs take place: `runs` and paths of data are relative to it."""
    notify: tuple[str, ...] = ()
    """Blocks through which alerts are sent, each `<type>/<name>`."""


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
        wanted = changed(_file(), wishes)
        _deploy_file(wanted)
        for each in wanted["deployments"]:
            yield _told(each, _deployed(client, each))
        for each in specifications():
            done = update(client, each, blocks)
            yield f"automation {each['name']}: {done or 'left out; name a block with --notify to be told'}"


def changed(content: Mapping[str, Any], wishes: Wishes) -> dict[str, Any]:
    """The content of prefect.yaml with a team's wishes, the version and the working folder in it."""
    return {**content, "deployments": [_changed(each, wishes) for each in content["deployments"]]}


def _changed(deployment: Mapping[str, Any], wishes: Wishes) -> dict[str, Any]:
    pool = deployment["work_pool"]
    variables = {**pool["job_variables"], "working_dir": str(Path(wishes.work_dir).resolve())}
    found = {**deployment, "version": version("contrapose"), "work_pool": {**pool, "job_variables": variables}}
    if wishes.config is not None and deployment["name"] in UNATTENDED:
        # With every key: one that is left out would be that of a bundled suite of the same name.
        found["parameters"] = {**deployment["parameters"], "config": wishes.config.model_dump(mode="json")}
        # A whole configuration has other keys than the form; the flow itself refuses what is wrong.
        found["enforce_parameter_schema"] = False
    if "schedules" in deployment:
        times = {"cron": wishes.cron, "timezone": wishes.timezone}
        given = {key: value for key, value in times.items() if value is not None}
        found["schedules"] = [{**each, **given} for each in deployment["schedules"]]
    return found


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


def _file() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        files("contrapose.deployments").joinpath("prefect.yaml").read_text(encoding="utf-8")
    )
    return found


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

    found = client.read_deployment_by_name(f"{import_flow(deployment['entrypoint'])}/{deployment['name']}")
    if _is_template(deployment["parameters"]):
        client.update_deployment(found.id, DeploymentUpdate(parameters=deployment["parameters"]))
    return found


def _is_template(parameters: Mapping[str, Any]) -> bool:
    """Whether Prefect's command would fill something in, such as the value of an environment variable."""
    return "{{" in json.dumps(parameters)


def _told(deployment: Mapping[str, Any], found: DeploymentResponse) -> str:
    crons = (getattr(each.schedule, "cron", "") for each in found.schedules or [])
    when = "".join(f", at {cron}" for cron in crons if cron)
    return f"deployment {import_flow(deployment['entrypoint'])}/{found.name}: version {found.version}{when}"


def import_flow(entrypoint: str) -> str:
    """Name of the flow at an entrypoint."""
    from importlib import import_module

    module, _, name = entrypoint.rpartition(".")
    flow = getattr(import_module(module), name)
    return str(flow.name)
