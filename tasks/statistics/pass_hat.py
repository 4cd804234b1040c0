"""pass^k and pass@k: the chance that all, or any, of k trials of a task pass."""

from __future__ import annotations

from math import comb

import numpy as np

from contrapose.tasks.statistics.means import Mean, mean


def estimate_pass_hat(
    passed: np.ndarray, trials: np.ndarray, cluster: np.ndarray, k: int, *, any_of_them: bool = False
) -> Mean | None:
    """Return pass^k over the tasks with at least k trials, or pass@k (`any_of_them`); None where no task has as many.

    All are (tasks,): trials that passed, trials, and labels of the groups of tasks that are not independent. The
    estimate is unbiased: the mean over tasks of C(c, k) / C(n, k), with c of n trials passed. Sources: S. Yao et al.,
    tau-bench, arXiv 2406.12045 (pass^k); M. Chen et al., arXiv 2107.03374 (pass@k). The interval covers the choice of
    the tasks: tasks, or their groups, are drawn, and the trials of a task never count as independent of each other.
    """
    enough = trials >= k
    if not enough.any():
        return None
    counts = (trials - passed if any_of_them else passed)[enough]
    chances = [comb(int(count), k) / comb(int(total), k) for count, total in zip(counts, trials[enough], strict=True)]
    values = np.abs(float(any_of_them) - np.array(chances))
    return mean(values, cluster[enough], share=bool(np.isin(values, (0, 1)).all()), bounds=(0.0, 1.0))
