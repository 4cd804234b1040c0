"""What a run was and what it took, for its summary and its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from platform import platform
from typing import Any

from contrapose.flows.entrance import Run
from contrapose.flows.reader import Reader
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import Price, cost_of
from contrapose.tasks.core.outcome import ModelSummary, ReaderUsage, Summary, UsageSummary
from contrapose.tasks.report.publish import git_commit, versions
from contrapose.tasks.store import open_runs
from contrapose.tasks.store.runs import Reading

Notes = Mapping[str, Mapping[str, str | float]]
"""What the model says of each test about how it computed."""


def model_summary(run: Run, *, notes: Notes) -> ModelSummary:
    """Which model answered."""
    summary = described(run.spec, run.identity)
    forms = [str(each["constrained"]) for each in notes.values() if "constrained" in each]
    return ModelSummary(**summary, constrained=forms[0]) if forms else summary


def described(spec: ModelSpec, found: Mapping[str, str]) -> ModelSummary:
    """A model, as it was asked for and as its provider found it."""
    return ModelSummary(
        id=spec.id,
        provider=spec.provider,
        revision=found["revision"],
        dtype=found["dtype"],
        device=found["device"],
    )


def usage_summary(run: Run) -> UsageSummary:
    """What the run has spent, from the store, which knows it through any crash."""
    row = open_runs().get(run.id)
    if row is None:
        raise LookupError(f"run {run.id} is not in the store")
    taken, price = row.reading.spent, run.reader.price if run.reader else None
    usage = UsageSummary(
        calls=row.answers,
        from_store=max(row.hits, 0),
        requests=row.requests,
        failures=row.failures,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost=_rounded(cost_of((row.spent - taken, run.price), (taken, price))),
        latency={f"p{share * 100:.0f}": round(seconds, 4) for share, seconds in row.latency.items()},
    )
    return UsageSummary(**usage, reader=_reader_usage(run.reader, row.reading)) if run.reader else usage


def _reader_usage(reader: Reader, taken: Reading) -> ReaderUsage:
    return ReaderUsage(
        model=reader.spec.id,
        calls=taken.answers,
        requests=taken.requests,
        failures=taken.failures,
        prompt_tokens=taken.prompt_tokens,
        completion_tokens=taken.completion_tokens,
        cost=_rounded(None if reader.price is None else reader.price.of(taken.spent)),
    )


def _rounded(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 6)


def manifest(run: Run, summary: Summary, *, notes: Notes) -> dict[str, Any]:
    """All that is needed to repeat the run. The configuration holds no secret by construction."""
    return {
        "run_id": summary["run_id"],
        "started": summary["started"],
        "seconds": summary["seconds"],
        "timings": run.timings,
        "config": run.config.model_dump(mode="json"),
        "model": dict(run.identity),
        **({"reader": dict(run.reader.identity)} if run.reader else {}),
        "inference": {test: dict(found) for test, found in notes.items()},
        "data": {outcome["test_type"]: outcome["data"] for outcome in summary["tests"]},
        "probes": {outcome["test_type"]: outcome["probe_version"] for outcome in summary["tests"]},
        "usage": summary["usage"],
        "price": _dumped(run.price),
        **({"reader_price": _dumped(run.reader.price)} if run.reader else {}),
        "versions": versions() | {name: found for plan in run.plans for name, found in plan.versions.items()},
        "git_commit": git_commit(),
        "platform": platform(),
    }


def _dumped(price: Price | None) -> dict[str, Any] | None:
    return None if price is None else price.model_dump(mode="json")
