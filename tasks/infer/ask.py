"""Cases put to a model: what is known is looked up, what is open is asked once, and trials come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from contrapose.tasks.core.records import Case, Completion, FollowUp, Trial
from contrapose.tasks.infer.base import UNASKED, Form, Model, Question
from contrapose.tasks.infer.desk import StoreDesk
from contrapose.tasks.infer.meter import current_meter
from contrapose.tasks.infer.questions import about, answered, asked, in_words, losses, trials

POLL_SECONDS = 0.2
"""How often to look for answers that another run is asking for."""
IDLE_ROUNDS = 20
"""Rounds without an answer after which a model is broken: others may have taken what it was about to ask."""


def ask(cases: Sequence[Case], desk: StoreDesk, *, model: Callable[[], Model], form: Form = "plain") -> list[Trial]:
    """Put both prompts of every case to a model.

    Args:
        cases: cases without a skip reason.
        desk: between the model and the store.
        model: opens the model; called only when something must be asked.
        form: in which letters are asked for.

    Returns:
        One trial per case, in order. A failed call is a completion with `error`, never an answer.
    """
    meter = current_meter()
    end = meter.done + sum(map(weight, cases))
    settle(asked(cases, form=form), desk, model=model)
    settle(losses(cases, desk.answers), desk, model=model)
    settle(in_words(cases), desk, model=model)
    meter.done = end
    return trials(cases, desk.answers, missing=lambda: Completion(error=f"{UNASKED}: {desk.stopped}"), form=form)


def ask_back(
    trials: Sequence[Trial], follow_ups: Sequence[FollowUp], desk: StoreDesk, *, model: Callable[[], Model]
) -> list[Trial]:
    """Put questions about replies to a model.

    Args:
        trials: with the replies.
        follow_ups: about some of them.
        desk: between the model and the store.
        model: opens the model; called only when something must be asked.

    Returns:
        The trials, with what the model said of each reply. A failed call says nothing, and is no error of the trial.
    """
    meter = current_meter()
    end = meter.done + len(follow_ups)
    settle(list(dict.fromkeys(map(about, follow_ups))), desk, model=model)
    meter.done = end
    return answered(trials, follow_ups, desk.answers)


def weight(case: Case) -> int:
    """How many questions a case has, those that it shares with others too."""
    return (2 if case.loss_of is None else 4) + case.also_in_words


def unasked(trial: Trial) -> bool:
    """Whether something in a trial was not asked because the run was stopped."""
    errors = (trial.expected.error, trial.actual.error)
    return any(error is not None and error.startswith(UNASKED) for error in errors)


def settle(questions: Sequence[Question], desk: StoreDesk, *, model: Callable[[], Model]) -> None:
    """Have every question answered or given up, unless the desk is stopped.

    What another run is asking is waited for; when that run ends without an answer, it is asked here.
    """
    desk.look_up(questions)
    idle = 0
    while desk.open(questions) and not desk.stopped:
        known = len(desk.answers)
        model().answer(questions, desk)
        _wait(questions, desk)
        idle = idle + 1 if len(desk.answers) == known else 0
        if idle == IDLE_ROUNDS:
            raise RuntimeError("the model leaves questions open that nobody else is asking")


def _wait(questions: Sequence[Question], desk: StoreDesk) -> None:
    """Look up what others have answered, for as long as they are asking all that is open."""
    while (left := desk.open(questions)) and not desk.stopped:
        time.sleep(POLL_SECONDS)
        desk.look_up(left)
        if len(desk.busy(left)) < len(left):
            return
