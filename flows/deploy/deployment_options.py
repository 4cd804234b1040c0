"""A team's options for the deployments, and deployments/prefect.yaml with these options applied."""

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
from contrapose.tasks.config.wrong_values import make_value_error
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.infer.openai.key import HOSTS as KEY_HOSTS
from contrapose.tasks.infer.openai.key import read_entry
from contrapose.tasks.promotion.settings import Promotion
from contrapose.tasks.promotion.webhook import HOSTS as WEBHOOK_HOSTS

if TYPE_CHECKING:
    from contrapose.tasks.config.run_config import RunConfig

CHECK = "retraining-check"
UNATTENDED = ("nightly", CHECK)
"""Deployments that nobody fills in a form for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentOptions:
    """A team's options for the deployments; ConfigError if a host cannot be read."""

    config: RunConfig | None = None
    """Configuration of the unattended deployments; its model is the forms' default, too. None: as in the file."""
    check: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of the retraining check, such as margin, baseline and promotion."""
    cron: str | None = None
    """When nightly runs; None: as in the file."""
    timezone: str | None = None
    """Time zone of `cron`; None: as in the file."""
    work_dir: str = "."
    """Folder on the worker in which runs take place: `runs` and paths of data are relative to it."""
    notify: tuple[str, ...] = ()
    """Blocks through which alerts are sent, each `<type>/<name>`."""
    key_hosts: tuple[str, ...] = ()
    """Hosts that a key may be sent to, as CONTRAPOSE_KEY_HOSTS names them."""
    named: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Files, folders and applications that the command line names, by the variable that allows them to runs."""

    def __post_init__(self) -> None:
        for entry in self.key_hosts:
            read_entry(entry, where="--key-host")
        refuse_times(self.cron, self.timezone)


def refuse_times(cron: str | None, timezone: str | None) -> None:
    """Raise ConfigError for a schedule or time zone that Prefect cannot read."""
    if cron is None and timezone is None:
        return
    from prefect.client.schemas.schedules import CronSchedule

    def refuse_wrong(value: str, *, where: str, expected: str, example: str, **times: str) -> None:
        try:
            CronSchedule(**{"cron": "0 2 * * *", **times})
        except ValidationError:
            # Without its cause, which is in Prefect's own words.
            remedy = f"Write, for example, {where} {example}."
            raise ConfigError(repr(value), expected=expected, remedy=remedy, where=where) from None

    if cron is not None:
        expected = "minute, hour, day, month and weekday"
        refuse_wrong(cron, where="--cron", expected=expected, example='"0 2 * * *"', cron=cron)
    if timezone is not None:
        expected = "the name of a time zone"
        refuse_wrong(timezone, where="--timezone", expected=expected, example="Europe/Paris", timezone=timezone)


def check_parameters(*, baseline: str | None, margin: float | None, promotion: Mapping[str, Any]) -> dict[str, Any]:
    """Return the set parameters of the retraining check; raise ConfigError for one that cannot be used."""
    follows = {key: value for key, value in promotion.items() if value is not None}
    try:
        Promotion.model_validate(follows)
    except ValidationError as error:
        # Without its cause, which repeats the values: an address may hold a password.
        raise make_value_error(error, Promotion, where="command line") from None
    if margin is not None:
        refuse_margin(margin)
    parameters = {"baseline": baseline, "margin": margin, "promotion": follows or None}
    return {key: value for key, value in parameters.items() if value is not None}


def read_shipped() -> dict[str, Any]:
    """Return the content of deployments/prefect.yaml."""
    text = files("contrapose.deployments").joinpath("prefect.yaml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text)
    return content


def apply_options(content: Mapping[str, Any], options: DeploymentOptions) -> dict[str, Any]:
    """Return the content of prefect.yaml with a team's options, the version and the working folder in it."""
    return {**content, "deployments": [_apply(deployment, options) for deployment in content["deployments"]]}


def _apply(deployment: Mapping[str, Any], options: DeploymentOptions) -> dict[str, Any]:
    pool, is_check = deployment["work_pool"], deployment["name"] == CHECK
    # What is typed here is trusted; what a run is sent is not.
    allowed = {variable + DEPLOYED: ";".join(entries) for variable, entries in options.named.items() if entries}
    if options.key_hosts:
        allowed[KEY_HOSTS + DEPLOYED] = ",".join(options.key_hosts)
    webhook = (options.check.get("promotion") or {}).get("webhook") if is_check else None
    if webhook is not None:
        # An address that is taken away takes along the host that was named for it.
        allowed[WEBHOOK_HOSTS + DEPLOYED] = str(origin_of(webhook) or "")
    variables = {**pool["job_variables"], "working_dir": str(Path(options.work_dir).resolve())}
    variables["env"] = {**variables["env"], **allowed}
    changed = {**deployment, "version": version("contrapose"), "work_pool": {**pool, "job_variables": variables}}
    parameters, config = {**deployment["parameters"], **(options.check if is_check else {})}, options.config
    if config is not None and deployment["name"] in UNATTENDED:
        from contrapose.flows.orchestration.form import to_parameter

        # With every key: one that is left out would be that of a bundled suite of the same name. A complete
        # configuration has other keys than the form; the flow itself refuses what is wrong.
        parameters["config"], changed["enforce_parameter_schema"] = to_parameter(config), False
    elif config is not None:
        # The model is the form's default.
        own = {"model": config.model} | ({"model_args": config.model_args} if config.model_args else {})
        if "models" in parameters:
            others = [other for other in parameters["models"][1:] if other != config.model]
            parameters["models"] = [own if config.model_args else config.model, *others]
        else:
            parameters["config"] = {**parameters["config"], **own}
    if "schedules" in deployment:
        times = {"cron": options.cron, "timezone": options.timezone}
        named = {key: value for key, value in times.items() if value is not None}
        changed["schedules"] = [{**schedule, **named} for schedule in deployment["schedules"]]
    return {**changed, "parameters": parameters}
