"""Life cycle of a run: start or resume it, and record it in the response store and on the Prefect server."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext
from pydantic import ValidationError

from contrapose.flows.run_context import Run, resolve_run
from contrapose.flows.serve.temporary_server import is_server_kept
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ContraposeError
from contrapose.tasks.report.publish import make_run_id
from contrapose.tasks.store import Store
from contrapose.tasks.store.runs import RunRow, Runs
from contrapose.tasks.validate.wellformed import read_own_suites

LABEL = "contrapose.run"
"""Label of a flow run: id of the run that it began."""
STARTS = 5
"""A flow run that crashed so often will crash again: what crashes starts again by itself, and would never end."""
BUDGET = {"max_calls", "max_tokens", "max_cost"}
"""Keys that may change: they decide how far a run comes, and nothing that it finds."""


def begin_run(config: RunConfig, *, resumed: str | None = None, alone: bool = True) -> Run:
    """Resolve a configuration, and note in the response store that a run begins.

    Args:
        config: the run.
        resumed: id of an unfinished run that goes on; empty: the one that this flow run began before, if it did.
        alone: whether this flow run begins no other one.

    Raises:
        ConfigError: the run to be resumed is missing, has ended, is going on, or was begun with something else.
    """
    run = resolve_run(config)
    run, store = replace(run, suites=read_own_suites(config.expectations, run.plans)), Store().runs
    if resumed is not None:
        if (row := store.get(resumed)) is not None:
            refuse_other_config(config, row)
        store.resume(resumed)
        return replace(run, id=resumed)
    if alone and (earlier := find_earlier_start(store)) is not None and store.take_over(earlier):
        return replace(run, id=earlier)
    name = make_run_id(run.started.strftime("%Y%m%dT%H%M%SZ"), config)
    chosen = store.begin(name, config=config.model_dump_json(), folder=str(Path.cwd()))
    if alone and (flow_run := _find_kept_run()) is not None:
        with get_client(sync_client=True) as client:
            client.update_flow_run_labels(flow_run.id, {LABEL: chosen})
    return replace(run, id=chosen)


def mark_alive(run: Run) -> AbstractContextManager[None]:
    """Mark a run as running until the end of the context, so that nobody else resumes it."""
    return Store().runs.keep_alive(run.id)


def find_earlier_start(store: Runs) -> str | None:
    """Return the id of the unfinished run that this flow run began at an earlier start, or None.

    Raises ContraposeError if it was started too often.
    """
    flow_run = _find_kept_run()
    if flow_run is None or flow_run.run_count <= 1:
        return None
    if flow_run.run_count > STARTS:
        raise ContraposeError(
            f"the flow run was started {flow_run.run_count} times, and never came to its end",
            expected=f"at most {STARTS} starts",
            remedy="Its log shows why it ended. Start a new run: cached answers are reused.",
            where=flow_run.name,
        )
    with get_client(sync_client=True) as client:
        name = client.read_flow_run(flow_run.id).labels.get(LABEL)
    row = store.get(str(name)) if name else None
    return row.id if row is not None and row.state in ("running", "incomplete") else None


def _find_kept_run() -> FlowRun | None:
    """Return this flow run if a permanent server keeps it; None for a temporary server, which ends with the process."""
    context = FlowRunContext.get()
    return context.flow_run if context is not None and is_server_kept() else None


def read_begun_config(row: RunRow) -> RunConfig:
    """Return the configuration that a run began with; raise ConfigError if this version cannot read it."""
    try:
        return RunConfig.model_validate_json(row.config)
    except ValidationError as error:
        raise ConfigError(
            "the run was started by another version of Contrapose, whose configuration differs",
            expected="a configuration of this version",
            remedy="Start a new run: cached answers are reused.",
            where=row.id,
        ) from error


def refuse_other_config(config: RunConfig, row: RunRow) -> None:
    """Raise ConfigError if a configuration differs from the run's own in more than the budget."""
    own, wanted = (one.model_dump(mode="json", exclude=BUDGET) for one in (read_begun_config(row), config))
    if differing := [name for name in own if own[name] != wanted[name]]:
        raise ConfigError(
            f"the configuration is not the run's own: {', '.join(differing)}",
            expected=f"the same, but for {', '.join(sorted(BUDGET))}",
            remedy=f"`contrapose resume {row.id}` uses the run's own, or start a new run: cached answers are reused.",
            where=row.id,
        )
