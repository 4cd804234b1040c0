"""A broker in memory: for models that are tested without a run around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.core.registry import find
from contrapose.tasks.infer.base import Model
from contrapose.tasks.infer.budget import Budget


@dataclass(slots=True)
class PlainBroker:
    """What models need of a `StoreBroker`, without a store, a database or another run."""

    budget: Budget = field(default_factory=Budget)
    """What may be spent; without limits unless a test gives some."""
    answers: dict[Question, Answer] = field(default_factory=dict)
    """What was put, by its question. An answer that is here beforehand is not asked for again."""
    puts: list[list[Answer]] = field(default_factory=list)
    """What was put, call by call."""
    stopped: str | None = None
    """Why nothing more is asked."""
    warnings: dict[str, str] = field(default_factory=dict)
    """What people are told, by its kind."""

    def take(self, questions: Sequence[Question]) -> list[Question]:
        """The questions without an answer; none once stopped."""
        return [] if self.stopped else [question for question in questions if question not in self.answers]

    def put(self, answers: Sequence[Answer]) -> None:
        """Keep the answers."""
        self.puts.append(list(answers))
        self.answers |= {answer.question: answer for answer in answers}

    def replies(self, *prompts: str) -> list[Answer]:
        """The answers to prompts, in their order."""
        return [self.answers[Question(kind="generate", prompt=prompt)] for prompt in prompts]

    def stop(self, reason: str) -> None:
        """The first reason stays."""
        self.stopped = self.stopped or reason

    def warn(self, kind: str, text: str) -> None:
        """The first text of a kind stays."""
        self.warnings.setdefault(kind, text)


def ask_prompts(spec: ModelSpec, *prompts: str) -> PlainBroker:
    """A fresh broker at which a model answered prompts, opened by its provider."""
    broker = PlainBroker()
    model = find("providers", spec.provider)().open(spec)
    model.answer([Question(kind="generate", prompt=prompt) for prompt in prompts], broker)  # type: ignore[arg-type]
    return broker


def completions(model: Model, questions: Sequence[Question]) -> list[Completion]:
    """What a model answers at a fresh broker, in the order of the questions."""
    broker = PlainBroker()
    model.answer(questions, broker)
    return [broker.answers[question].completion for question in questions]
