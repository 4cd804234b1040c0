"""Columns beside a score: what was chosen, and the scores of the design documents."""

from __future__ import annotations

import math

from contrapose.tasks.probes.answers.reading import Reading
from contrapose.tasks.probes.choices import checks, in_words, step_of

Columns = dict[str, str | float | int | bool | None]


def choice_columns(reading: Reading) -> Columns:
    """Which options were chosen, by whatever the case is scored; none where there are no options."""
    case = reading.trial.case
    if not case.options:
        return {}
    return {
        "option_count": len(case.options),
        "chosen_before": None if reading.before is None else case.labels[reading.before.index],
        "chosen_after": None if reading.after is None else case.labels[reading.after.index],
        "chosen_before_step": step_of(reading.trial.expected, reading.before),
        "chosen_after_step": step_of(reading.trial.actual, reading.after),
        "js_divergence": reading.divergence,
        **in_words(reading.trial, None if reading.before is None else case.labels[reading.before.index]),
        **checks(reading.trial, changed=case.options),
    }


def document_columns(reading: Reading) -> Columns:
    """The scores of the design documents, where they are known, and whether letters make the first meaningless."""
    trial, case = reading.trial, reading.trial.case
    return {
        "embedding_score": reading.distance,
        "loss_score": less(trial.actual.loss, trial.expected.loss) if case.loss_of == "expected_result" else None,
        "letters_only": reading.letters if case.scorer == "embedding" else None,
    }


def less(first: float | None, second: float | None) -> float | None:
    """`first - second`; None where one is missing, or it is no finite number."""
    value = math.nan if first is None or second is None else first - second
    return value if math.isfinite(value) else None
