"""Prefect task: promote."""

from __future__ import annotations

from collections.abc import Callable

from contrapose.tasks.core.decision import Decision
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.promotion.promote import promote as promote_candidate
from contrapose.tasks.promotion.settings import Promotion


@room_task("promote", run_name="promote {model}", persist=False)
def promote(model: str, settings: Promotion, decision: Decision, confirm: Callable[[], None]) -> list[str]:
    """Do what follows a promotion of a model; `confirm` raises where somebody else is doing it."""
    return promote_candidate(settings, decision, confirm=confirm)
