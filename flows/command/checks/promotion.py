"""What the deployed retraining check needs after `promote`: the webhook's secret, and MLflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from contrapose.flows.command.checks.base import Finding, ok, warning, within
from contrapose.flows.command.wishes import CHECK
from contrapose.tasks.errors import ContraposeError
from contrapose.tasks.extras import require
from contrapose.tasks.promotion.promote import webhook_secret

if TYPE_CHECKING:
    from contrapose.flows.command.checks.on_server import OnServer

NAME = "promotion"


def findings(found: OnServer) -> Iterator[Finding]:
    """A line for each step that the deployment asks for; none where it asks for nothing."""
    check = found.deployments.get(CHECK)
    wanted = check.parameters.get("promotion") if check else None
    if not isinstance(wanted, dict):
        return
    if wanted.get("webhook"):
        yield _ready("webhook", "its secret is found", webhook_secret)
    if wanted.get("mlflow_alias"):
        yield _ready("mlflow_alias", "MLflow is installed", _mlflow)


def _mlflow() -> None:
    require("mlflow", extra="mlflow", where="promotion.mlflow_alias")


def _ready(setting: str, told: str, needed: Callable[[], object]) -> Finding:
    """Whether a step could be done from here; the worker, which does it, may be on another machine."""
    try:
        within(needed)
    except (ContraposeError, TimeoutError) as error:
        found = error.found if isinstance(error, ContraposeError) else str(error)
        remedy = error.remedy if isinstance(error, ContraposeError) else "See that the Prefect server answers."
        return warning(NAME, f"{setting} of {CHECK}, seen from here: {found}", f"{remedy} The worker needs it.")
    return ok(NAME, f"{setting} of {CHECK}: {told}")
