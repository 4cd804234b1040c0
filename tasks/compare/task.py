"""Prefect task that compares finished runs."""

from __future__ import annotations

from contrapose.tasks.compare.compare import compare as compare_runs
from contrapose.tasks.core.comparison import Comparison
from contrapose.tasks.core.policy import room_task


@room_task("compare", run_name="compare with {baseline}", persist=False)
def compare(folders: list[str], baseline: str, margin: float) -> Comparison:
    """Compare finished runs with the baseline among them; a loss of pass rate up to the margin is "not worse"."""
    return compare_runs(folders, baseline=baseline, margin=margin)
