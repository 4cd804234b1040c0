"""A deterministic stand-in for a model: for tests and dry runs, it knows nothing."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from functools import partial
from string import ascii_uppercase
from typing import ClassVar

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.config.prices import FREE, Price
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion, Likelihoods, Usage
from contrapose.tasks.infer.base import Broker, refuse_unknown
from contrapose.tasks.infer.trading import Batch, trade
from contrapose.tasks.tables.columnar import batched, uncollected

WORDS = ("the", "small", "river", "often", "carries", "light", "across", "wide", "fields", "before", "evening")
WRITTEN = 8
"""Tokens of a reply, which are its words."""
TOKENS = {"generate": WRITTEN, "choose": 1, "loss": 0}
"""Tokens written, by the kind of question."""
BATCH = 20_000
"""Questions that are taken at once, all of a portion: what is claimed later waits for answers that are written."""
AT_ONCE = 1000
"""Questions that are answered before these are put."""


class Mock:
    """Provider `mock`: answers are drawn from a hash of the question, so they never change."""

    cases_per_task: ClassVar[int] = 5000
    local: ClassVar[bool] = True
    knows_weights: ClassVar[bool] = False
    concurrency: ClassVar[int] = 1
    arguments: ClassVar[Mapping[str, Argument]] = {
        "reply": Argument(type="text", description="Every reply."),
        "slip": Argument(type="share", description="Prompts whose reply is `slip_reply` instead.", default=0),
        "slip_reply": Argument(type="text", description="What is replied to these.", default=""),
        "revision": Argument(type="text", description="Which training it stands for: others slip elsewhere."),
    }

    def price(self, spec: ModelSpec) -> Price:
        """Nothing."""
        return FREE

    def check(self, spec: ModelSpec) -> Check:
        """It is always there."""
        return Check(state="ok", observed=spec.id)

    def likelihoods(self, spec: ModelSpec) -> Likelihoods:
        """All of them."""
        return "all"

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Its own version, and its arguments."""
        refuse_unknown(spec, self.arguments)
        _share(spec.args.get("slip", 0))
        _refuse_other_than_text(spec, ("reply", "slip_reply"))
        arguments = {name: str(spec.args[name]) for name in self.arguments if name in spec.args}
        return {"dtype": "none", "device": "none", "revision": "mock-2"} | arguments

    def open(self, spec: ModelSpec) -> MockModel:
        """A mock model.

        `model_args.reply` fixes every reply. `slip` is a share of the prompts whose reply is `slip_reply` instead;
        which these are depends on `revision`, as models that were trained anew err elsewhere.
        """
        args = spec.args
        revision, slip = str(args.get("revision", "")), _share(args.get("slip", 0))
        return MockModel(reply=args.get("reply"), slip=slip, slip_reply=args.get("slip_reply", ""), revision=revision)


class MockModel:
    """Answers from a hash of the prompt."""

    def __init__(
        self, *, reply: str | None = None, slip: float = 0.0, slip_reply: str = "", revision: str = ""
    ) -> None:
        self.reply, self.slip, self.slip_reply, self.revision = reply, slip, slip_reply, revision

    def answer(self, questions: Sequence[Question], broker: Broker) -> None:
        """Answer what is open, a batch at a time, until the budget is spent."""
        with uncollected():
            for batch in batched(questions, BATCH):
                most = {question: _usage(question) for question in batch}
                compute = partial(self._completions, most)
                trade(Batch(questions=tuple(batch), most=most, compute=compute, at_once=AT_ONCE), broker)

    def notes(self) -> Mapping[str, str | float]:
        """Nothing worth saying."""
        return {}

    def _completions(self, usage: Mapping[Question, Usage], questions: Sequence[Question]) -> list[Completion]:
        return [self.completion(question, usage[question]) for question in questions]

    def completion(self, question: Question, usage: Usage | None = None) -> Completion:
        """The answer to any question; `usage`: what it takes, where that was computed before."""
        usage = usage or _usage(question)
        if question.kind == "choose":
            return self._choice(question, usage)
        return self._loss(question, usage) if question.kind == "loss" else self._reply(question, usage)

    def _reply(self, question: Question, usage: Usage) -> Completion:
        """The likeliest letter where options stand in the prompt, else a few harmless words."""
        prompt = question.prompt
        letters = [
            letter for letter in ascii_uppercase if f"\n{letter}. " in prompt or f"\nSummary {letter}: " in prompt
        ]
        rng = _rng(f"{prompt}\x00{question.repeat}" if question.repeat else prompt)
        text = _likeliest(letters, rng)[0] if letters else " ".join(rng.choices(WORDS, k=WRITTEN)) + "."
        text = self.reply if self.reply is not None else text
        return Completion(text=self.slip_reply if self._slips(prompt) else text, usage=usage)

    def _slips(self, prompt: str) -> bool:
        return self.slip > 0 and _rng(f"slip\x00{self.revision}\x00{prompt}").random() < self.slip

    def _choice(self, question: Question, usage: Usage) -> Completion:
        """Log-likelihoods drawn from the hash, which need not sum to one: nothing but a label would be said."""
        best, scores = _likeliest(question.labels, _rng(question.prompt))
        return Completion(text=best, option_loglikelihoods=scores, label_mass=1.0, usage=usage)

    def _loss(self, question: Question, usage: Usage) -> Completion:
        """A loss between 1 and 4 nats."""
        rng = _rng(f"{question.prompt}\x00{question.text}")
        loss = 1 + 3 * rng.random() if question.text.strip() else None
        return Completion(loss=loss, usage=usage)


def _likeliest(letters: Sequence[str], rng: random.Random) -> tuple[str, tuple[float, ...]]:
    """The letter with the greatest log-likelihood of those that are drawn, and all of them."""
    scores = tuple(rng.uniform(-4, -0.1) for _ in letters)
    return max(zip(scores, letters, strict=True))[1], scores


def _refuse_other_than_text(spec: ModelSpec, names: Sequence[str]) -> None:
    """YAML reads some words as something else: `yes` is true."""
    for name in names:
        value = spec.args.get(name)
        if value is not None and not isinstance(value, str):
            raise ModelError(
                f"{value!r}",
                expected="a text",
                remedy="Write it in quotes, as YAML wants it: yes alone is true, and 1 a number.",
                where=f"model_args.{name}",
            )


def _share(value: object) -> float:
    try:
        share = float(str(value))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ModelError(
            repr(value), expected="a share from 0 to 1", remedy="Write 0.1 for a tenth.", where="model_args.slip"
        )
    return share


def _rng(text: str) -> random.Random:
    return random.Random(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def _usage(question: Question) -> Usage:
    """One call; tokens are words."""
    read = len(question.prompt.split()) + len(question.text.split())
    return Usage(calls=1, prompt_tokens=read, completion_tokens=TOKENS[question.kind])
