"""Interfaces of providers and models: a provider opens a model, and a model answers the questions of a broker.

At the end are the `model_args` that several providers have, and their checks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import FREE, Price
from contrapose.tasks.core.errors import ModelError, suggest_name
from contrapose.tasks.core.provider import Argument, Described
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Case, Likelihoods
from contrapose.tasks.infer.keys import Changes

if TYPE_CHECKING:
    from contrapose.tasks.infer.broker import StoreBroker

AskedKind = Literal["choose", "generate"]
"""Kinds of questions that an endpoint can be asked."""


class Model(Protocol):
    """A model that is open and can be asked."""

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        """Take the open ones of some distinct questions from the broker, answer them, and put answers there at once.

        The batches depend on all questions, not on which are still open, and a batch is put completely, because
        an interrupted run must compute the rest in the same batches.
        """

    def notes(self) -> Mapping[str, str | float]:
        """Return notes for the manifest about how the answers were computed, such as the batch size found."""


class LocalProvider:
    """Base class of providers that run on this machine only."""

    cases_per_task: ClassVar[int] = 5000
    local: ClassVar[bool] = True
    knows_weights: ClassVar[bool] = False
    concurrency: ClassVar[int] = 1

    def price(self, spec: ModelSpec) -> Price:
        """Return a price of zero."""
        return FREE

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """Return "all": it gives the likelihood of any text."""
        return "all"


class Provider(Described, Protocol):
    """A way to reach models; a line in `PROVIDERS`. Its methods raise ModelError if there is no such model."""

    cases_per_task: ClassVar[int]
    """Number of cases that one task run takes."""

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """Return which log-likelihoods the model gives, without reaching it."""

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return everything that could change the model's answers, as part of their cache keys, without loading it.

        At least `revision`, `dtype` and `device` are there.
        """

    def open(self, spec: ModelSpec) -> Model:
        """Load the model or connect to it.

        Its answers are stored under `spec.identity`, the `identity` at the beginning of the run: a provider whose model
        may be replaced during the run opens that same model, or refuses.
        """


@runtime_checkable
class Adapts(Protocol):
    """A provider whose endpoints may refuse parameters, or can restrict a reply to given labels."""

    def forms(self, spec: ModelSpec) -> Sequence[Form]:
        """Return the forms in the order in which to try them; a single one is certain, and is not tried."""

    def parameters(self, spec: ModelSpec, kind: AskedKind) -> Mapping[str, Any]:
        """Return the fields of a request other than the prompt, by kind, and its address; no key is needed."""

    def concerning(self, changes: Changes, kind: AskedKind) -> Changes:
        """Return the changed settings that concern questions of a kind."""

    def remarks(self, changes: Changes) -> Mapping[str, str]:
        """Return warnings about replies that were requested with these settings, by kind."""


class TryOutcome(NamedTuple):
    """Form and settings that were found out about an endpoint."""

    form: Form | None
    """Form in which the endpoint restricts replies to labels; None if it is unknown."""
    changes: Changes | None
    """All settings that must change; None if unknown, because the run was stopped or nothing answered."""


@runtime_checkable
class TriesOut(Protocol):
    """A model that can find out how its endpoint must be asked."""

    def try_out(
        self, questions: Sequence[Question], forms: Sequence[Form], broker: StoreBroker, *, changes: Changes | None
    ) -> TryOutcome:
        """Find out how the endpoint must be asked: ask some of the questions, one after the other.

        Every reply is put: under the question in the form that was found, or under the plain question.

        Args:
            questions: distinct ones of one kind; if there are several forms, with labels in the first one.
            forms: to be tried in order; the last is `plain`, unless there is one alone.
            broker: gives questions and takes answers; it is set to what is found.
            changes: settings that must change, as far as known; None if all are known and in use.

        Raises:
            ModelError: it refuses what no setting makes up for.
        """


@runtime_checkable
class KnowsCases(Protocol):
    """A model that needs to know the cases to find answers, such as recorded replies."""

    def expect(self, cases: Sequence[Case]) -> None:
        """Remember the cases whose questions come next."""


@runtime_checkable
class HasSomeReplies(Protocol):
    """A provider that has replies to some prompts only, such as recorded replies."""

    def replied(self, spec: ModelSpec, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield the cases; a case without both replies becomes skipped, and such a control is left out."""

    def remarks(self, spec: ModelSpec, tests: Sequence[str]) -> list[str]:
        """Return warnings about the replies for these tests, or raise ModelError if their test is unclear."""


@runtime_checkable
class DescribesModel(Protocol):
    """A provider with a remark about a model that people should read before its results."""

    def describe(self, identity: Mapping[str, str]) -> list[str]:
        """Return the remark in sentences, by the identity of the model."""


@runtime_checkable
class ReturnsPassages(Protocol):
    """A provider whose replies may come with the passages that were retrieved for them."""

    def returns_passages(self, spec: ModelSpec) -> bool:
        """Return whether passages are expected; if so, a reply without them gives a warning."""


NO_PASSAGES = "Of some replies the passages are not known"
"""Beginning of the warning, before the reason, for new and stored replies."""


def refuse_frame(spec: ModelSpec, why: str) -> None:
    """Raise ModelError if you set a system instruction or examples, which would not reach the model; `why` not."""
    for name, observed in (("system_instruction", "a system instruction"), ("few_shot", "examples before the prompt")):
        if getattr(spec, name):
            raise ModelError(observed, expected=f"none: {why}", remedy=f"Leave {name} out.", where=spec.id)


def refuse_unknown(spec: ModelSpec, known: Collection[str]) -> None:
    """Raise ModelError for an unknown argument, because it would be ignored without a message."""
    for name in spec.args:
        if name not in known:
            raise ModelError(
                f"unknown argument {name!r}",
                expected=f"one of {', '.join(known)}",
                remedy=suggest_name(name, known, otherwise="Remove it from model_args."),
                where="model_args",
            )


DAY = 86_400.0
"""Longest wait, in seconds."""
PACE: Mapping[str, Argument] = {
    "concurrency": Argument(type="whole number", description="Most prompts at a time.", default=4, role="pace"),
    "timeout": Argument(type="seconds", description="For one request.", default=60, role="pace"),
    "total_timeout": Argument(type="seconds", description="For one prompt with all retries.", default=600, role="pace"),
    "retries": Argument(type="whole number", description="For failures.", default=8, role="pace"),
    "requests_per_minute": Argument(type="number", description="The account's limit.", role="pace"),
    "tokens_per_minute": Argument(type="number", description="The account's limit.", role="pace"),
}
"""Arguments that `read_pace` reads."""


def read_pace(spec: ModelSpec, *, concurrency: int, timeout: float) -> dict[str, Any]:
    """Return the fields of `AskingPace` except the address, with the defaults of a provider."""
    rates = {
        name: None if spec.args.get(name) is None else read_number(spec, name, 0, low=0.001, high=1e12)
        for name in ("requests_per_minute", "tokens_per_minute")
    }
    return {
        "concurrency": read_whole_number(spec, "concurrency", concurrency, low=1, high=1000),
        "timeout": read_number(spec, "timeout", timeout, low=0.01, high=DAY),
        "total_timeout": read_number(spec, "total_timeout", 600, low=0.01, high=DAY),
        "retries": read_whole_number(spec, "retries", 8, low=0, high=100),
        **rates,
    }


def read_whole_number(spec: ModelSpec, name: str, default: int, *, low: int, high: int) -> int:
    """Return an argument that is a whole number from `low` to `high`, or raise ModelError."""
    value = read_number(spec, name, default, low=low, high=high)
    if value != int(value):
        raise argument_error(name, spec.args[name], expected=f"a whole number from {low} to {high}")
    return int(value)


def read_number(spec: ModelSpec, name: str, default: float, *, low: float, high: float) -> float:
    """Return an argument that is a number from `low` to `high`, or raise ModelError."""
    value = spec.args.get(name, default)
    try:
        read = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        read = float("nan")
    if not low <= read <= high:
        raise argument_error(name, value, expected=f"a number from {low:g} to {high:g}")
    return read


def argument_error(name: str, value: object, *, expected: str) -> ModelError:
    """Return the error for an argument with a wrong value."""
    place = f"model_args.{name}"
    return ModelError(f"{name} is {value!r}", expected=expected, remedy=f"Correct {place}.", where=place)
