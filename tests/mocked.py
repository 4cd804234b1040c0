"""Trials on the mock model, without a store or a run."""

from __future__ import annotations

from collections.abc import Iterable

from contrapose.tasks.core.records import Case, Completion, Trial
from contrapose.tasks.infer.ask import list_losses, list_questions, make_trials
from contrapose.tasks.infer.mock import MockModel


def mocked(cases: Iterable[Case]) -> list[Trial]:
    """The trials of the cases that are not skipped, in order."""
    chosen, model = [case for case in cases if case.skip_reason is None], MockModel()
    answers = {question: model.completion(question) for question in list_questions(chosen)}
    answers |= {question: model.completion(question) for question in list_losses(chosen, answers)}
    return make_trials(chosen, answers, missing=Completion(error="missing"))
