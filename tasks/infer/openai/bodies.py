"""Request bodies: convert questions to the JSON of the chat and the older completions API."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.chats import parse_chat, refuse_tools
from contrapose.tasks.core.questions import Form, Question
from contrapose.tasks.core.records import Usage
from contrapose.tasks.infer.asking.text_provider import estimate_tokens
from contrapose.tasks.infer.openai.refusals import ParameterRefusal
from contrapose.tasks.infer.openai.response_parsing import SCHEMA_FIELD
from contrapose.tasks.infer.openai.settings import Settings, read_settings

SCHEMA_TOKENS = 24
"""A letter as JSON takes about eight tokens; some servers put spaces or line breaks in between."""


@dataclass(slots=True)
class RequestBodies:
    """Makes the request bodies for the questions of one model."""

    spec: ModelSpec
    """The model, its system instruction, its examples and its generation settings."""
    settings: Settings = field(init=False)
    """Which API is asked."""
    refused: dict[str, ParameterRefusal] = field(default_factory=dict, repr=False)
    """Refusals of parameters, by their messages."""
    frames: dict[str, dict[str, Any]] = field(init=False, repr=False)
    """Fields other than the prompt of a plain question, by its kind."""

    def __post_init__(self) -> None:
        self.adapt(self.spec)

    def adapt(self, spec: ModelSpec) -> None:
        """Use this specification from now on: the same model with other settings."""
        self.spec, self.settings = spec, read_settings(spec)
        length, listed = self.settings.length_field, self.settings.top_logprobs
        is_chat = self.settings.endpoint == "chat"
        logprobs = {"logprobs": True, "top_logprobs": listed} if is_chat else {"logprobs": listed}
        self.frames = {
            # How replies are drawn is no part of a choice, nor of its key.
            "choose": {"model": spec.name, length: 1, **logprobs},
            "generate": {"model": spec.name, **make_sampling_fields(spec.generation, length_field=length)},
        }

    def make_body(self, question: Question) -> bytes:
        """Return the request body of a question, as JSON."""
        fields = dict(self.frames[question.kind])
        if self.settings.endpoint == "completions":
            refuse_tools(question.prompt, where="model_args.endpoint", why="the completions API takes none")
            fields["prompt"] = self.spec.in_one_text(question.prompt)
        else:
            chat = parse_chat(question.prompt)
            fields["messages"] = self.spec.messages(question.prompt)
            if chat is not None and chat.tools:
                fields["tools"] = chat.tools
        if question.form != "plain":
            fields |= {self.settings.length_field: self._max_tokens(question), **_make_constraint(question)}
        if question.form == "json_schema":
            # What ends a reply may stand between the braces, too.
            fields.pop("stop", None)
        return json.dumps(fields).encode()

    def changes_replies(self, form: Form) -> bool:
        """Return whether a question in this form changes replies even if the server ignores it."""
        generation = self.spec.generation
        return form == "json_schema" and (generation.max_new_tokens < SCHEMA_TOKENS or bool(generation.stop))

    def estimate_usage(self, question: Question) -> Usage:
        """Return the greatest usage of the request."""
        # A schema is read like the prompt, and billed.
        schema = 0 if question.form == "plain" else len(json.dumps(_make_constraint(question)))
        return Usage(
            calls=1,
            prompt_tokens=estimate_tokens(self.spec, question.prompt, further=schema),
            completion_tokens=1 if question.kind == "choose" else self._max_tokens(question),
        )

    def _max_tokens(self, question: Question) -> int:
        longest = self.spec.generation.max_new_tokens
        return max(longest, SCHEMA_TOKENS) if question.form == "json_schema" else longest


def make_sampling_fields(generation: Generation, *, length_field: str) -> dict[str, Any]:
    """Return the sampling parameters of a request, without those that are not set."""
    fields = {
        length_field: generation.max_new_tokens,
        "temperature": generation.temperature,
        "top_p": generation.top_p,
        "stop": list(generation.stop) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _make_constraint(question: Question) -> dict[str, Any]:
    """Return the fields that restrict a reply to the labels of a question.

    Sources: OpenAI's structured outputs; vLLM's, and its older `guided_choice`.
    """
    labels = list(question.labels)
    if question.form == "structured_outputs":
        return {"structured_outputs": {"choice": labels}}
    if question.form == "guided_choice":
        return {"guided_choice": labels}
    # An object of one field: strict schemas allow no bare string.
    schema = {
        "type": "object",
        "properties": {SCHEMA_FIELD: {"type": "string", "enum": labels}},
        "required": [SCHEMA_FIELD],
        "additionalProperties": False,
    }
    named = {"name": "choice", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
