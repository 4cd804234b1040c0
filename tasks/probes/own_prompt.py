"""A prompt of one's own: a template that a suite brings, and how the replies to it name what they choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.language.replies.spoken import spoken
from contrapose.tasks.probes.base import letters
from contrapose.tasks.probes.reply_field import check_field, field_in
from contrapose.tasks.probes.templates import plain

if TYPE_CHECKING:
    from jinja2 import Environment, Template

LETTERS = ("A", "B")
"""Labels for which there are rules."""
LONGEST_TEMPLATE = 100_000
"""Characters of a template."""
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
"""What a pattern may take over one reply: some patterns take forever over some texts."""
LAST = 20_000
"""Characters at the end of a reply in which labels are looked for."""
LONGEST_LABEL = 100
"""Characters of a label."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Jinja's sandbox, with few filters and no functions."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Missing(StrictUndefined):
        """What a sample has not: a condition may ask whether it is there, and nothing may print it."""

        def __bool__(self) -> bool:  # type: ignore[override]
            return False

    # A prompt is text and no page: what is escaped for HTML would be another prompt.
    environment = ImmutableSandboxedEnvironment(undefined=Missing, autoescape=False)
    environment.globals.clear()
    environment.filters = {name: environment.filters[name] for name in FILTERS}
    return environment


def check_template(template: str, *, known: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a template that cannot be used.

    Args:
        template: Jinja2's.
        known: names that it may use.
        needed: those of them that it must.

    Raises:
        ValueError: what is wrong, and what was expected.
    """
    from jinja2 import TemplateError, meta, nodes

    if len(template) > LONGEST_TEMPLATE:
        raise ValueError(f"{len(template):,} characters; expected at most {LONGEST_TEMPLATE:,}")
    try:
        parsed = _environment().parse(template)
        for node in parsed.find_all(nodes.Node):
            if (kind := type(node).__name__) not in PARTS:
                raise ValueError(f"{kind} in line {node.lineno}; expected names, conditions and filters alone")
        # Only now: what is compiled is computed as far as it can be.
        _template(template)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f" in line {line}" if line else ""
        raise ValueError(f"{error.message or type(error).__name__}{place}; expected a template of Jinja2") from error
    names = meta.find_undeclared_variables(parsed)
    if unknown := sorted(names - set(known)):
        raise ValueError(f"{{{{ {unknown[0]} }}}}; expected one of {', '.join(known)}")
    if missing := [name for name in needed if name not in names]:
        raise ValueError(f"a prompt without {{{{ {missing[0]} }}}}; expected {' and '.join(needed)} in it")


@lru_cache(maxsize=32)
def _template(text: str) -> Template:
    return _environment().from_string(text)


@lru_cache(maxsize=32)
def names_in(template: str) -> frozenset[str]:
    """The names that a checked template uses."""
    from jinja2 import meta

    return frozenset(meta.find_undeclared_variables(_environment().parse(template)))


def rendered(template: str, values: Mapping[str, str], *, where: str, strip: bool = True) -> str:
    """The prompt for some values.

    Args:
        template: checked before.
        values: of its names.
        where: the setting that holds it.
        strip: whether white space around the prompt is none of it.

    Raises:
        ConfigError: it does what it may not, or the prompt is empty or too long.
    """
    try:
        form = plain(template)
        prompt = _template(template).render(values) if form is None else form.fill(values)
    except KeyError as error:
        observed = f"the template needs {{{{ {error.args[0]} }}}}, which this sample has not"
        remedy = f"Ask first: {{% if {error.args[0]} %}}, or leave the sample out."
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
    return stripped if strip else prompt


def check_labels(labels: Sequence[str], pattern: str | None, *, field: str | None = None) -> None:
    """Refuse labels that cannot be told apart, a pattern that captures none, and a field that cannot be there.

    Raises:
        ValueError: what is wrong, and what was expected.
    """
    check_distinct(labels)
    if field is not None and pattern is not None:
        raise ValueError("a pattern and a field; expected one of them, since a reply is read by one")
    if field is not None:
        return check_field(field)
    if (
        not pattern
        and tuple(labels) != letters(len(labels))
        and any(len(label) == 1 and label.isalpha() for label in labels)
    ):
        raise ValueError("labels of one letter; expected a pattern, too, since a letter stands in any text")
    return _check_pattern(pattern)


def check_distinct(labels: Sequence[str]) -> None:
    """Refuse labels that are no words, or of which two are the same.

    Raises:
        ValueError: what is wrong, and what was expected.
    """
    if long := next((label for label in labels if len(label) > LONGEST_LABEL or not label.isprintable()), None):
        raise ValueError(f"a label of {len(long):,} characters; expected at most {LONGEST_LABEL}, and no line breaks")
    if len({label.strip().casefold() for label in labels}) < len(labels) or not all(map(str.strip, labels)):
        count = "two" if len(labels) == 2 else str(len(labels))
        raise ValueError(f"labels {', '.join(map(repr, labels))}; expected {count} that differ")


def _check_pattern(pattern: str | None) -> None:
    import regex

    try:
        groups = regex.compile(pattern).groups if pattern else 1
    except regex.error as error:
        raise ValueError(f"{error.msg}; expected a regular expression") from error
    if groups != 1:
        raise ValueError(f"a pattern with {groups} groups; expected one, which captures a label")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLabels:
    """How replies are read that name labels of a prompt of one's own."""

    labels: tuple[str, ...]
    """What stands for the options, in their order; there may be more than a sample has options."""
    pattern: str | None
    """Whose group captures a label."""
    field: str | None
    """Path of the field of JSON that holds it."""

    def place(self, reply: str, *, count: int) -> int | None:
        """Place of the one option that a reply names among so many; None where it names none, or several."""
        place = labelled(reply, self.labels, self.pattern, field=self.field)
        return None if place is None or place >= count else place


def labelled(reply: str, labels: Sequence[str], pattern: str | None, *, field: str | None = None) -> int | None:
    """Which label a reply names, by its place; None where it names none, or several. Thoughts name nothing.

    Args:
        reply: what came back.
        labels: what stands for the options.
        pattern: whose group captures a label; None: a label that stands in the reply, as a word of its own.
        field: path of the field that holds the label, in a reply with JSON; then there is no pattern.
    """
    reply = spoken(reply)
    named = _named(reply, labels, pattern) if field is None else [field_in(reply, field) or ""]
    names = {label.strip().casefold() for label in named}
    places = [place for place, label in enumerate(labels) if label.strip().casefold() in names]
    return places[0] if len(places) == 1 else None


def _named(reply: str, labels: Sequence[str], pattern: str | None) -> Sequence[str]:
    """Labels that stand in the end of a reply, as often as they do; none where the pattern takes too long."""
    import regex

    longest_first = sorted((label.strip() for label in labels), key=len, reverse=True)
    searched = pattern or rf"(?<!\w)({'|'.join(map(regex.escape, longest_first))})(?!\w)"
    try:
        flags = 0 if pattern else regex.IGNORECASE
        named: list[str] = regex.findall(searched, reply[-LAST:], flags, timeout=READ_SECONDS)
    except TimeoutError:
        return []
    return named
