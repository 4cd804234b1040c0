"""What happens at a gate: sound tables pass, others stop the run and leave their evidence."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from contrapose.flows.entrance import Run
from contrapose.tasks.config import Plan, RunConfig
from contrapose.tasks.report.publish import free_folder
from contrapose.tasks.report.refusal import Refused, refusal, write_evidence
from contrapose.tasks.validate.gates import sift
from contrapose.tasks.validate.kinds import Handed
from contrapose.tasks.validate.wellformed import own_suites
from contrapose.tasks.validation import Checked, refused


def admit(run: Run, checked: list[Checked]) -> list[Checked]:
    """The tables, when all of them are sound.

    Raises:
        GateError: one is not; a folder that it names holds the rows.
    """
    if not any(map(refused, checked)):
        return checked
    folder = free_folder(Path(run.config.output), f"{run.id}-refused")
    stopped = Refused(
        run_id=run.id,
        model=run.config.model,
        suite=run.config.suite,
        started=run.started.isoformat(timespec="seconds"),
        checked=tuple(checked),
        show_toxic=run.config.show_toxic,
    )
    write_evidence(folder.resolve(), stopped)
    raise refusal(checked, folder=folder, show_toxic=run.config.show_toxic)


def refuse_bad_cases(parts: Iterable[pa.Table], plan: Plan, config: RunConfig) -> None:
    """Raise GateError unless cases that no run has made yet are sound; what they were made from is not looked at."""
    own = own_suites(config.expectations, [plan])
    given = Handed(parameters={"test": [plan.test]})
    sifted = sift("cases", parts, plan, handed=given, own=own)
    checked = Checked(test=plan.test, table="cases", rows=sifted.rows, findings=sifted.findings, broken=None)
    if refused(checked):
        raise refusal([checked], show_toxic=config.show_toxic)
