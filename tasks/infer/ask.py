"""Ask a model the questions of cases, each distinct one once, and return trials."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from contrapose.tasks.core.questions import UNASKED, Form, Question
from contrapose.tasks.core.records import LEAST_LABEL_MASS, READ_BY, Case, Completion, FollowUp, Trial
from contrapose.tasks.core.reply_outcomes import WITHHELD
from contrapose.tasks.infer.base import Model
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.meter import current_meter
from contrapose.tasks.tables.columnar import garbage_collection_paused

POLL_SECONDS = 0.2
"""How often to check for answers that another run is asking for."""
IDLE_ROUNDS = 20
"""Rounds without an answer after which a model is broken: others may have taken what it was about to ask."""


def ask(cases: Sequence[Case], broker: StoreBroker, *, model: Callable[[], Model], form: Form = "plain") -> list[Trial]:
    """Ask a model both prompts of every case, and return the trials."""
    meter = current_meter()
    # Questions that cases share count for each of them.
    further = sum((0 if case.loss_of is None else 2) + case.also_in_words + 2 * case.also_again for case in cases)
    end = meter.done + 2 * len(cases) + further
    with garbage_collection_paused():
        first = list_questions(cases, form=form)
    answer_all(first, broker, model=model)
    answer_all(list_fallbacks(cases, broker.answers), broker, model=model)
    answer_all(list_losses(cases, broker.answers), broker, model=model)
    answer_all(list_extras(cases, broker.answers, form=form), broker, model=model)
    meter.done = end
    with garbage_collection_paused():
        return make_trials(cases, broker.answers, missing=Completion(error=f"{UNASKED}: {broker.stopped}"), form=form)


def ask_about_replies(
    trials: Sequence[Trial], follow_ups: Sequence[FollowUp], broker: StoreBroker, *, model: Callable[[], Model]
) -> list[Trial]:
    """Ask the reader model what replies mean, and return the trials with its answers."""
    meter = current_meter()
    end = meter.done + len(follow_ups)
    answer_all(list(dict.fromkeys(map(make_reader_question, follow_ups))), broker, model=model)
    meter.done = end
    return add_reader_answers(trials, follow_ups, broker.answers)


def is_unasked(trial: Trial) -> bool:
    """Return whether a prompt of a trial was not asked because the run was stopped."""
    errors = (trial.expected.error, trial.actual.error)
    return any(error is not None and error.startswith(UNASKED) for error in errors)


def answer_all(questions: Sequence[Question], broker: StoreBroker, *, model: Callable[[], Model]) -> None:
    """Ask until every question is answered or given up, or the broker is stopped.

    Questions that another run is asking are waited for; when that run ends without an answer, they are asked here.
    """
    broker.look_up(questions)
    idle = 0
    left = broker.open_questions(questions)
    while left and not broker.stopped:
        known = len(broker.answers)
        model().answer(questions, broker)
        # Look up answers of others, for as long as they are asking all that is open.
        while (left := broker.open_questions(questions)) and not broker.stopped:
            time.sleep(POLL_SECONDS)
            broker.look_up(left)
            if len(broker.busy(left)) < len(left):
                break
        left = broker.open_questions(left)
        idle = idle + 1 if len(broker.answers) == known else 0
        if idle == IDLE_ROUNDS:
            raise RuntimeError("the model leaves questions open that nobody else is asking")


Answers = Mapping[Question, Completion]

LETTER_SCORERS = ("choice", "reply")
"""Scorers that read a letter out of a reply; all others judge what it says."""


def list_questions(cases: Iterable[Case], *, form: Form = "plain") -> list[Question]:
    """Return the distinct questions of cases that need no earlier answer, in order; `form`: for letters."""
    return list(dict.fromkeys(question for case in cases for question in _make_question_pair(case, form)))


def list_letter_questions(cases: Iterable[Case], *, form: Form) -> list[Question]:
    """Return the distinct questions of cases whose reply should be a letter, in order, in that form."""
    return list_questions([case for case in cases if is_letter_wanted(case)], form=form)


def is_letter_wanted(case: Case) -> bool:
    """Return whether the replies to a case are read only as one of its letters."""
    lettered = case.scorer in LETTER_SCORERS and READ_BY not in case.details
    return case.asks == "generate" and lettered and len(case.labels) > 1


def resolve_case(case: Case, answers: Answers) -> Case:
    """Return the case as it is scored: by its replies if its labels have too little of the probability.

    Both prompts are judged in the same way, so one of them is enough. Where one of them has no answer, nothing changes:
    it is missing, it failed, or it was withheld.
    """
    if case.asks != "choose":
        return case
    pair = [answers.get(question) for question in _make_question_pair(case)]
    if any(chosen is None or chosen.error or chosen.outcome != "answered" for chosen in pair):
        return case
    masses = [compute_label_mass(chosen) for chosen in pair if chosen is not None]
    if not any(mass is not None and mass < LEAST_LABEL_MASS for mass in masses):
        return case
    return switch_to_replies(case)


def switch_to_replies(case: Case) -> Case:
    """Return a case that compares replies instead of likelihoods."""
    scorer = "reply" if case.scorer == "likelihood" else case.scorer
    return replace(case, asks="generate", scorer=scorer, also_in_words=False)


def compute_label_mass(chosen: Completion) -> float | None:
    """Return the share of the probability on the labels, 0 to 1, in an answer that compares them; None: unknown.

    Answers of older versions do not have it: there it is the sum over labels in one spelling each.
    """
    if chosen.label_mass is not None or chosen.outcome != "answered":
        return chosen.label_mass
    if chosen.option_loglikelihoods is None:
        # None of the labels was among the likeliest tokens.
        return 0.0
    mass = math.fsum(map(math.exp, chosen.option_loglikelihoods))
    return min(mass, 1.0) if mass == mass else None


def list_fallbacks(cases: Iterable[Case], answers: Answers) -> list[Question]:
    """Return the distinct questions whose replies replace likelihoods that decide nothing."""
    return list_questions(read for case in cases if (read := resolve_case(case, answers)) is not case)


def list_losses(cases: Iterable[Case], answers: Answers) -> list[Question]:
    """Return the distinct questions for losses that the scorers need, for cases whose prompts were answered."""
    wanted = (_make_loss_pair(resolve_case(case, answers), answers) for case in cases if case.loss_of is not None)
    return list(dict.fromkeys(question for pair in wanted for question in pair))


def list_extras(cases: Iterable[Case], answers: Answers | None = None, *, form: Form = "plain") -> list[Question]:
    """Return the distinct extra questions of cases: a prompt also answered in words, or prompts asked once more.

    A prompt that was withheld is not asked in another way.
    """
    known = answers or {}
    questions: dict[Question, None] = {}
    for case in (resolve_case(case, known) for case in cases if case.also_in_words or case.also_again):
        pair = _make_question_pair(case, form)
        further = _make_extra_questions(case, pair)
        replies = (known.get(question) for question in pair[: len(further)])
        if not any(reply is not None and reply.outcome in WITHHELD for reply in replies):
            questions.update(dict.fromkeys(further))
    return list(questions)


def make_reader_question(follow_up: FollowUp) -> Question:
    """Return the question to the reader model about a reply; equal replies to equal options give one question."""
    return Question(kind="generate", prompt=follow_up.prompt)


def add_reader_answers(trials: Sequence[Trial], follow_ups: Iterable[FollowUp], answers: Answers) -> list[Trial]:
    """Return the trials with the answers of the reader model; a reply without an answer stays as it is."""
    own = [follow_up for follow_up in follow_ups if not follow_up.made_up]
    said = {(follow_up.case_id, follow_up.side): text for follow_up, text in collect_answers(own, answers).items()}

    def with_answer(reply: Completion, key: tuple[str, str]) -> Completion:
        return replace(reply, asked_back=said[key]) if key in said else reply

    return [
        replace(
            trial,
            expected=with_answer(trial.expected, (trial.case.id, "expected")),
            actual=with_answer(trial.actual, (trial.case.id, "actual")),
        )
        for trial in trials
    ]


def collect_answers(follow_ups: Iterable[FollowUp], answers: Answers) -> dict[FollowUp, str]:
    """Return the answer of the reader model to each question; questions without an answer are left out."""
    said = ((follow_up, answers.get(make_reader_question(follow_up))) for follow_up in follow_ups)
    return {one: answer.text for one, answer in said if answer and not answer.error and answer.text is not None}


def make_trials(cases: Sequence[Case], answers: Answers, *, missing: Completion, form: Form = "plain") -> list[Trial]:
    """Return one trial for each case, in order; `missing` replaces an answer that is not there."""
    return [_make_trial(case, answers, missing, form) for case in cases]


def _make_trial(case: Case, answers: Answers, missing: Completion, form: Form) -> Trial:
    chosen = _make_question_pair(case, form)
    case = resolve_case(case, answers)
    pair = _make_question_pair(case, form) if case.asks == chosen[0].kind else _make_question_pair(case)
    first, second = answers.get(pair[0], missing), answers.get(pair[1], missing)
    if chosen[0].kind == "choose":
        first, second = (
            reply if reply.error else replace(reply, label_mass=compute_label_mass(answers[question]))
            for reply, question in zip((first, second), chosen, strict=True)
        )
    if case.loss_of is not None and not (first.error or second.error):
        before, after = (answers.get(question, missing) for question in _make_loss_pair(case, answers))
        first = replace(first, loss=before.loss, error=before.error)
        second = replace(second, loss=after.loss, error=after.error)
    replies = [first, second]
    for place, question in enumerate(_make_extra_questions(case, pair)):
        further, reply = answers.get(question), replies[place]
        # A reply that failed is no error of the case, whose own answers are there.
        if further is not None and not further.is_unread and further.text is not None and not reply.error:
            text = further.text
            replies[place] = replace(reply, in_words=text) if case.also_in_words else replace(reply, again=text)
    return Trial(case=case, expected=replies[0], actual=replies[1])


def _make_extra_questions(case: Case, pair: tuple[Question, Question]) -> tuple[Question, ...]:
    """Return the extra questions of a case: none, one in words, or both prompts asked once more."""
    if case.also_in_words:
        return (Question(kind="generate", prompt=case.original_prompt),)
    return tuple(replace(question, repeat=case.repeat + 1) for question in pair) if case.also_again else ()


def _make_question_pair(case: Case, form: Form = "plain") -> tuple[Question, Question]:
    if case.perturbed_prompt is None:
        raise ValueError(f"case {case.id} is skipped ({case.skip_reason}) and must not be asked")
    form = form if form != "plain" and is_letter_wanted(case) and case.loss_of is None else "plain"
    asks, repeat = case.asks, case.repeat
    labels = case.labels if asks == "choose" or form != "plain" else ()
    return (
        Question(kind=asks, prompt=case.original_prompt, labels=labels, repeat=repeat, form=form),
        Question(kind=asks, prompt=case.perturbed_prompt, labels=labels, repeat=repeat, form=form),
    )


def _make_loss_pair(case: Case, answers: Answers) -> tuple[Question, ...]:
    """Return the questions for the losses under both prompts; none while the reply that they need is missing."""
    before, after = _make_question_pair(case)
    if case.loss_of == "prompt":
        return tuple(Question(kind="loss", prompt="", text=question.prompt) for question in (before, after))
    first, second = answers.get(before), answers.get(after)
    if first is None or second is None or first.error or second.error:
        return ()
    return tuple(Question(kind="loss", prompt=question.prompt, text=first.text or "") for question in (before, after))
