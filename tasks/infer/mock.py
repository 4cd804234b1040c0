"""A deterministic stand-in for a model: for tests and dry runs, it knows nothing."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from typing import ClassVar

from contrapose.tasks.config import ModelSpec
from contrapose.tasks.infer.base import refuse_unknown
from contrapose.tasks.records import Completion, Usage

WORDS = ("the", "small", "river", "often", "carries", "light", "across", "wide", "fields", "before", "evening")


class Mock:
    """Provider `mock`: answers are drawn from a hash of the prompt, so they never change."""

    likelihoods: ClassVar[bool] = True
    cases_per_task: ClassVar[int] = 500

    def identity(self, spec: ModelSpec) -> Mapping[str, str]:
        """Its own version, and the fixed reply if there is one."""
        refuse_unknown(spec, ("reply",))
        return {"revision": "mock-1", "dtype": "none", "device": "none"}

    def open(self, spec: ModelSpec) -> MockModel:
        """A mock model; `model_args.reply` fixes every reply."""
        return MockModel(reply=spec.args.get("reply"))


class MockModel:
    """Answers from a hash of the prompt."""

    def __init__(self, *, reply: str | None = None) -> None:
        self.reply = reply

    def generate(self, prompts: Sequence[str]) -> list[Completion]:
        """A letter where options stand in the prompt, else a few harmless words."""
        return [self._completion(prompt) for prompt in prompts]

    def choose(self, questions: Sequence[tuple[str, tuple[str, ...]]]) -> list[Completion]:
        """Log-likelihoods drawn from the hash, normalised over the labels' softmax by the scorer."""
        return [self._choice(prompt, labels) for prompt, labels in questions]

    def losses(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """A loss between 1 and 4 nats."""
        return [1 + 3 * _rng(f"{prompt}\x00{text}").random() if text.strip() else None for prompt, text in pairs]

    def _completion(self, prompt: str) -> Completion:
        rng = _rng(prompt)
        letters = [letter for letter in "ABCD" if f"\n{letter}. " in prompt or f"\nSummary {letter}: " in prompt]
        text = rng.choice(letters) if letters else " ".join(rng.choices(WORDS, k=8)) + "."
        return Completion(text=self.reply if self.reply is not None else text, usage=_usage(prompt, 8))

    def _choice(self, prompt: str, labels: tuple[str, ...]) -> Completion:
        rng = _rng(prompt)
        scores = tuple(rng.uniform(-4, -0.1) for _ in labels)
        best = max(zip(scores, labels, strict=True))[1]
        return Completion(text=best, option_loglikelihoods=scores, usage=_usage(prompt, 1))


def _rng(text: str) -> random.Random:
    return random.Random(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def _usage(prompt: str, written: int) -> Usage:
    return Usage(calls=1, prompt_tokens=len(prompt.split()), completion_tokens=written)
