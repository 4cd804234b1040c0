"""Questions into request bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.base import AskedKind
from contrapose.tasks.infer.openai.refusals import ParameterRefusal
from contrapose.tasks.infer.openai.replies import SCHEMA_FIELD
from contrapose.tasks.infer.openai.settings import Settings, read_settings

SCHEMA_TOKENS = 24
"""A letter as JSON takes about eight tokens; some servers put spaces or line breaks in between."""
BYTES_PER_TOKEN = 2
TOKENS_PER_MESSAGE = 16


@dataclass(slots=True)
class Bodies:
    """How the questions of one model are put."""

    spec: ModelSpec
    """The model, its system instruction, its examples and its generation settings."""
    settings: Settings = field(init=False)
    """Which API is asked."""
    refused: dict[str, ParameterRefusal] = field(default_factory=dict, repr=False)
    """Refusals of parameters, by their messages."""
    _frames: dict[str, dict[str, Any]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.adapt(self.spec)

    def adapt(self, spec: ModelSpec) -> None:
        """Put questions from now on as to this model: the same one, with other settings."""
        self.spec, self.settings = spec, read_settings(spec)
        # How replies are drawn is no part of a choice, nor of its key.
        choice = {self.settings.length_field: 1, **self._listing()}
        self._frames = {
            kind: {"model": spec.name, **fields}
            for kind, fields in (("choose", choice), ("generate", self._sampling()))
        }

    def parameters(self, kind: AskedKind) -> Mapping[str, Any]:
        """What is sent beside the prompt with a plain question of a kind."""
        return self._frames[kind]

    @property
    def path(self) -> str:
        """Below the base URL."""
        return "/chat/completions" if self.settings.endpoint == "chat" else "/completions"

    def body(self, question: Question) -> bytes:
        """What is posted, as JSON."""
        fields = {**self._frames[question.kind], **self._prompt(question.prompt)}
        if question.form != "plain":
            fields = self._held(fields, question)
        return json.dumps(fields).encode()

    def changes_replies(self, form: Form) -> bool:
        """Whether a server that ignores the form still replies otherwise than to a plain question: longer, say."""
        generation = self.spec.generation
        return form == "json_schema" and (generation.max_new_tokens < SCHEMA_TOKENS or bool(generation.stop))

    def most(self, question: Question) -> Usage:
        """What the request takes at most.

        Text of any script has two bytes or more to a token (English four), and a chat template adds some tokens to
        each message; only a prompt of symbols and rare words may exceed the estimate, which settling corrects.
        """
        texts = [message["content"] for message in self.spec.messages(question.prompt)]
        size = sum(len(text.encode(errors="replace")) for text in texts)
        if question.form != "plain":
            # A schema is read like the prompt, and billed.
            size += len(json.dumps(_constraint(question)))
        return Usage(
            calls=1,
            prompt_tokens=size // BYTES_PER_TOKEN + TOKENS_PER_MESSAGE * max(1, len(texts)),
            completion_tokens=1 if question.kind == "choose" else self._length(question),
        )

    def _length(self, question: Question) -> int:
        longest = self.spec.generation.max_new_tokens
        return max(longest, SCHEMA_TOKENS) if question.form == "json_schema" else longest

    def _held(self, fields: dict[str, Any], question: Question) -> dict[str, Any]:
        """The fields of a plain question, and what holds its reply to a label."""
        fields = {**fields, self.settings.length_field: self._length(question), **_constraint(question)}
        if question.form == "json_schema":
            # What ends a reply may stand between the braces, too.
            fields.pop("stop", None)
        return fields

    def _prompt(self, prompt: str) -> dict[str, Any]:
        if self.settings.endpoint == "completions":
            return {"prompt": self.spec.in_one_text(prompt)}
        return {"messages": self.spec.messages(prompt)}

    def _listing(self) -> dict[str, Any]:
        chat = self.settings.endpoint == "chat"
        listed = self.settings.top_logprobs
        return {"logprobs": True, "top_logprobs": listed} if chat else {"logprobs": listed}

    def _sampling(self) -> dict[str, Any]:
        generation = self.spec.generation
        fields = {
            self.settings.length_field: generation.max_new_tokens,
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "stop": list(generation.stop) or None,
        }
        return {name: value for name, value in fields.items() if value is not None}


def _constraint(question: Question) -> dict[str, Any]:
    """What holds a reply to the labels of a question; empty for a plain one.

    Sources: OpenAI's structured outputs; vLLM's, and its older `guided_choice`.
    """
    labels = list(question.labels)
    if question.form == "json_schema":
        return {"response_format": {"type": "json_schema", "json_schema": _schema(labels)}}
    if question.form == "structured_outputs":
        return {"structured_outputs": {"choice": labels}}
    return {"guided_choice": labels} if question.form == "guided_choice" else {}


def _schema(labels: list[str]) -> dict[str, Any]:
    """An object of one field: strict schemas allow no bare string."""
    schema = {
        "type": "object",
        "properties": {SCHEMA_FIELD: {"type": "string", "enum": labels}},
        "required": [SCHEMA_FIELD],
        "additionalProperties": False,
    }
    return {"name": "choice", "strict": True, "schema": schema}
