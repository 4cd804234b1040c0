"""What earlier answers of a model tell about the next ones: tokens, length of replies, time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.store import Store

ENOUGH = 20
"""Answers from which a mean is taken; fewer say too little."""

MOST = 1000
"""Answers that are looked at, of the latest runs."""

RUNS_LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One earlier answer."""

    kind: str
    """Of the question: generate, choose or loss."""
    characters: int
    """Of what the model was given to read, without system instruction and chat template."""
    read: int
    """Tokens that it read."""
    written: int
    """Tokens that it wrote."""
    seconds: float
    """Wall time of the request; of a local model, its share of the batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    """Some earlier answers of one model. A mean is None where there are fewer than `ENOUGH`."""

    answers: Sequence[Past] = ()
    """In any order."""

    @property
    def characters_per_token(self) -> float | None:
        """Return the ratio of prompts; system instruction and chat template raise the tokens, as they will again."""
        read = sum(answer.read for answer in self.answers)
        characters = sum(answer.characters for answer in self.answers)
        return characters / read if len(self.answers) >= ENOUGH and read else None

    @property
    def replies(self) -> list[Past]:
        """The answers that are texts."""
        return [answer for answer in self.answers if answer.kind == "generate"]

    @property
    def reply_tokens(self) -> float | None:
        """Mean length of a reply."""
        replies = self.replies
        return sum(reply.written for reply in replies) / len(replies) if len(replies) >= ENOUGH else None

    @property
    def seconds_per_call(self) -> float | None:
        """Mean latency; answers of a batch have none."""
        seconds = [answer.seconds for answer in self.answers if answer.seconds]
        return sum(seconds) / len(seconds) if len(seconds) >= ENOUGH else None

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens read and written in a second of a local model's work."""
        seconds = sum(answer.seconds for answer in self.answers)
        tokens = sum(answer.read + answer.written for answer in self.answers)
        return tokens / seconds if len(self.answers) >= ENOUGH and seconds else None


def experience_of(config: RunConfig) -> Experience:
    """The latest answers in the store of runs that asked the same model in the same way.

    Raises:
        ConfigError: the store cannot be opened.
    """
    store = Store()
    pasts: list[Past] = []
    for run, stored in store.runs.latest(RUNS_LOOKED_AT):
        try:
            if _manner(json.loads(stored)) != _manner(config.model_dump(mode="json")):
                continue
        except (ValueError, AttributeError):
            continue
        for text, read, written, seconds in store.answers.asked_by(run, model=config.model, most=MOST - len(pasts)):
            question = json.loads(text)
            size = len(question["prompt"]) + len(question.get("text", ""))
            pasts.append(Past(kind=question["kind"], characters=size, read=read, written=written, seconds=seconds))
        if len(pasts) == MOST:
            break
    return Experience(answers=tuple(pasts))


def _manner(values: Mapping[str, Any]) -> tuple[object, ...]:
    """Return the settings on which tokens and time depend."""
    args = values.get("model_args") or {}
    return (
        values.get("model"),
        *(args.get(name) for name in ("base_url", "endpoint", "dtype", "device")),
        values.get("system_instruction"),
        values.get("few_shot") or None,
        values.get("gen_kwargs"),
        values.get("apply_chat_template"),
    )
