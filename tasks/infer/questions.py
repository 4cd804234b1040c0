"""Cases into questions, and answers back into trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from contrapose.tasks.core.records import Case, Completion, FollowUp, Trial
from contrapose.tasks.infer.base import Form, Question

Answers = Mapping[Question, Completion]

LETTER_SCORERS = ("choice", "reply")
"""Those that read a letter out of a reply; all others judge what it says."""


def asked(cases: Iterable[Case], *, form: Form = "plain") -> list[Question]:
    """The distinct questions of cases that need no other answer first, in order; letters are asked for in `form`."""
    return list(dict.fromkeys(question for case in cases for question in _pair(case, form)))


def for_letters(cases: Iterable[Case], *, form: Form) -> list[Question]:
    """The distinct questions among them whose reply is to be a letter, in order, in that form."""
    return asked([case for case in cases if wants_letter(case)], form=form)


def wants_letter(case: Case) -> bool:
    """Whether the replies to a case are read as one of its letters, and mean nothing else."""
    return case.asks == "generate" and case.scorer in LETTER_SCORERS and len(case.labels) > 1


def losses(cases: Iterable[Case], answers: Answers) -> list[Question]:
    """The distinct losses that the scorers need, of cases whose prompts were answered."""
    wanted = (_loss_pair(case, answers) for case in cases if case.loss_of is not None)
    return list(dict.fromkeys(question for pair in wanted for question in pair))


def in_words(cases: Iterable[Case]) -> list[Question]:
    """The distinct questions of cases whose original prompt is also answered in words."""
    return list(dict.fromkeys(_in_words(case) for case in cases if case.also_in_words))


def trials(
    cases: Sequence[Case], answers: Answers, *, missing: Callable[[], Completion], form: Form = "plain"
) -> list[Trial]:
    """One trial per case, in order; a question without an answer becomes what `missing` returns."""
    return [_trial(case, answers, missing, form) for case in cases]


def about(follow_up: FollowUp) -> Question:
    """The question that asks about a reply: the same one where the same reply stands to the same options."""
    return Question(kind="generate", prompt=follow_up.prompt)


def answered(trials: Sequence[Trial], follow_ups: Iterable[FollowUp], answers: Answers) -> list[Trial]:
    """The trials, with what was said of their replies; a reply without an answer stays as it is."""
    said = {
        (each.case_id, each.side): answer.text
        for each in follow_ups
        if (answer := answers.get(about(each))) is not None and not answer.error
    }
    return [
        replace(
            trial,
            expected=_with_word(trial.expected, said.get((trial.case.id, "expected"))),
            actual=_with_word(trial.actual, said.get((trial.case.id, "actual"))),
        )
        for trial in trials
    ]


def _with_word(reply: Completion, said: str | None) -> Completion:
    return reply if said is None else replace(reply, asked_back=said)


def _trial(case: Case, answers: Answers, missing: Callable[[], Completion], form: Form) -> Trial:
    first, second = (answers.get(question) or missing() for question in _pair(case, form))
    if case.loss_of is not None and not (first.error or second.error):
        before, after = (answers.get(question) or missing() for question in _loss_pair(case, answers))
        first, second = _with_loss(first, before), _with_loss(second, after)
    words = answers.get(_in_words(case)) if case.also_in_words else None
    # A reply that failed is no error of the case, whose likelihoods are there.
    if words is not None and not words.error and not first.error:
        first = replace(first, in_words=words.text)
    return Trial(case=case, expected=first, actual=second)


def _in_words(case: Case) -> Question:
    return Question(kind="generate", prompt=case.original_prompt)


def _with_loss(reply: Completion, loss: Completion) -> Completion:
    return replace(reply, loss=loss.loss, error=loss.error)


def _pair(case: Case, form: Form = "plain") -> tuple[Question, Question]:
    if case.perturbed_prompt is None:
        raise ValueError(f"case {case.id} is skipped ({case.skip_reason}) and must not be asked")
    form = form if wants_letter(case) and case.loss_of is None else "plain"
    labels = case.labels if case.asks == "choose" or form != "plain" else ()
    before, after = (
        Question(kind=case.asks, prompt=prompt, labels=labels, repeat=case.repeat, form=form)
        for prompt in (case.original_prompt, case.perturbed_prompt)
    )
    return before, after


def _loss_pair(case: Case, answers: Answers) -> tuple[Question, ...]:
    """The losses under both prompts; none while the reply that they need is missing."""
    before, after = _pair(case)
    if case.loss_of == "prompt":
        return tuple(Question(kind="loss", prompt="", text=question.prompt) for question in (before, after))
    first, second = answers.get(before), answers.get(after)
    if first is None or second is None or first.error or second.error:
        return ()
    return tuple(Question(kind="loss", prompt=each.prompt, text=first.text or "") for each in (before, after))
