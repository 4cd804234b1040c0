"""Task: infer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from contrapose.tasks.config import ModelSpec
from contrapose.tasks.infer.base import Model, ask, failed
from contrapose.tasks.policy import room_task
from contrapose.tasks.records import Case, Trial
from contrapose.tasks.registry import find
from contrapose.tasks.tables import Table, read, write


@room_task(
    "infer",
    sources=("tasks/infer", "tasks/records.py", "tasks/tables.py"),
    run_name="infer {label}",
    unkeyed=("label", "previous"),
)
def infer(
    label: str, cases: Table, spec: ModelSpec, identity: Mapping[str, str], previous: Table | None = None
) -> Table:
    """Put some cases to the model.

    Args:
        label: which part of which test, for people.
        cases: cases without a skip reason.
        spec: the model and its settings.
        identity: what the provider found the model to be; part of the cache key.
        previous: trials of the same cases, some of which failed: only those are asked again.
    """
    known = [trial for trial in read(previous, Trial) if not failed(trial)] if previous else []
    answered = {trial.case.id: trial for trial in known}
    todo = [case for case in read(cases, Case) if case.id not in answered]
    answered |= {trial.case.id: trial for trial in ask(todo, _open(spec.model_dump_json()))}
    return write([answered[case.id] for case in read(cases, Case)], Trial)


@lru_cache(maxsize=1)
def _open(spec: str) -> Model:
    """One loaded model a process; the next task run of the same model finds it ready."""
    chosen = ModelSpec.model_validate_json(spec)
    model: Model = find("providers", chosen.provider)().open(chosen)
    return model
