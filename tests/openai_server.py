"""A server on loopback, and the model that asks it."""

from __future__ import annotations

from fake_endpoint import Endpoint
from plain_broker import PlainBroker

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.infer.openai import OpenAI


def spec(server: Endpoint, **changes: object) -> ModelSpec:
    args = {"base_url": f"http://127.0.0.1:{server.port}/v1", "retries": 0, **changes.pop("args", {})}  # type: ignore[dict-item]
    return ModelSpec.model_validate({"id": "openai/any", "args": args, **changes})


def generate(prompt: str) -> Question:
    return Question(kind="generate", prompt=prompt)


def choose(prompt: str, labels: tuple[str, ...] = ("A", "B")) -> Question:
    return Question(kind="choose", prompt=prompt, labels=labels)


def answered(chosen: ModelSpec, *questions: Question) -> PlainBroker:
    """A broker at which a model answered."""
    broker = PlainBroker()
    OpenAI().open(chosen).answer(questions, broker)
    return broker


def only(broker: PlainBroker) -> Answer:
    """The one answer that was put."""
    assert len(broker.puts) == 1
    return broker.puts[0][0]
