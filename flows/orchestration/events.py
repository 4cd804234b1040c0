"""What a run tells Prefect's event stream, so that automations can act on its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from prefect.events import emit_event

from contrapose.flows.serve.temporary_server import is_kept

if TYPE_CHECKING:
    from contrapose.flows.reporting import Published

FINISHED = "contrapose.finished"


def tell_finished(published: Published) -> None:
    """Emit `contrapose.finished`."""
    summary = published["summary"]
    emit_verdict(
        FINISHED,
        resource={
            "prefect.resource.id": f"contrapose.run.{published['run']}",
            "prefect.resource.name": published["run"],
        },
        payload={
            "verdict": summary["verdict"],
            "reason": summary["reason"],
            "suite": summary["suite"],
            "model": summary["model"]["id"],
            "folder": published["folder"],
        },
    )


def emit_verdict(
    event: str, *, resource: Mapping[str, str], payload: dict[str, Any], number: UUID | None = None
) -> None:
    """Emit an event with a verdict, which is a label of its resource, too: triggers do not see the payload.

    Prefect's temporary server has no automations, and would only be kept waiting.

    Args:
        event: its name.
        resource: what it is about.
        payload: the verdict, and what goes with it.
        number: id of the event, where the same one may be told again; empty: a new one.
    """
    if is_kept():
        labelled = {**resource, "contrapose.verdict": str(payload["verdict"])}
        emit_event(event, resource=labelled, payload=payload, id=number)
