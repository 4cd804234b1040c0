"""Provider `mock`: a model that needs no network and always gives the same answers, for tests and dry runs."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING, ClassVar

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import format_as_plain_text
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument, Check
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.infer.base import LocalProvider, read_number, refuse_unknown
from contrapose.tasks.infer.budgeted_batches import Batch, answer_batch
from contrapose.tasks.tables.columnar import garbage_collection_paused, split_batches

if TYPE_CHECKING:
    from contrapose.tasks.infer.broker import StoreBroker

WORDS = ("the", "small", "river", "often", "carries", "light", "across", "wide", "fields", "before", "evening")
WRITTEN = 8
"""Tokens of a reply, which are its words."""
TOKENS = {"generate": WRITTEN, "choose": 1, "loss": 0}
"""Tokens written, by the kind of question."""
BATCH = 20_000
"""Questions that are taken at once, all of a portion: a claim waits until the answers before it are written."""
AT_ONCE = 1000
"""Questions that are answered before these are put."""


class Mock(LocalProvider):
    """Provider `mock`: it draws answers from a hash of the question, so that they never change."""

    arguments: ClassVar[Mapping[str, Argument]] = {
        "reply": Argument(type="text", description="Every reply."),
        "slip": Argument(type="share", description="Prompts whose reply is `slip_reply` instead.", default=0),
        "slip_reply": Argument(type="text", description="Replies to these prompts.", default=""),
        "revision": Argument(type="text", description="Name of a training; each one makes other mistakes."),
    }

    def check(self, spec: ModelSpec) -> Check:
        """Return that the model is available, which is always true."""
        return Check(state="ok", observed=spec.id)

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Return the version of the mock and its arguments."""
        refuse_unknown(spec, self.arguments)
        read_number(spec, "slip", 0, low=0, high=1)
        for name in ("reply", "slip_reply"):
            value = spec.args.get(name)
            if value is not None and not isinstance(value, str):
                raise ModelError(
                    f"{value!r}",
                    expected="a text",
                    remedy="Write it in quotes, as YAML wants it: yes alone is true, and 1 a number.",
                    where=f"model_args.{name}",
                )
        arguments = {name: str(spec.args[name]) for name in self.arguments if name in spec.args}
        return {"dtype": "none", "device": "none", "revision": "mock-2"} | arguments

    def open(self, spec: ModelSpec) -> MockModel:
        """Return a mock model; `revision` decides which prompts it gets wrong, like a retrained model."""
        args = spec.args
        revision, slip = str(args.get("revision", "")), read_number(spec, "slip", 0, low=0, high=1)
        return MockModel(reply=args.get("reply"), slip=slip, slip_reply=args.get("slip_reply", ""), revision=revision)


class MockModel:
    """A model that draws its answers from a hash of the prompt."""

    def __init__(
        self, *, reply: str | None = None, slip: float = 0.0, slip_reply: str = "", revision: str = ""
    ) -> None:
        self.reply, self.slip, self.slip_reply, self.revision = reply, slip, slip_reply, revision

    def answer(self, questions: Sequence[Question], broker: StoreBroker) -> None:
        """Answer open questions, a batch at a time, until the budget is spent."""
        with garbage_collection_paused():
            for batch in split_batches(questions, BATCH):
                most = {question: _count_usage(question) for question in batch}
                answer_batch(Batch(questions=tuple(batch), most=most, compute=self._complete, at_once=AT_ONCE), broker)

    def _complete(self, questions: Sequence[Question]) -> list[Completion]:
        return list(map(self.completion, questions))

    def notes(self) -> Mapping[str, str | float]:
        """Return no notes."""
        return {}

    def completion(self, question: Question) -> Completion:
        """Return the answer to a question."""
        usage, prompt = _count_usage(question), format_as_plain_text(question.prompt)
        if question.kind == "choose":
            # The scores need not sum to one: nothing but a label would be said.
            best, scores = _draw_likeliest(question.labels, _make_rng(prompt))
            return Completion(text=best, option_loglikelihoods=scores, label_mass=1.0, usage=usage)
        if question.kind == "loss":
            # Between 1 and 4 nats.
            share = _make_rng(f"{prompt}\x00{question.text}").random()
            return Completion(loss=1 + 3 * share if question.text.strip() else None, usage=usage)
        if self.slip > 0 and _make_rng(f"slip\x00{self.revision}\x00{prompt}").random() < self.slip:
            return Completion(text=self.slip_reply, usage=usage)
        if self.reply is not None:
            return Completion(text=self.reply, usage=usage)
        # The likeliest letter where options stand in the prompt, else a few harmless words.
        letters = [
            letter for letter in ascii_uppercase if f"\n{letter}. " in prompt or f"\nSummary {letter}: " in prompt
        ]
        rng = _make_rng(f"{prompt}\x00{question.repeat}" if question.repeat else prompt)
        text = _draw_likeliest(letters, rng)[0] if letters else " ".join(rng.choices(WORDS, k=WRITTEN)) + "."
        return Completion(text=text, usage=usage)


def _draw_likeliest(letters: Sequence[str], rng: random.Random) -> tuple[str, tuple[float, ...]]:
    """Draw a log-likelihood for each letter; return the letter with the greatest, and all of them."""
    scores = tuple(rng.uniform(-4, -0.1) for _ in letters)
    return max(zip(scores, letters, strict=True))[1], scores


def _make_rng(text: str) -> random.Random:
    return random.Random(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def _count_usage(question: Question) -> Usage:
    """Return one call; tokens are words."""
    read = len(question.prompt.split()) + len(question.text.split())
    return Usage(calls=1, prompt_tokens=read, completion_tokens=TOKENS[question.kind])
