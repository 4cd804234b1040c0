"""Prompts as templates, a suite's own or ours, and how the replies to a suite's own name what they choose."""

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
"""Characters of a reply in which a field is looked for; of a longer one nothing is read."""
LONGEST_PATH = 200
"""Characters of the path of a field."""
MOST_STEPS = 10
"""Names in such a path."""

_BEGINS = re.compile(r"""\{(?=\s*["'}])""")
"""Where an object begins; a brace before anything else belongs to the text."""
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
"""Braces, and texts, whose braces do not count: they show where an object ends that is not JSON after all."""


def check_field(path: str) -> None:
    """Raise ValueError for a path that leads nowhere."""
    steps = path.split(".")
    if len(path) > LONGEST_PATH or len(steps) > MOST_STEPS:
        observed = f"a path of {len(path):,} characters and {len(steps):,} names"
        raise ValueError(f"{observed}; expected at most {LONGEST_PATH} and {MOST_STEPS}")
    if not all(step.strip() for step in steps):
        raise ValueError(f"path {path!r} with an empty name; expected names of fields, parted by points")


def field_in(reply: str, path: str) -> str | None:
    """Return what a field of the reply says: a text, a number as it is written, or `true` and `false`.

    Where several objects hold the field, the last one counts: a reply may quote the form that it was asked for. None
    where no object holds it, the last object is broken or names the field twice, the field holds anything else, or
    objects with nothing between them, as in a list, disagree. A path is names of fields, parted by points.
    """
    if len(reply) > LONGEST_REPLY:
        return None
    field: str | None = None
    last = -1
    for value, start, end in _objects(reply):
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


def _objects(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield each outer object with its start and end, None for a broken one; each sign is read twice at most."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_without_doubles, parse_int=str, parse_float=str, parse_constant=str, strict=False
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


def _without_doubles(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object in which a name that stands twice says nothing."""
    often = Counter(name for name, _ in pairs)
    return {name: value if often[name] == 1 else None for name, value in pairs}


if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from regex import Match

LONGEST_TEMPLATE = 100_000
LONGEST_PROMPT = 1_000_000
"""Characters of what comes of it."""
FILTERS = ("default", "first", "last", "length", "lower", "title", "tojson", "trim", "upper")
"""Jinja's filters that a template may use."""
PARTS = {
    *("And", "Compare", "CondExpr", "Const", "Filter", "If", "Keyword", "Name", "Not", "Operand", "Or"),
    *("Output", "Template", "TemplateData", "Test"),
}
"""What a template may be made of, by Jinja's own names: with loops, products or assignments, a short one could make
texts without end."""
READ_SECONDS = 1.0
"""Time that a pattern may take over one reply: some patterns take forever over some texts."""
LAST = 20_000
"""Characters at the end of a reply in which labels are looked for."""
LONGEST_LABEL = 100


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Return Jinja's sandbox, with few filters and no functions."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Missing(StrictUndefined):
        """Value that a sample lacks: a condition may ask whether it is there, and nothing may print it."""

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
"""A message of a template of several."""


def join_messages(messages: Sequence[Mapping[str, str]]) -> str:
    """Return a list of messages, each with `role` and `content`, as a template; ValueError where it is no such list."""
    for message in messages:
        if not isinstance(message, Mapping) or message.keys() != {"role", "content"}:
            raise ValueError("a message of other keys; expected role (system, user or assistant) and content")
    return "\n".join(
        f'{{% message role="{message["role"]}" %}}{message["content"]}{{% endmessage %}}' for message in messages
    )


@lru_cache(maxsize=128)
def split_messages(template: str) -> tuple[tuple[str, str], ...]:
    """Return role and template of each message of a template; one without messages is that of a user.

    Raise ValueError where something stands outside of the messages, or the last is not the user's. The template is
    parted before anything is filled in: no value can begin a message.
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
    """Raise ValueError for a template of Jinja2 that uses other than known names, or lacks needed ones."""
    from jinja2 import TemplateError, nodes

    if len(template) > LONGEST_TEMPLATE:
        raise ValueError(f"{len(template):,} characters; expected at most {LONGEST_TEMPLATE:,}")
    try:
        for _, part in split_messages(template):
            for node in _environment().parse(part).find_all(nodes.Node):
                if (kind := type(node).__name__) not in PARTS:
                    raise ValueError(f"{kind} in line {node.lineno}; expected names, conditions and filters alone")
            # Only now: what is compiled is computed as far as it can be.
            _template(part)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f" in line {line}" if line else ""
        raise ValueError(f"{error.message or type(error).__name__}{place}; expected a template of Jinja2") from error
    names = names_in(template)
    if unknown := sorted(names - set(known)):
        raise ValueError(f"{{{{ {unknown[0]} }}}}; expected one of {', '.join(known)}")
    if missing := [name for name in needed if name not in names]:
        shown = " and ".join(f"{{{{ {name} }}}}" for name in needed)
        raise ValueError(f"a prompt without {{{{ {missing[0]} }}}}; expected {shown} in it. Add {shown} to the prompt")


@lru_cache(maxsize=128)
def _template(text: str) -> Template:
    return _environment().from_string(text)


@lru_cache(maxsize=32)
def names_in(template: str) -> frozenset[str]:
    """Return the names that a template uses."""
    from jinja2 import meta

    parts = (_environment().parse(part) for _, part in split_messages(template))
    return frozenset[str]().union(*map(meta.find_undeclared_variables, parts))


@lru_cache(maxsize=8)
def built_in_wordings(name: str) -> tuple[str, ...]:
    """Return our own prompt of that name in all its wordings, the usual one first: `text`, or that of a test."""
    import yaml

    folder = files("contrapose.data").joinpath("prompts")
    further = yaml.safe_load(folder.joinpath("wordings.yaml").read_text(encoding="utf-8"))
    return (folder.joinpath(f"{name}.j2").read_text(encoding="utf-8"), *further.get(name, ()))


def default_prompt(name: str, values: Mapping[str, Any], *, wording: int = 1, where: str) -> str:
    """Return our own prompt of that name for some values, in one of its wordings by number from 1."""
    return refuse_chat_in_text(_template(built_in_wordings(name)[wording - 1]).render(values), where=where)


def render_prompt(template: str, values: Mapping[str, str], *, where: str, strip: bool = True) -> str:
    """Return the prompt for some values, or raise ConfigError where it does what it may not, is empty or too long.

    The prompt of a template of several messages is a chat.
    """
    parts = split_messages(template)
    if len(parts) > 1:
        contents = [(role, render_prompt(part, values, where=where)) for role, part in parts]
        return Chat(messages=tuple(Message(role=role, content=content) for role, content in contents)).prompt  # type: ignore[typeddict-item]
    try:
        prompt = _template(parts[0][1]).render(values)
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
    """Raise ValueError for labels that are no words, or of which two are the same."""
    if long := next((label for label in labels if len(label) > LONGEST_LABEL or not label.isprintable()), None):
        raise ValueError(f"a label of {len(long):,} characters; expected at most {LONGEST_LABEL}, and no line breaks")
    if len({label.strip().casefold() for label in labels}) < len(labels) or not all(map(str.strip, labels)):
        count = "two" if len(labels) == 2 else str(len(labels))
        raise ValueError(f"labels {', '.join(map(repr, labels))}; expected {count} that differ")


def find_labels(text: str, labels: Iterable[str], pattern: str | None, *, start: int = 0) -> Iterator[Match[str]]:
    """Yield what a pattern finds, else each label that is a word of its own; raise TimeoutError where that takes long.

    `start` is the offset from which on they are looked for.
    """
    import regex

    longest_first = sorted((label.strip() for label in labels), key=len, reverse=True)
    searched = pattern or rf"(?<!\w)({'|'.join(map(regex.escape, longest_first))})(?!\w)"
    flags = 0 if pattern else regex.IGNORECASE
    yield from regex.finditer(searched, text, flags, pos=start, timeout=READ_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLabels:
    """Labels of a prompt of one's own, by which replies are read."""

    labels: tuple[str, ...]
    """What stands for the options, in their order; there may be more than a sample has options."""
    pattern: str | None = None
    """Regular expression whose group captures a label; None: a label that stands in the reply, as a word of its own."""
    field: str | None = None
    """Path of the field of JSON that holds the label; then there is no pattern."""

    def check(self) -> None:
        """Raise ValueError where labels, pattern or field cannot be read in a reply."""
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

    def place(self, reply: str, *, count: int, cut_off: bool = False) -> int | None:
        """Return the place of the one label, of so many, that a reply names; None where it names none, or several.

        Thoughts name nothing, and neither does a reply over which the pattern takes too long. Without a pattern or a
        field, a reply that was `cut_off` names only what its first or last sentence names.
        """
        reply = extract_final_text(reply)
        named = self._named_place(reply, count=count)
        if not cut_off or self.pattern is not None or self.field is not None:
            return named
        return named if named in {self._named_place(part, count=count) for part in find_both_ends(reply)} else None

    def _named_place(self, reply: str, *, count: int) -> int | None:
        try:
            if self.field is None:
                named = [match[1] or "" for match in find_labels(reply[-LAST:], self.labels, self.pattern)]
            else:
                named = [field_in(reply, self.field) or ""]
        except TimeoutError:
            return None
        names = {label.strip().casefold() for label in named}
        places = [place for place, label in enumerate(self.labels) if label.strip().casefold() in names]
        return places[0] if len(places) == 1 and places[0] < count else None
