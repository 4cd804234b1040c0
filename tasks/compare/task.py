"""Prefect task: compare."""

from __future__ import annotations

from contrapose.tasks.compare.compare import compare as compare_runs
from contrapose.tasks.core.comparison import Comparison
from contrapose.tasks.core.policy import room_task


@room_task("compare", run_name="compare with {baseline}", persist=False)
def compare(folders: list[str], baseline: str, margin: float) -> Comparison:
    """Compare finished runs with one of them; a loss of pass rate up to the margin is still called not worse."""
    return compare_runs(folders, baseline=baseline, margin=margin)
