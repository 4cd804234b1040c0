"""Check and render prompt templates, a suite's own or ours, and find the labels of a suite's prompt in replies."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from contrapose.tasks.core.chats import Chat, Message, refuse_chat_in_text
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.language.replies.cut_off import find_both_ends
from contrapose.tasks.language.replies.spoken import extract_final_text
from contrapose.tasks.probes.base import letters

LONGEST_REPLY = 200_000
"""Most characters of a reply in which a field is searched; nothing is read from a longer one."""
LONGEST_PATH = 200
"""Most characters in the path of a field."""
MOST_STEPS = 10
"""Most names in such a path."""

_BEGINS = re.compile(r"""\{(?=\s*["'}])""")
"""The beginning of an object; a brace before anything else is part of the text."""
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
"""Braces and quoted texts: they show the end of an object that is not valid JSON."""


def check_field(path: str) -> None:
    """Raise ValueError if the path of a JSON field is too long or has an empty name."""
    steps = path.split(".")
    if len(path) > LONGEST_PATH or len(steps) > MOST_STEPS:
        observed = f"a path of {len(path):,} characters and {len(steps):,} names"
        raise ValueError(f"{observed}; expected at most {LONGEST_PATH} and {MOST_STEPS}")
    if not all(step.strip() for step in steps):
        raise ValueError(f"path {path!r} with an empty name; expected names of fields, parted by points")


def read_field(reply: str, path: str) -> str | None:
    """Return the value of a JSON field in a reply as text: a text, a number as written, `true` or `false`; else None.

    If several objects have the field, the last one counts, because a reply may quote the requested form first. None if
    no object has it, the last object is broken or has the name twice, the value is of another type, or adjacent
    objects, as in a list, disagree. A path is names of fields, separated by points.
    """
    if len(reply) > LONGEST_REPLY:
        return None
    field: str | None = None
    last = -1
    for value, start, end in _yield_objects(reply):
        for step in path.split(".") if value is not None else ():
            if not isinstance(value, Mapping) or step not in value:
                break
            value = value[step]
        else:
            # A broken object has no value.
            content = {True: "true", False: "false"}[value] if isinstance(value, bool) else value
            text = content if isinstance(content, str) else None
            joined = last >= 0 and not re.search(r"\w", reply[last:start])
            field = None if joined and text != field else text
            last = end
    return field


def _yield_objects(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield each outer JSON object with its start and end, None if it is broken; read each character at most twice."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_blank_repeated_names, parse_int=str, parse_float=str, parse_constant=str, strict=False
    )
    place = 0
    while (begins := _BEGINS.search(text, place)) is not None:
        start = begins.start()
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            # A broken object ends by its braces, or with the text where they are open.
            value, place, depth = None, len(text), 0
            for part in _PARTS.finditer(text, start):
                depth += {"{": 1, "}": -1}.get(part[0], 0)
                if depth == 0:
                    place = part.end()
                    break
        yield value, start, place


def _blank_repeated_names(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object in which names that occur twice have the value None."""
    often = Counter(name for name, _ in pairs)
    return {name: value if often[name] == 1 else None for name, value in pairs}


if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from regex import Match

LONGEST_TEMPLATE = 100_000
LONGEST_PROMPT = 1_000_000
"""Most characters of a rendered prompt."""
FILTERS = ("default", "first", "last", "length", "lower", "title", "tojson", "trim", "upper")
"""The filters of Jinja that a template may use."""
PARTS = {
    *("And", "Compare", "CondExpr", "Const", "Filter", "If", "Keyword", "Name", "Not", "Operand", "Or"),
    *("Output", "Template", "TemplateData", "Test"),
}
"""Jinja's node types that a template may contain: with loops, products or assignments, a short one could make
texts without end."""
READ_SECONDS = 1.0
"""Time limit of a pattern on one reply, because some patterns never finish on some texts."""
LAST = 20_000
"""Characters at the end of a reply in which labels are searched."""
LONGEST_LABEL = 100


@lru_cache(maxsize=1)
def _make_environment() -> Environment:
    """Return Jinja's sandbox with few filters and no functions."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Missing(StrictUndefined):
        """A value that a sample lacks: a condition may test it, but printing it is an error."""

        def __bool__(self) -> bool:  # type: ignore[override]
            return False

        def __str__(self) -> str:  # type: ignore[override]
            raise KeyError(self._undefined_name)

    # A prompt is text and no page: what is escaped for HTML would be another prompt.
    environment = ImmutableSandboxedEnvironment(undefined=Missing, autoescape=False)
    environment.globals.clear()
    environment.filters = {name: environment.filters[name] for name in FILTERS}
    return environment


_MESSAGE = re.compile(
    r"\{%-?\s*message\s+role\s*=\s*[\"']?(system|user|assistant)[\"']?\s*-?%\}(.*?)\{%-?\s*endmessage\s*-?%\}",
    re.DOTALL,
)
"""One message in a template with several messages."""


def join_messages(messages: Sequence[Mapping[str, str]]) -> str:
    """Return a list of messages, each with `role` and `content`, as a template; raise ValueError for other keys."""
    for message in messages:
        if not isinstance(message, Mapping) or message.keys() != {"role", "content"}:
            raise ValueError("a message of other keys; expected role (system, user or assistant) and content")
    return "\n".join(
        f'{{% message role="{message["role"]}" %}}{message["content"]}{{% endmessage %}}' for message in messages
    )


@lru_cache(maxsize=128)
def split_messages(template: str) -> tuple[tuple[str, str], ...]:
    """Return role and template of each message in a template; a template without messages is a user message.

    Raise ValueError if there is text outside of the messages, or the last message is not the user's. The template is
    split before values are inserted, so that no value can begin a message.
    """
    if "endmessage" not in template:
        return (("user", template),)
    parts = tuple((match[1], match[2].strip()) for match in _MESSAGE.finditer(template))
    outside = _MESSAGE.sub("", template).strip()
    if outside:
        raise ValueError(f"{outside[:40]!r} outside of messages; expected messages of system, user and assistant alone")
    if parts[-1][0] != "user":
        raise ValueError(f"a last message of the {parts[-1][0]}; expected one of the user")
    return parts


def check_template(template: str, *, known: Sequence[str], needed: Sequence[str]) -> None:
    """Raise ValueError if a Jinja2 template uses an unknown name or lacks a needed one."""
    from jinja2 import TemplateError, nodes

    if len(template) > LONGEST_TEMPLATE:
        raise ValueError(f"{len(template):,} characters; expected at most {LONGEST_TEMPLATE:,}")
    try:
        for _, part in split_messages(template):
            for node in _make_environment().parse(part).find_all(nodes.Node):
                if (kind := type(node).__name__) not in PARTS:
                    raise ValueError(f"{kind} in line {node.lineno}; expected names, conditions and filters alone")
            # Only now: what is compiled is computed as far as it can be.
            _compile_template(part)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f" in line {line}" if line else ""
        raise ValueError(f"{error.message or type(error).__name__}{place}; expected a template of Jinja2") from error
    names = list_template_names(template)
    if unknown := sorted(names - set(known)):
        raise ValueError(f"{{{{ {unknown[0]} }}}}; expected one of {', '.join(known)}")
    if missing := [name for name in needed if name not in names]:
        shown = " and ".join(f"{{{{ {name} }}}}" for name in needed)
        raise ValueError(f"a prompt without {{{{ {missing[0]} }}}}; expected {shown} in it. Add {shown} to the prompt")


@lru_cache(maxsize=128)
def _compile_template(text: str) -> Template:
    return _make_environment().from_string(text)


@lru_cache(maxsize=32)
def list_template_names(template: str) -> frozenset[str]:
    """Return the names of the variables that a template uses."""
    from jinja2 import meta

    parts = (_make_environment().parse(part) for _, part in split_messages(template))
    return frozenset[str]().union(*map(meta.find_undeclared_variables, parts))


@lru_cache(maxsize=8)
def load_built_in_wordings(name: str) -> tuple[str, ...]:
    """Return all wordings of our own prompt with this name (`text`, or a test's name), the default first."""
    import yaml

    folder = files("contrapose.data").joinpath("prompts")
    further = yaml.safe_load(folder.joinpath("wordings.yaml").read_text(encoding="utf-8"))
    return (folder.joinpath(f"{name}.j2").read_text(encoding="utf-8"), *further.get(name, ()))


def render_built_in(name: str, values: Mapping[str, Any], *, wording: int = 1, where: str) -> str:
    """Render our own prompt with this name, in one of its wordings by number from 1."""
    return refuse_chat_in_text(_compile_template(load_built_in_wordings(name)[wording - 1]).render(values), where=where)


def render_prompt(template: str, values: Mapping[str, str], *, where: str, strip: bool = True) -> str:
    """Render a template; raise ConfigError if it fails, or the prompt is empty or too long.

    The prompt of a template of several messages is a chat.
    """
    parts = split_messages(template)
    if len(parts) > 1:
        contents = [(role, render_prompt(part, values, where=where)) for role, part in parts]
        return Chat(messages=tuple(Message(role=role, content=content) for role, content in contents)).prompt  # type: ignore[typeddict-item]
    try:
        prompt = _compile_template(parts[0][1]).render(values)
    except KeyError as error:
        observed = f"the template needs {{{{ {error.args[0]} }}}}, which this sample does not have"
        remedy = f"Write {{% if {error.args[0]} %}} around it, or remove the sample."
        raise ConfigError(observed, expected="a value of every name", remedy=remedy, where=where) from error
    except Exception as error:
        # A template can fail in whichever way a program can.
        observed = f"the template fails: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise ConfigError(observed, expected="a prompt", remedy="Correct the template.", where=where) from error
    stripped = prompt.strip()
    if not stripped or len(prompt) > LONGEST_PROMPT:
        raise ConfigError(
            f"a prompt of {len(stripped):,} characters",
            expected=f"1 to {LONGEST_PROMPT:,}",
            remedy="Correct the template.",
            where=where,
        )
    return refuse_chat_in_text(stripped if strip else prompt, where=where)


def check_distinct(labels: Sequence[str]) -> None:
    """Raise ValueError if a label is too long or empty, or two labels are equal."""
    if long := next((label for label in labels if len(label) > LONGEST_LABEL or not label.isprintable()), None):
        raise ValueError(f"a label of {len(long):,} characters; expected at most {LONGEST_LABEL}, and no line breaks")
    if len({label.strip().casefold() for label in labels}) < len(labels) or not all(map(str.strip, labels)):
        count = "two" if len(labels) == 2 else str(len(labels))
        raise ValueError(f"labels {', '.join(map(repr, labels))}; expected {count} that differ")


def find_labels(text: str, labels: Iterable[str], pattern: str | None, *, start: int = 0) -> Iterator[Match[str]]:
    """Yield the matches of a pattern, or the labels as separate words; raise TimeoutError if that takes too long.

    `start` is the offset from which on they are looked for.
    """
    import regex

    longest_first = sorted((label.strip() for label in labels), key=len, reverse=True)
    searched = pattern or rf"(?<!\w)({'|'.join(map(regex.escape, longest_first))})(?!\w)"
    flags = 0 if pattern else regex.IGNORECASE
    yield from regex.finditer(searched, text, flags, pos=start, timeout=READ_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLabels:
    """The labels of your own prompt, and how they are found in a reply."""

    labels: tuple[str, ...]
    """The labels of the options, in order; there may be more labels than options."""
    pattern: str | None = None
    """Regular expression whose group captures a label; None: a label is found as a separate word."""
    field: str | None = None
    """Path of the JSON field with the label; then there is no pattern."""

    def check(self) -> None:
        """Raise ValueError if labels, pattern or field cannot work."""
        import regex

        check_distinct(self.labels)
        if self.field is not None:
            if self.pattern is not None:
                raise ValueError("a pattern and a field; expected one of them, since a reply is read by one")
            check_field(self.field)
            return
        single = any(len(label) == 1 and label.isalpha() for label in self.labels)
        if not self.pattern and single and self.labels != letters(len(self.labels)):
            raise ValueError("labels of one letter; expected a pattern, too, since a letter stands in any text")
        try:
            groups = regex.compile(self.pattern).groups if self.pattern else 1
        except regex.error as error:
            raise ValueError(f"{error.msg}; expected a regular expression") from error
        if groups != 1:
            raise ValueError(f"a pattern with {groups} groups; expected one, which captures a label")

    def find_place(self, reply: str, *, count: int, cut_off: bool = False) -> int | None:
        """Return the place of the only label among the first `count` that a reply names; None for no or several.

        Thoughts name nothing, and neither does a reply over which the pattern takes too long. Without a pattern or a
        field, a reply that was `cut_off` names only what its first or last sentence names.
        """
        reply = extract_final_text(reply)
        named = self._find_label(reply, count=count)
        if not cut_off or self.pattern is not None or self.field is not None:
            return named
        return named if named in {self._find_label(part, count=count) for part in find_both_ends(reply)} else None

    def _find_label(self, reply: str, *, count: int) -> int | None:
        try:
            if self.field is None:
                named = [match[1] or "" for match in find_labels(reply[-LAST:], self.labels, self.pattern)]
            else:
                named = [read_field(reply, self.field) or ""]
        except TimeoutError:
            return None
        names = {label.strip().casefold() for label in named}
        places = [place for place, label in enumerate(self.labels) if label.strip().casefold() in names]
        return places[0] if len(places) == 1 and places[0] < count else None
