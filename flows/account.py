"""What a run was and what it took, for its summary and its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from platform import platform
from typing import Any

from contrapose.flows.entrance import Run
from contrapose.tasks.core.outcome import ModelSummary, Summary, UsageSummary
from contrapose.tasks.report.publish import git_commit, versions
from contrapose.tasks.store import open_runs

Notes = Mapping[str, Mapping[str, str | float]]
"""What the model says of each test about how it computed."""


def model_summary(run: Run, *, notes: Notes) -> ModelSummary:
    """Which model answered."""
    found = run.identity
    summary = ModelSummary(
        id=run.config.model,
        provider=run.spec.provider,
        revision=found["revision"],
        dtype=found["dtype"],
        device=found["device"],
    )
    forms = [str(each["constrained"]) for each in notes.values() if "constrained" in each]
    return ModelSummary(**summary, constrained=forms[0]) if forms else summary


def usage_summary(run: Run) -> UsageSummary:
    """What the run has spent, from the store, which knows it through any crash."""
    row = open_runs().get(run.id)
    if row is None:
        raise LookupError(f"run {run.id} is not in the store")
    return UsageSummary(
        calls=row.answers,
        from_store=max(row.hits, 0),
        requests=row.requests,
        failures=row.failures,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost=None if run.price is None else round(run.price.of(row.spent), 6),
        latency={f"p{share * 100:.0f}": round(seconds, 4) for share, seconds in row.latency.items()},
    )


def manifest(run: Run, summary: Summary, *, notes: Notes) -> dict[str, Any]:
    """All that is needed to repeat the run. The configuration holds no secret by construction."""
    return {
        "run_id": summary["run_id"],
        "started": summary["started"],
        "seconds": summary["seconds"],
        "timings": run.timings,
        "config": run.config.model_dump(mode="json"),
        "model": dict(run.identity),
        "inference": {test: dict(found) for test, found in notes.items()},
        "data": {outcome["test_type"]: outcome["data"] for outcome in summary["tests"]},
        "probes": {outcome["test_type"]: outcome["probe_version"] for outcome in summary["tests"]},
        "usage": summary["usage"],
        "price": None if run.price is None else run.price.model_dump(mode="json"),
        "versions": versions() | {name: found for plan in run.plans for name, found in plan.versions.items()},
        "git_commit": git_commit(),
        "platform": platform(),
    }
