"""The chat template of a local model: its variables, and how to close a thought that it opens before the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import Message, parse_chat, refuse_tools
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.provider import Argument
from contrapose.tasks.infer.base import argument_error
from contrapose.tasks.language.replies.spoken import extract_final_text

TEMPLATE, VARIABLES = "chat_template", "chat_template_args"
ARGUMENTS: Mapping[str, Argument] = {
    TEMPLATE: Argument(
        type="text",
        description="Jinja file to use in place of the model's own chat template, or the template itself.",
    ),
    VARIABLES: Argument(type="mapping", description="Variables of the chat template, such as enable_thinking: false."),
}
PROVIDED = frozenset(
    "messages add_generation_prompt continue_final_message tools documents raise_exception strftime_now".split()  # noqa: SIM905
)
"""Names in a template whose values come from transformers."""
LONGEST = 1 << 20
"""Characters of a template; the longest of known models have about 20,000."""
QUESTION, THOUGHT, REPLY = "Hello", "CONTRAPOSE-THOUGHT", "CONTRAPOSE-REPLY"
THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Fields in which templates look for the thought of an earlier reply."""
IN_WORDS = "not closed: replies are read"
Chat = Sequence[Mapping[str, Any]] | Sequence[Message]
_TRACKED = re.compile(r"\{%[-+]?\s*(?:end)?generation\s*[-+]?%\}")
"""Tags of transformers around replies, which Jinja alone does not know."""
_LAST_MARK = re.compile(r"[<\[\u25c1][^<>\[\]\u25c1\u25b7]+[>\]\u25b7]\s*\Z")


def read_own_template(spec: ModelSpec) -> str | None:
    """Return the template that you set, as text, or None if you set none."""
    value = spec.args.get(TEMPLATE)
    if value is None:
        return None
    text = value if isinstance(value, str) and re.search(r"\{[{%#]|\n", value) else _read_file(value)
    if not text.strip() or len(text) > LONGEST:
        raise argument_error(TEMPLATE, f"{len(text):,} characters", expected=f"1 to {LONGEST:,} characters")
    _list_undeclared_names(text)
    return text


def _read_file(value: object) -> str:
    if isinstance(value, str) and value.strip():
        try:
            return Path(value).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError, RuntimeError):
            pass
    raise argument_error(TEMPLATE, value, expected="a Jinja file that can be read, or a template with {{ … }}")


def _list_undeclared_names(text: str) -> set[str]:
    """Return the names of all variables in a template; raise ModelError if it is not a template."""
    from jinja2 import TemplateSyntaxError, meta
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(extensions=[loopcontrols])
    try:
        return meta.find_undeclared_variables(environment.parse(_TRACKED.sub("", text)))
    except TemplateSyntaxError as error:
        raise ModelError(
            f"a chat template with an error in line {error.lineno}: {error.message}",
            expected="a Jinja template",
            remedy=f"Set model_args.{TEMPLATE} to a valid template.",
            where=f"model_args.{TEMPLATE}",
        ) from error


def list_template_variables(text: str, tokenizer: Any) -> list[str]:
    """Return the variables of a template that a user may set, sorted."""
    from jinja2.defaults import DEFAULT_NAMESPACE

    own = {*signature(tokenizer.apply_chat_template).parameters, *tokenizer.special_tokens_map}
    return sorted(_list_undeclared_names(text) - PROVIDED - own - set(DEFAULT_NAMESPACE))


def check_variables(spec: ModelSpec, known: Sequence[str]) -> dict[str, Any]:
    """Return the variables that you set, or raise ModelError if the template does not use one of them."""
    values = spec.args.get(VARIABLES) or {}
    place = f"model_args.{VARIABLES}"
    if not isinstance(values, Mapping):
        raise argument_error(VARIABLES, values, expected="a mapping, such as enable_thinking: false")
    for name in values:
        if name not in known:
            raise ModelError(
                f"unknown variable {name!r}",
                expected=f"one that the chat template uses: {', '.join(known) or 'it uses none'}",
                remedy=f"Remove it from {place}, or correct its name.",
                where=place,
            )
    return dict(values)


def is_template_used(spec: ModelSpec, text: str | None) -> bool:
    """Return whether prompts are put into the template; raise ModelError if you want it and there is none."""
    refuse_unused_template(spec)
    set_here = [name for name in ARGUMENTS if spec.args.get(name)]
    if (spec.apply_chat_template or set_here) and not text:
        name = f"model_args.{set_here[0]}" if set_here else "apply_chat_template"
        raise ModelError(
            f"{name} is {'set' if set_here else 'on'}, and the model has no chat template",
            expected="a model with a chat template",
            remedy=f"Set model_args.{TEMPLATE}, or remove {name}.",
            where=name,
        )
    return bool(text) if spec.apply_chat_template is None else spec.apply_chat_template


def refuse_unused_template(spec: ModelSpec) -> None:
    """Raise ModelError if you set a template or its variables, but also set that none is used."""
    name = next((name for name in ARGUMENTS if spec.args.get(name)), None)
    if spec.apply_chat_template is False and name is not None:
        raise ModelError(
            f"{name} is set, and apply_chat_template is off",
            expected="one of them",
            remedy=f"Remove model_args.{name}, or apply_chat_template.",
            where=f"model_args.{name}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtClosing:
    """A way to close the thought that a template opens, before letters are compared."""

    how: str
    """For people."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Variables of the template that keep it from opening the thought."""
    ending: str = ""
    """What the template writes after the opening mark, up to an earlier reply; empty if variables close it."""


class ChatTemplate:
    """A tokenizer's chat template, or your own, with its variables.

    Args:
        tokenizer: of transformers.
        spec: the model, its system instruction and its examples.
    """

    def __init__(self, tokenizer: Any, spec: ModelSpec) -> None:
        self.tokenizer, self.spec = tokenizer, spec
        own = read_own_template(spec)
        text = own or (tokenizer.get_chat_template() if tokenizer.chat_template else None)
        self.used, self.text = is_template_used(spec, text), text or ""
        self.known = list_template_variables(self.text, tokenizer) if self.used else []
        self.variables = check_variables(spec, self.known) if self.used else {}
        self.shows_tools = self.used and "tools" in _list_undeclared_names(self.text)

    def render(self, messages: Chat, *, replies: bool = True, **variables: Any) -> str:
        """Return messages as the template writes them; with `replies`, up to the beginning of the next reply."""
        from jinja2 import TemplateError

        settings = {**self.variables, **variables, "chat_template": self.text}
        try:
            return str(
                self.tokenizer.apply_chat_template(messages, add_generation_prompt=replies, tokenize=False, **settings)
            )
        except (TemplateError, TypeError, ValueError) as error:
            own = f"model_args.{TEMPLATE}" if self.spec.args.get(TEMPLATE) else ""
            otherwise = f"correct {own}" if own else "set apply_chat_template to false"
            raise ModelError(
                f"the chat template refuses the prompt ({error})",
                expected="a template with the roles that are used",
                remedy=f"Leave out system_instruction and few_shot, or {otherwise}.",
                where=own or "apply_chat_template",
            ) from error

    def format_prompt(self, prompt: str) -> str:
        """Return a prompt in the template, up to the beginning of the reply."""
        return self.render(self.spec.messages(prompt), **self._list_offered_tools(prompt))

    def format_closed_prompt(self, prompt: str) -> str:
        """Return the same as `format_prompt`, with the thought closed that the template opens, if this is possible."""
        closing = self.closing
        if closing is None:
            return self.format_prompt(prompt)
        text = self.render(self.spec.messages(prompt), **self._list_offered_tools(prompt), **closing.variables)
        return text.removesuffix(self.thought) + self.thought.rstrip() + closing.ending if closing.ending else text

    def _list_offered_tools(self, prompt: str) -> dict[str, Any]:
        """Return the tools that a prompt offers, or raise ModelError if the template cannot show tools."""
        if not self.shows_tools:
            refuse_tools(prompt, where=self.spec.id, why="the model's chat template has no place for them")
        chat = parse_chat(prompt)
        return {"tools": list(chat.tools)} if chat and chat.tools else {}

    @cached_property
    def thought(self) -> str:
        """The mark with which the template opens a thought before the reply; empty if it opens none."""
        return _find_open_thought(self.format_prompt(QUESTION)) if self.used else ""

    @cached_property
    def closing(self) -> ThoughtClosing | None:
        """The way to close the thought; None if the template opens none, or it cannot be closed."""
        if not self.thought:
            return None
        return next(self._yield_variable_closings(), None) or next(self._yield_reply_closings(), None)

    @property
    def note(self) -> str:
        """Text for people about what is done with the thought; empty if the template opens none."""
        return "" if not self.thought else self.closing.how if self.closing else IN_WORDS

    def _yield_variable_closings(self) -> Iterator[ThoughtClosing]:
        for name in self.known:
            if "think" not in name.lower() or name in self.variables:
                continue
            try:
                closed = not _find_open_thought(self.render(self.spec.messages(QUESTION), **{name: False}))
            except ModelError:
                continue
            if closed:
                yield ThoughtClosing(how=f"closed with {name}: false", variables={name: False})

    def _yield_reply_closings(self) -> Iterator[ThoughtClosing]:
        """Yield the closings that the template writes before earlier replies of a chat."""
        question, mark = {"role": "user", "content": QUESTION}, self.thought.rstrip()
        earlier: list[dict[str, str]] = [{"role": "assistant", "content": REPLY}]
        earlier += [{**earlier[0], name: THOUGHT} for name in THOUGHT_FIELDS]
        for reply in earlier:
            for chat in ([question, reply], [question, reply, question]):
                try:
                    start, text = self.render([question]).rstrip(), self.render(chat, replies=False)
                except ModelError:
                    continue
                between = text[len(start) :].partition(REPLY)[0].replace(THOUGHT, "")
                if text.startswith(start) and REPLY in text and extract_final_text(f"{mark}{between}A") == "A":
                    yield ThoughtClosing(how=f"closed as {json.dumps(mark + between)}", ending=between)


def _find_open_thought(prompt: str) -> str:
    """Return the mark of an open thought at the end of a prompt, with the blanks after it; empty if there is none."""
    mark = _LAST_MARK.search(prompt)
    return mark[0] if mark and not extract_final_text(f"{mark[0]}A") else ""
