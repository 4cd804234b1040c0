"""Questions for a model, their answers, and their JSON form."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from contrapose.tasks.core.records import Completion, Usage

UNASKED = "not asked"
"""Begins the error of a question that was not asked, or not to the end, because the run was stopped."""
UNWRITTEN = "the response store cannot be written"
"""Why a run stops that could not keep what it would pay for."""
TOO_LONG = "the prompt is too long for the model"
"""Begins the error of a prompt that the model's context window does not hold: its case is skipped."""
INTERRUPTED = "the run was interrupted"
"""Why portions that are asked elsewhere ask nothing more after the flow has ended: nobody waits for what they have."""


Form = Literal["plain", "json_schema", "structured_outputs", "guided_choice"]
"""How a reply is asked for: as the prompt does, or held to one of some labels, by a field of that name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request to a model; equal questions have equal answers."""

    kind: Literal["generate", "choose", "loss"]
    """A reply to `prompt`, the log-likelihood of each of `labels` after it, or the mean loss of `text` after it."""
    prompt: str
    """As the case has it, without system instruction and chat template; for a loss it may be empty."""
    labels: tuple[str, ...] = ()
    """For `choose`, and where a reply is held to them: the letters that stand for the options."""
    text: str = ""
    """For `loss`: the text whose tokens are scored."""
    repeat: int = 0
    """Which of several replies to the same prompt this is."""
    form: Form = "plain"
    """For `generate`: how the reply is held to one of `labels`. A plain question has none, whatever it is about."""

    @property
    def plain(self) -> Question:
        """Return the same prompt without a required form of the reply."""
        return replace(self, form="plain", labels=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a question; a completion with `error` is no answer and is never stored."""

    question: Question
    completion: Completion
    """For `choose`: `text` is the likeliest label. For `loss`: `loss` alone, None if the text has no tokens."""
    seconds: float = 0.0
    """Wall time of the request that was answered; for a batch, its time divided among its questions."""
    requests: int = 1
    """Requests made for it, the failed ones too."""
    spent: Usage | None = None
    """What all its requests were settled at in the budget; None: `requests` and the tokens of the completion."""

    @property
    def taken(self) -> Usage:
        """Return the usage of all its requests, including failed ones."""
        return self.spent or replace(self.completion.usage, calls=self.requests)


def to_json(question: Question) -> str:
    """Return a question as JSON, which the store keeps and hashes into keys."""
    further = {"labels": question.labels, "text": question.text, "repeat": question.repeat}
    further["form"] = "" if question.form == "plain" else question.form
    content = {"kind": question.kind, "prompt": question.prompt}
    return json.dumps({**content, **{name: value for name, value in further.items() if value}})


def from_json(text: str) -> Question:
    """Return the question that `to_json` wrote."""
    content = json.loads(text)
    return Question(**{**content, "labels": tuple(content.get("labels", ()))})
