"""What the deployed retraining check needs after `promote`: the webhook's host and its secret, and MLflow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from contrapose.flows.command.checks.base import DoctorFinding, ok, warning, within
from contrapose.flows.command.checks.deployments import AGAIN
from contrapose.flows.command.wishes import CHECK
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.optional_packages import require
from contrapose.tasks.promotion.promote import webhook_secret
from contrapose.tasks.promotion.webhook import HOSTS, is_listed

if TYPE_CHECKING:
    from prefect.client.schemas.responses import DeploymentResponse

    from contrapose.flows.command.checks.on_server import OnServer

NAME = "promotion"


def findings(found: OnServer) -> Iterator[DoctorFinding]:
    """A line for each step that the deployment asks for; none where it asks for nothing."""
    check = found.deployments.get(CHECK)
    wanted = check.parameters.get("promotion") if check else None
    if check is None or not isinstance(wanted, dict):
        return
    if wanted.get("webhook"):
        yield from _unlisted(check, str(wanted["webhook"]))
        yield _ready("webhook", "its secret is found", webhook_secret)
    if wanted.get("mlflow_alias"):
        yield _ready("mlflow_alias", "MLflow is installed", _mlflow)


def _unlisted(check: DeploymentResponse, url: str) -> Iterator[DoctorFinding]:
    """A webhook whose host nobody names: not the deployment, which may be older than the list, and not this machine."""
    deployed = (check.job_variables or {}).get("env") or {}
    try:
        if is_listed(url, {**os.environ, **deployed}):
            return
        found, remedy = "its host is not listed, and is not called", f"{AGAIN}, --webhook among them"
    except ContraposeError as error:
        found, remedy = error.found, error.remedy
    told = f"webhook of {CHECK}, seen from here: {found}"
    yield warning(NAME, told, f"{remedy}; or name it in {HOSTS} where the worker runs.")


def _mlflow() -> None:
    require("mlflow", extra="mlflow", where="promotion.mlflow_alias")


def _ready(setting: str, told: str, needed: Callable[[], object]) -> DoctorFinding:
    """Whether a step could be done from here; the worker, which does it, may be on another machine."""
    try:
        within(needed)
    except (ContraposeError, TimeoutError) as error:
        found = error.found if isinstance(error, ContraposeError) else str(error)
        remedy = error.remedy if isinstance(error, ContraposeError) else "See that the Prefect server answers."
        return warning(NAME, f"{setting} of {CHECK}, seen from here: {found}", f"{remedy} The worker needs it.")
    return ok(NAME, f"{setting} of {CHECK}: {told}")
