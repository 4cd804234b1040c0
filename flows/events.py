"""What a run tells Prefect's event stream when it ends, so that automations can act on its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefect.events import emit_event
from prefect.settings import PREFECT_API_URL

if TYPE_CHECKING:
    from contrapose.flows.corridor import Published

FINISHED = "contrapose.finished"


def tell_finished(published: Published) -> None:
    """Emit `contrapose.finished`; the verdict is a label of its resource, because triggers do not see the payload.

    Prefect's temporary server has no automations, and would only be kept waiting.
    """
    if not PREFECT_API_URL.value():
        return
    summary = published["summary"]
    emit_event(
        event=FINISHED,
        resource={
            "prefect.resource.id": f"contrapose.run.{published['run']}",
            "prefect.resource.name": published["run"],
            "contrapose.verdict": summary["verdict"],
        },
        payload={
            "verdict": summary["verdict"],
            "reason": summary["reason"],
            "suite": summary["suite"],
            "model": summary["model"]["id"],
            "folder": published["folder"],
        },
    )
