"""The gates between stages: valid tables pass, others stop the run and leave their evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from contrapose.flows.run_context import Run
from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.validation import Checked, Kind, Suite, blocking_findings
from contrapose.tasks.report.publish import free_folder
from contrapose.tasks.report.validation import ValidationHead, refusal, write_evidence
from contrapose.tasks.store import Store
from contrapose.tasks.validate.gates import sift
from contrapose.tasks.validate.kinds import Handed


def admit(run: Run, checked: list[Checked]) -> list[Checked]:
    """Return the tables, when all of them are valid; raise GateError otherwise, and leave the rows in a folder."""
    if not any(map(blocking_findings, checked)):
        return checked
    folder = free_folder(Place.at(run.config.output, setting="output"), f"{run.id}-refused")
    started = run.started.isoformat(timespec="seconds")
    head = ValidationHead(run_id=run.id, model=run.config.model, suite=run.config.suite, started=started)
    write_evidence(folder.resolved(), head, checked, show_toxic=run.config.show_toxic)
    # Going on would end here again, and the store keeps what was answered.
    Store().runs.end(run.id, "finished")
    raise refusal(checked, folder=folder, show_toxic=run.config.show_toxic)


def hold(kind: Kind, parts: Iterable[pa.Table], plan: Plan, *, handed: Handed, own: Sequence[Suite]) -> Checked:
    """Check a table that no run has made yet by its suites; of the rows that break them none are kept."""
    sifted = sift(kind, parts, plan, handed=handed, own=own)
    return Checked(test=plan.test, table=kind, rows=sifted.rows, findings=sifted.findings, broken=None)


def refuse_bad(checked: Sequence[Checked], *, show_toxic: bool) -> None:
    """Raise GateError unless all of these tables are valid."""
    if any(map(blocking_findings, checked)):
        raise refusal(checked, show_toxic=show_toxic)
