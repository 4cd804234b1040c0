"""What a team changes about the deployments, and what deployments/prefect.yaml becomes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from contrapose.tasks.compare.compare import refuse_margin
from contrapose.tasks.config.hosts import DEPLOYED, origin_of
from contrapose.tasks.config.wrong_values import refused_value
from contrapose.tasks.infer.openai.key import HOSTS as KEY_HOSTS
from contrapose.tasks.infer.openai.key import read_entry
from contrapose.tasks.promotion.settings import Promotion
from contrapose.tasks.promotion.webhook import HOSTS as WEBHOOK_HOSTS

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig

UNATTENDED = ("nightly", "retraining-check")
"""Deployments that nobody fills in a form for."""
CHECK = "retraining-check"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentOptions:
    """What a team changes about the deployments."""

    config: RunConfig | None = None
    """Configuration of the unattended deployments; its model is the forms' default, too. None: as in the file."""
    check: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the retraining check besides, such as margin, baseline and promotion."""
    cron: str | None = None
    """When nightly runs; None: as in the file."""
    timezone: str | None = None
    """Of `cron`; None: as in the file."""
    work_dir: str = "."
    """Folder on the worker in which runs take place: `runs` and paths of data are relative to it."""
    notify: tuple[str, ...] = ()
    """Blocks through which alerts are sent, each `<type>/<name>`."""
    key_hosts: tuple[str, ...] = ()
    """Hosts that a key may be sent to, as CONTRAPOSE_KEY_HOSTS names them."""
    named: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Files, folders and applications that the command line names, by the variable that allows them to runs."""

    def __post_init__(self) -> None:
        """Refuse a host that cannot be read.

        Raises:
            ConfigError: it cannot.
        """
        for entry in self.key_hosts:
            read_entry(entry, where="--key-host")

    def environment(self, deployment: str) -> dict[str, str]:
        """Variables that a deployment gives its runs: what is typed here is trusted, what a run is given is not."""
        webhook = (self.check.get("promotion") or {}).get("webhook") if deployment == CHECK else None
        keys = {variable + DEPLOYED: ";".join(entries) for variable, entries in self.named.items() if entries}
        keys |= {KEY_HOSTS + DEPLOYED: ",".join(self.key_hosts)} if self.key_hosts else {}
        # An address that is taken away takes along the host that was named for it.
        return keys if webhook is None else {**keys, WEBHOOK_HOSTS + DEPLOYED: str(origin_of(webhook) or "")}


def check_parameters(*, baseline: str | None, margin: float | None, promotion: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the retraining check, those that are given.

    Raises:
        ConfigError: one of them cannot be used.
    """
    follows = {key: value for key, value in promotion.items() if value is not None}
    try:
        Promotion.model_validate(follows)
    except ValidationError as error:
        # Without its cause, which repeats the values: an address may hold a password.
        raise refused_value(error, Promotion, where="command line") from None
    if margin is not None:
        refuse_margin(margin)
    parameters = {"baseline": baseline, "margin": margin, "promotion": follows or None}
    return {key: value for key, value in parameters.items() if value is not None}


def shipped() -> dict[str, Any]:
    """The content of deployments/prefect.yaml."""
    text = files("contrapose.deployments").joinpath("prefect.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def changed(content: Mapping[str, Any], options: DeploymentOptions) -> dict[str, Any]:
    """The content of prefect.yaml with a team's options, the version and the working folder in it."""
    return {**content, "deployments": [_changed(deployment, options) for deployment in content["deployments"]]}


def _changed(deployment: Mapping[str, Any], options: DeploymentOptions) -> dict[str, Any]:
    pool = deployment["work_pool"]
    variables = {**pool["job_variables"], "working_dir": str(Path(options.work_dir).resolve())}
    variables["env"] = {**variables["env"], **options.environment(deployment["name"])}
    adapted = {**deployment, "version": version("contrapose"), "work_pool": {**pool, "job_variables": variables}}
    adapted["parameters"] = _parameters(deployment, options)
    if options.config is not None and deployment["name"] in UNATTENDED:
        # A whole configuration has other keys than the form; the flow itself refuses what is wrong.
        adapted["enforce_parameter_schema"] = False
    if "schedules" in deployment:
        times = {"cron": options.cron, "timezone": options.timezone}
        named = {key: value for key, value in times.items() if value is not None}
        adapted["schedules"] = [{**schedule, **named} for schedule in deployment["schedules"]]
    return adapted


def _parameters(deployment: Mapping[str, Any], options: DeploymentOptions) -> dict[str, Any]:
    parameters = {**deployment["parameters"], **(options.check if deployment["name"] == CHECK else {})}
    if options.config is None:
        return parameters
    if deployment["name"] in UNATTENDED:
        from contrapose.flows.orchestration.form import as_parameter

        # With every key: one that is left out would be that of a bundled suite of the same name.
        return {**parameters, "config": as_parameter(options.config)}
    return {**parameters, **_with_model(parameters, options.config)}


def _with_model(parameters: Mapping[str, Any], config: RunConfig) -> dict[str, Any]:
    """Parameters of a deployment with a form whose default is the model of a configuration."""
    named = {"model": config.model} | ({"model_args": config.model_args} if config.model_args else {})
    if "models" not in parameters:
        return {"config": {**parameters["config"], **named}}
    _, *others = parameters["models"]
    return {
        "models": [named if config.model_args else config.model, *(other for other in others if other != config.model)]
    }
