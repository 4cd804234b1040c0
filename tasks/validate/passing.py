"""Whether a verdict is what the score and the threshold say, computed apart from the code that gave it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from contrapose.tasks.plan import Plan
from contrapose.tasks.probes.values import numbers_of, truths_of
from contrapose.tasks.registry import probe


def wrong_verdict(part: pa.Table, plan: Plan) -> pa.Array:
    """Whether a row's verdict contradicts its score; False where there is none, or the test's rule says nothing."""
    judged = np.asarray(part["pass"].is_valid().to_numpy()) & ~np.isnan(numbers_of(part, "eval_score"))
    expected = probe(plan.test).expected_pass(part, plan.probe_settings)
    return pa.array(judged & ~np.isnan(expected) & (expected != truths_of(part, "pass")))
