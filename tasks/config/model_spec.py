"""A model and its generation settings: everything except the prompt that an answer depends on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, FiniteFloat, StringConstraints

from contrapose.tasks.core.chats import Message, format_transcript, parse_chat
from contrapose.tasks.core.errors import ConfigError, suggest_name
from contrapose.tasks.core.model_files import existing_folder
from contrapose.tasks.core.registry import names
from contrapose.tasks.core.user_settings import UserSettings


def _check_whole_or_auto(value: object) -> object:
    if value != "auto" and not (str(value).isdecimal() and 1 <= int(str(value)) <= 4096):
        raise ValueError("a whole number from 1 to 4096, or auto")
    return value


BatchSize = Annotated[
    Annotated[int, Field(ge=1, le=4096)] | Literal["auto"],
    BeforeValidator(
        _check_whole_or_auto, json_schema_input_type=Annotated[int, Field(ge=1, le=4096)] | Literal["auto"]
    ),
]
"""Prompts that a local model reads at once; one message, not one for each member of the union."""


class Generation(UserSettings):
    """How replies are generated. The defaults use no random sampling, so the same prompt gives the same reply."""

    max_new_tokens: int = Field(default=32, ge=1, le=32768, description="Longest reply, in tokens.")
    temperature: FiniteFloat | None = Field(
        default=0.0, ge=0, le=2, description="0 is greedy; empty leaves it to the endpoint, and is 0 for local models."
    )
    top_p: FiniteFloat | None = Field(default=None, gt=0, le=1, description="Nucleus sampling; empty: off.")
    stop: tuple[str, ...] = Field(default=(), description="Texts that end a reply.")


MOST_SHOTS = 100
LONGEST_SHOT = 20_000
"""Characters of a side of one."""

ShotText = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_SHOT, pattern=r"\S")]


class Shot(UserSettings):
    """An example before every prompt: a question and its answer."""

    model_config = ConfigDict(title="Example", hide_input_in_errors=True)

    user: ShotText = Field(description="What is asked.")
    assistant: ShotText = Field(description="What is answered.")


class ModelSpec(UserSettings):
    """A model and everything that could change its answers."""

    id: str
    args: Mapping[str, Any] = Field(default_factory=dict)
    generation: Generation = Generation()
    system_instruction: str | None = None
    few_shot: tuple[Shot, ...] = ()
    apply_chat_template: bool | None = None
    batch_size: BatchSize = "auto"
    identity: Mapping[str, str] = Field(default_factory=dict)
    """The identity that its provider found when the run began; empty before."""
    processes: int = 1
    """How many processes ask it at the same time for one run: they share its limits, and change no answer."""

    def messages(self, prompt: str) -> list[Message]:
        """Return a prompt as a chat: the system instruction, the examples in their order, and the prompt.

        A prompt that is a chat brings its own messages; its system prompt is joined to the system instruction.
        """
        chat = parse_chat(prompt)
        asked = [Message(role="user", content=prompt)] if chat is None else list(chat.messages)
        systems = [self.system_instruction or ""]
        while asked and asked[0]["role"] == "system":
            systems.append(asked.pop(0)["content"])
        system = "\n\n".join(filter(None, systems))
        messages = [Message(role="system", content=system)] if system else []
        for shot in self.few_shot:
            messages += [Message(role="user", content=shot.user), Message(role="assistant", content=shot.assistant)]
        return [*messages, *asked]

    def in_one_text(self, prompt: str) -> str:
        """Return a prompt as one text, as lm-eval does: a blank before an answer, an empty line after it.

        A prompt that is a chat is a transcript, which ends where the assistant's turn begins, or with `Answer:`.
        """
        asked, chat = prompt, parse_chat(prompt)
        if chat is not None:
            asked = format_transcript(chat.messages, labelled=True)
            asked += "" if asked.endswith(":") else "\n\nAssistant:"
        shots = (f"{shot.user} {shot.assistant}" for shot in self.few_shot)
        return "\n\n".join((*filter(None, (self.system_instruction,)), *shots, asked))

    @property
    def provider(self) -> str:
        """Return the part of the id before the first slash: a name in `PROVIDERS`."""
        return self.id.partition("/")[0]

    @property
    def known_provider(self) -> str:
        """Return the part of the id before the first slash, or raise ConfigError if there is no such provider."""
        return find_provider_name(self.id)

    @property
    def name(self) -> str:
        """Return the part of the id after the first slash; it is empty for a provider with one model."""
        return self.id.partition("/")[2]


OF_OPENAI = re.compile(r"(?:gpt|chatgpt|o\d|text-embedding|davinci)\b", re.IGNORECASE)
"""How the models of OpenAI's own address begin."""


def find_provider_name(model: str) -> str:
    """Return the provider that an id names, or raise ConfigError with the id that was probably meant."""
    name = model.partition("/")[0]
    if name in names("providers"):
        return name
    raise ConfigError(
        f"unknown provider {name!r}" if name else f"{model!r} names no provider",
        expected=f"one of {', '.join(sorted(names('providers')))}",
        remedy=_suggest_model(model),
    )


def _suggest_model(model: str) -> str:
    name, slash, rest = model.partition("/")
    if model.startswith(("./", "../", "/", "~")) or existing_folder(model):
        return f"Did you mean 'hf/{model}', the model in that folder?"
    if OF_OPENAI.match(name) and not slash:
        return f"Did you mean 'openai/{model}'?"
    # Without a slash it is the name of a model rather than a misspelt provider, unless they begin alike.
    alike = [known for known in names("providers") if slash or known[0] == name[:1]]
    if close := suggest_name(name, alike, otherwise=""):
        return close
    if rest and "/" not in rest:
        return f"Did you mean 'hf/{model}', of the Hugging Face hub, or 'openai/{model}' with model_args.base_url?"
    if model and not slash:
        return f"Did you mean 'ollama/{model}', or 'openai/{model}' with model_args.base_url?"
    return "Correct the name, or install the package that provides it."
