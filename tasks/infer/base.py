"""What a model must offer, and how cases are put to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Protocol, TypeVar

from contrapose.tasks.config import ModelSpec
from contrapose.tasks.errors import ModelError
from contrapose.tasks.records import Case, Completion, Trial, Usage

Key = TypeVar("Key")


class Model(Protocol):
    """An opened model. Every method answers in the order it was asked."""

    def generate(self, prompts: Sequence[str]) -> list[Completion]:
        """One reply per prompt."""
        ...

    def choose(self, questions: Sequence[tuple[str, tuple[str, ...]]]) -> list[Completion]:
        """For (prompt, labels): the log-likelihood of each label, in nats; `text` is the likeliest label."""
        ...

    def losses(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """For (prompt, text): mean loss of the text's tokens given the prompt, in nats; None for no tokens."""
        ...


class Provider(Protocol):
    """A way to reach models; a line in `PROVIDERS`."""

    likelihoods: ClassVar[bool]
    """Whether `choose` and `losses` work."""
    cases_per_task: ClassVar[int]
    """How many cases one task run takes."""

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """All that could change the model's answers, found without loading it.

        Returns:
            At least `revision`, `dtype` and `device`; every value becomes part of the cache key.

        Raises:
            ModelError: there is no such model, or it cannot be reached.
        """
        ...

    def open(self, spec: ModelSpec) -> Model:
        """Load the model or connect to it.

        Raises:
            ModelError: it cannot be loaded.
        """
        ...


def refuse_unknown(spec: ModelSpec, known: Sequence[str]) -> None:
    """Refuse arguments that would otherwise be ignored without a word.

    Raises:
        ModelError: an argument is not among the known ones.
    """
    for name in spec.args:
        if name not in known:
            raise ModelError(
                f"unknown argument {name!r}",
                expected=f"one of {', '.join(known)}",
                remedy="Remove it from model_args.",
                where="model_args",
            )


def ask(cases: Sequence[Case], model: Model) -> list[Trial]:
    """Put both prompts of every case to a model.

    Args:
        cases: cases without a skip reason.
        model: an opened model.

    Returns:
        One trial per case, in order. A failed call is a completion with `error`, never an answer.
    """
    replies = _once(model.generate, [prompt for case in cases if case.asks == "generate" for prompt in _prompts(case)])
    choices = _once(
        model.choose,
        [(prompt, case.labels) for case in cases if case.asks == "choose" for prompt in _prompts(case)],
    )
    trials = []
    for case in cases:
        before, after = (
            _take(choices, (prompt, case.labels)) if case.asks == "choose" else _take(replies, prompt)
            for prompt in _prompts(case)
        )
        trials.append(Trial(case=case, expected=before, actual=after))
    return _with_losses(trials, model)


def failed(trial: Trial) -> bool:
    """Whether a call failed for good: such a trial is no answer, and is worth asking again."""
    return bool(trial.expected.error or trial.actual.error)


def _prompts(case: Case) -> tuple[str, str]:
    if case.perturbed_prompt is None:
        raise ValueError(f"case {case.id} is skipped ({case.skip_reason}) and must not be asked")
    return case.original_prompt, case.perturbed_prompt


def _once(call: Callable[[Sequence[Key]], list[Completion]], questions: Iterable[Key]) -> dict[Key, Completion]:
    """Ask each distinct question once."""
    distinct = list(dict.fromkeys(questions))
    return dict(zip(distinct, call(distinct), strict=True)) if distinct else {}


def _take(answers: dict[Key, Completion], question: Key) -> Completion:
    """The answer to a question; what it took goes with it the first time only, since it was asked once."""
    answer = answers[question]
    answers[question] = replace(answer, usage=Usage())
    return answer


def _with_losses(trials: list[Trial], model: Model) -> list[Trial]:
    """Add the loss of the text that each case's scorer needs, under both prompts."""
    wanted = {index: _loss_pairs(trial) for index, trial in enumerate(trials) if _has_loss(trial)}
    distinct = list(dict.fromkeys(pair for pairs in wanted.values() for pair in pairs))
    losses = dict(zip(distinct, model.losses(distinct), strict=True)) if distinct else {}
    for index, (before, after) in wanted.items():
        trial = trials[index]
        trials[index] = replace(
            trial,
            expected=replace(trial.expected, loss=losses[before]),
            actual=replace(trial.actual, loss=losses[after]),
        )
    return trials


def _has_loss(trial: Trial) -> bool:
    return trial.case.loss_of is not None and not failed(trial)


def _loss_pairs(trial: Trial) -> tuple[tuple[str, str], tuple[str, str]]:
    before, after = _prompts(trial.case)
    if trial.case.loss_of == "prompt":
        return ("", before), ("", after)
    reply = trial.expected.text or ""
    return (before, reply), (after, reply)
