"""What the Prefect artifacts hold: the verdicts as a table, under keys that make a history."""

from __future__ import annotations

import re

from contrapose.tasks.outcome import Outcome


def verdict_row(outcome: Outcome, *, model: str) -> dict[str, str | int | float | None]:
    """One test as plain Python values: the Prefect UI breaks on anything else."""
    low, high = outcome["interval"] or (None, None)
    control = outcome["control"]
    return {
        "test": outcome["test_type"],
        "model": model,
        "verdict": outcome["verdict"],
        "pass_rate": outcome["pass_rate"],
        "low_95": low,
        "high_95": high,
        "min_pass_rate": outcome["min_pass_rate"],
        "chance": outcome["chance"],
        **({"noise": control["noise"]} if control else {}),
        "scored": outcome["scored"],
        "cases": outcome["cases"],
        "errors": outcome["errors"],
        "reason": outcome["reason"],
    }


def artifact_key(suite: str, model: str) -> str:
    """Lower case letters, digits and dashes only."""
    return re.sub(r"[^a-z0-9]+", "-", f"contrapose-{suite}-{model}".lower()).strip("-")
