"""Prefect task that promotes a retrained model: it moves an MLflow alias and calls a webhook."""

from __future__ import annotations

from collections.abc import Callable

from contrapose.tasks.core.decision import Decision
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.promotion.promote import promote as promote_candidate
from contrapose.tasks.promotion.settings import Promotion


@room_task("promote", run_name="promote {model}", persist=False)
def promote(model: str, settings: Promotion, decision: Decision, confirm: Callable[[], None]) -> list[str]:
    """Promote a model; `confirm` raises an error if another process is doing it."""
    return promote_candidate(settings, decision, confirm=confirm)
