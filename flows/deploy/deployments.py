"""Deployments on a Prefect server: written by Prefect's own command, with the parameters that stay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from contrapose.tasks.config.data_settings import merged
from contrapose.tasks.config.hosts import DEPLOYED
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import without_user

if TYPE_CHECKING:
    from prefect import Flow
    from prefect.client.orchestration import SyncPrefectClient
    from prefect.client.schemas.responses import DeploymentResponse


def parameters_before(client: SyncPrefectClient, deployment: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that somebody gave the deployment in the UI, or earlier, and that nothing is said about now."""
    flow, existing = import_flow(deployment["entrypoint"]), _before(client, deployment)
    if existing is None:
        return {}
    wanted, before = deployment["parameters"], existing.parameters
    kept = {name: before[name] for name in before if name in flow.parameters.properties and name not in wanted}
    if "promotion" in wanted:
        follows = before.get("promotion") or {}
        kept["promotion"] = {key: follows[key] for key in follows if key not in wanted["promotion"]}
    return {name: value for name, value in kept.items() if value not in ({}, None)}


def hosts_before(client: SyncPrefectClient, deployment: Mapping[str, Any]) -> dict[str, str]:
    """Hosts that were named for a key or the webhook when it was deployed before; a new list takes their place."""
    existing = _before(client, deployment)
    variables = ((existing and existing.job_variables) or {}).get("env") or {}
    return {name: hosts for name, hosts in variables.items() if name.endswith(DEPLOYED)}


def with_hosts(deployment: Mapping[str, Any], kept: Mapping[str, str]) -> dict[str, Any]:
    """A deployment that keeps hosts beside its own."""
    adapted: dict[str, Any] = merged({"work_pool": {"job_variables": {"env": dict(kept)}}}, deployment)
    return adapted


def _before(client: SyncPrefectClient, deployment: Mapping[str, Any]) -> DeploymentResponse | None:
    from prefect.exceptions import ObjectNotFound

    try:
        return client.read_deployment_by_name(f"{import_flow(deployment['entrypoint']).name}/{deployment['name']}")
    except ObjectNotFound:
        return None


def with_parameters(deployment: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """A deployment that keeps parameters beside its own."""
    return {**deployment, "parameters": merged(kept, deployment["parameters"])}


def deploy_file(content: Mapping[str, Any]) -> None:
    """Hand the deployments to Prefect's own command, which knows what each key means.

    Parameters that it would take for templates are left out, and set afterwards.
    """
    bare = [
        {**deployment, "parameters": {}} if _is_template(deployment["parameters"]) else deployment
        for deployment in content["deployments"]
    ]
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


def deployed(client: SyncPrefectClient, deployment: Mapping[str, Any]) -> DeploymentResponse:
    """The deployment on the server, its parameters as they are wanted."""
    from prefect.client.schemas.actions import DeploymentUpdate

    flow = import_flow(deployment["entrypoint"])
    existing = client.read_deployment_by_name(f"{flow.name}/{deployment['name']}")
    if _is_template(deployment["parameters"]):
        client.update_deployment(existing.id, DeploymentUpdate(parameters=deployment["parameters"]))
    return existing


def _is_template(parameters: Mapping[str, Any]) -> bool:
    """Whether Prefect's command would fill something in, such as the value of an environment variable."""
    return "{{" in json.dumps(parameters)


def import_flow(entrypoint: str) -> Flow[..., Any]:
    """The flow at an entrypoint."""
    from importlib import import_module

    module, _, name = entrypoint.rpartition(".")
    flow: Flow[..., Any] = getattr(import_module(module), name)
    return flow
