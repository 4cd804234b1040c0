"""How the verdict on a retrained model is told: the event `contrapose.verdict` and an artifact."""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from prefect.artifacts import create_markdown_artifact

from contrapose.flows.events import emit_verdict
from contrapose.tasks.core.decision import Decision
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.promotion.candidate import Candidate
from contrapose.tasks.promotion.settings import VERDICT, resource
from contrapose.tasks.report.artifacts import artifact_key
from contrapose.tasks.report.decision_markdown import render


def tell(decision: Decision, *, suite: str) -> None:
    """Emit the event, and show the verdict in Prefect."""
    payload = {
        "verdict": decision["verdict"],
        "reasons": decision["reasons"],
        "revision": decision["revision"],
        "training_run": decision["training_run"],
        "runs": {"candidate": decision["candidate"]["folder"], "baseline": decision["baseline"]["folder"]},
        "folder": decision["folder"],
        "check": decision["check"],
        "answer": decision["answer"],
    }
    _emit(decision["model"], payload, moment=decision["decided"])
    create_markdown_artifact(
        key=artifact_key(suite, "retrained"),
        markdown=f"{render(decision).decode()}\n\nFolder: `{decision['folder']}`\n",
        description=f"{decision['verdict'].capitalize()}: {decision['model']} {decision['revision']}".strip(),
    )


def tell_failure(candidate: Candidate, error: Exception, *, check: str) -> None:
    """Emit the event for a check that came to no verdict."""
    # Other errors may hold anything in their text: only their kind is told.
    reason = str(error) if isinstance(error, ContraposeError) else type(error).__name__
    payload: dict[str, Any] = {
        "verdict": "insufficient evidence",
        "reasons": [f"The check failed. {reason}"],
        "revision": candidate.revision,
        "training_run": candidate.training_run,
        "runs": {},
        "folder": "",
        "check": check,
        "answer": None,
    }
    _emit(candidate.model, payload, moment=None)


def _emit(model: str, payload: dict[str, Any], *, moment: str | None) -> None:
    """One event for one verdict, even where a run that was interrupted tells it again."""
    number = uuid5(NAMESPACE_URL, f"{VERDICT}/{payload['check']}/{moment}") if moment else None
    emit_verdict(VERDICT, resource=resource(model), payload=payload, number=number)
