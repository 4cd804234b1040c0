"""What became of the right answer, where it is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from contrapose.tasks.probes.answers.columns import Columns
from contrapose.tasks.probes.answers.reading import Reading
from contrapose.tasks.probes.choices import Choice
from contrapose.tasks.records import Case, Completion


def right_columns(reading: Reading) -> Columns:
    """`right_before`, `gold_lost` and `right_logprob_change`; none where the answer is unknown."""
    trial = reading.trial
    answer = trial.case.details.get("answer", "").strip()
    if not answer:
        return {}
    before = _given(trial.expected, reading.before, trial.case, answer)
    after = _given(trial.actual, reading.after, trial.case, answer)
    return {
        "right_before": None if trial.case.options and reading.before is None else before,
        "gold_lost": not after if before else None,
        "right_logprob_change": _logprob_change(reading, answer),
    }


def _given(completion: Completion, choice: Choice | None, case: Case, answer: str) -> bool:
    """Whether a reply gives the right answer: names its option, or, where it names none, holds its text."""
    if choice is not None:
        return case.options[choice.index].strip() == answer
    return _holds(" ".join((completion.text or "").casefold().split()), " ".join(answer.casefold().split()))


def _holds(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text, not inside of a longer word."""
    return any(
        not (left[-1:].isalnum() and phrase[:1].isalnum()) and not (right[:1].isalnum() and phrase[-1:].isalnum())
        for left, right in pairwise(text.split(phrase))
    )


def _logprob_change(reading: Reading, answer: str) -> float | None:
    """Log of the right option's softmax share after - before, in nats; None without log-likelihoods of options."""
    trial = reading.trial
    before, after = trial.expected.option_loglikelihoods, trial.actual.option_loglikelihoods
    place = next((place for place, option in enumerate(trial.case.options) if option.strip() == answer), None)
    if before is None or after is None or place is None or reading.before is None or reading.after is None:
        return None
    change = _log_share(after, place) - _log_share(before, place)
    return change if math.isfinite(change) else None


def _log_share(values: Sequence[float], place: int) -> float:
    """Log of a softmax share; the share itself may be too small for a number."""
    top = max(values)
    return values[place] - top - math.log(math.fsum(math.exp(value - top) for value in values))
