"""Reads which of two answers a judge prefers, or that it calls a tie: by its own labels, a pattern, or usual words."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from contrapose.tasks.core.records import Verdict
from contrapose.tasks.language.replies.cut_off import CUT_OFF, opening_and_end
from contrapose.tasks.language.replies.spoken import TURN, Step, is_supposed, spoken_text
from contrapose.tasks.language.replies.verdict_words import named_verdict
from contrapose.tasks.probes.asking_back import declines
from contrapose.tasks.probes.orders.letter_replies import Letter, LetterChoice, read_words
from contrapose.tasks.probes.own_prompt import LAST, READ_SECONDS, OwnLabels, field_in

SIDES: Mapping[str, Letter] = {"first": "A", "second": "B"}
GROUPS = frozenset(("first", "second", "tie"))
"""Groups of a pattern that say by their names what they mean."""
BRACKETS = r"\[\[([^\[\]\n]{1,40})\]\]"
"""Marks of a verdict, which most prompts for judges ask for."""
_HEDGES = re.compile(r"\bA\b\W{0,4}or\b.{0,20}?\bB\b|\bB\b\W{0,4}or\b.{0,20}?\bA\b")
"""A reply that leaves open which one it is, and calls no tie: "It could be A or B."."""
REPETITIVE = tuple(part * (2_000 // len(part)) + "!" for part in ("a", "A", " ", "1", "[", "a ", "a b, ", "\n"))
"""Texts over which patterns that backtrack without end take longest."""
CHECK_SECONDS = 0.5
SHOWN = 40
"""Characters of a label that a reason repeats."""


class Mark(NamedTuple):
    """A place of a reply that names a verdict."""

    start: int
    end: int
    name: str
    """As the reply writes it."""
    verdict: Verdict | None
    """None for a name that is no label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLabels:
    """How replies name a verdict: by labels, found by a pattern, in a field of JSON, or as words of their own."""

    labels: Mapping[str, Verdict]
    """What each label means."""
    usual: bool
    """Whether the usual words count too, such as `A`, `model_b`, `A>B` and `tie`."""
    pattern: str | None = None
    """Regular expression with one group, which captures a label, or with groups called first, second and tie."""
    field: str | None = None
    """Path of the field of JSON that holds the label; then there is no pattern."""

    def check(self) -> None:
        """Raise ValueError where labels, pattern or field cannot be read in a reply."""
        import regex

        if not self.usual and not {"first", "second"} <= set(self.labels.values()):
            raise ValueError(f"labels {', '.join(map(repr, self.labels))}; expected one for first and one for second")
        # Letters stand for usual words, which need no check of their own.
        plain = OwnLabels(labels=tuple(self.labels) or ("A", "B"), pattern=self.pattern, field=self.field)
        try:
            names = set(regex.compile(self.pattern).groupindex) if self.pattern else set[str]()
        except regex.error as error:
            raise ValueError(f"{error.msg}; expected a regular expression") from error
        if self.pattern is not None and not ends_in_time(self.pattern):
            raise ValueError("a pattern that takes too long on some texts; expected no repetition within a repetition")
        if not names & GROUPS or self.field is not None:
            plain.check()
        elif self.labels:
            raise ValueError("labels and groups called first, second or tie; expected one of them, since both say it")
        elif not {"first", "second"} <= names <= GROUPS:
            raise ValueError(
                f"groups {', '.join(sorted(names))}; expected first and second, and tie where there is one"
            )

    @property
    def has_tie(self) -> bool:
        """Return whether a reply may name a tie."""
        import regex

        names = set(regex.compile(self.pattern).groupindex) if self.pattern else set[str]()
        return "tie" in (names & GROUPS or {*self.labels.values(), *(("tie",) if self.usual else ())})

    def read(self, reply: str, *, cut_off: bool = False) -> LetterChoice:
        """Return the verdict that a reply names, or why it names none.

        Thoughts name nothing. Where several places name different verdicts, those that are only supposed or denied, or
        taken back later ("Wait, …"), do not count; what still differs contradicts itself. Without a pattern or a
        field, a reply that was `cut_off` names only what its first or last sentence names.
        """
        said = spoken_text(reply)
        named = self._read_spoken(said)
        if not cut_off or self.pattern is not None or self.field is not None:
            return named
        parts = [self._read_spoken(part) for part in opening_and_end(said)]
        is_held = any((part.choice, part.tie) == (named.choice, named.tie) for part in parts)
        return named if is_held else _unread(CUT_OFF)

    def _read_spoken(self, said: str) -> LetterChoice:
        """Return the verdict that a text without thoughts names, or why it names none."""
        try:
            marks = list(self._marks(said))
        except TimeoutError:
            return _unread(f"the pattern takes longer than {READ_SECONDS:g} second on this reply")
        return settle(said, marks) if marks else _unread("no label is named")

    def _marks(self, said: str) -> Iterator[Mark]:
        """Yield the places that name a verdict; raise TimeoutError where the pattern takes too long."""
        import regex

        if self.field is not None:
            held = field_in(said, self.field)
            if held is not None:
                yield Mark(0, len(said), held.strip(), self.meaning(held))
            return
        longest_first = sorted((label.strip() for label in self.labels), key=len, reverse=True)
        searched = self.pattern or rf"(?<!\w)({'|'.join(map(regex.escape, longest_first))})(?!\w)"
        flags = 0 if self.pattern else regex.IGNORECASE
        start = max(0, len(said) - LAST)
        for match in regex.finditer(searched, said, flags, pos=start, timeout=READ_SECONDS):
            groups = {name: text for name, text in match.groupdict().items() if name in GROUPS}
            if groups:
                side: Verdict | None = "first" if groups.get("first") else "second" if groups.get("second") else "tie"
                name = next((text for text in groups.values() if text), "")
            else:
                name = (match[1] or "").strip()
                side = self.meaning(name)
            if name:
                yield Mark(match.start(), match.end(), name, side)

    def meaning(self, label: str) -> Verdict | None:
        """Return what a label means; None where it is none."""
        own = {name.strip().casefold(): verdict for name, verdict in self.labels.items()}
        return own.get(label.strip().casefold()) or (named_verdict(label) if self.usual else None)


@lru_cache(maxsize=32)
def ends_in_time(pattern: str) -> bool:
    """Return whether a pattern is through with each of a few repetitive texts in `CHECK_SECONDS` of computing time."""
    import regex

    try:
        for text in REPETITIVE:
            deque(regex.finditer(pattern, text, timeout=CHECK_SECONDS), maxlen=0)
    except TimeoutError:
        return False
    return True


def settle(said: str, marks: Sequence[Mark]) -> LetterChoice:
    """Return what the marks of a reply come to: the last one, unless an earlier one that remains says otherwise."""
    last = marks[-1]
    if len({mark.verdict or mark.name for mark in marks}) > 1:
        turns = [turn.start() for turn in TURN.finditer(said, 0, last.end)]
        final = max((turn for turn in turns if turn <= last.start), default=0)
        held = [mark for mark in marks if mark.start >= final and not is_supposed(said, mark.start, mark.end)]
        remaining = held if last in held else marks
        if len({mark.verdict or mark.name for mark in remaining}) > 1:
            names = dict.fromkeys(mark.name[:SHOWN] for mark in remaining)
            return _unread(f"names {' and '.join(names)}")
    if last.verdict is None:
        return _unread(f"names {last.name[:SHOWN]!r}, which is no label")
    return _chosen(last.verdict, step="label", reason=f"names {last.name[:SHOWN]}")


def read_verdict(reply: str, options: Sequence[str], *, tie: str | None = None, cut_off: bool = False) -> LetterChoice:
    """Read a verdict by the built-in rules: what chooses a letter, then marks and words for a tie, then usual words.

    `tie` is the label of a tie that the prompt offers. Of a long explanation that only mentions both, nothing is known.
    A reply that was `cut_off` calls a tie only by a mark, or by nothing else.
    """
    first, second = options
    read = read_words(reply, option_a=first, option_b=second, one_is_right=False, cut_off=cut_off)
    if read.choice is not None:
        return read
    is_plain = read.reason in ("both", "neither") and declines(reply, read.reason) and not _HEDGES.search(reply)
    if (read.tie or is_plain) and not cut_off:
        return _chosen("tie", step="pattern", reason="calls a tie")
    said = spoken_text(reply)
    if read.reason == "contradictory" or TURN.search(said, said.rfind("]]") + 2 if "]]" in said else 0):
        return read
    known = VerdictLabels(labels={} if tie is None else {tie: "tie"}, usual=True, pattern=BRACKETS)
    if (whole := known.meaning(said)) is not None:
        return _chosen(whole, step="pattern", reason="the verdict alone")
    marked = known.read(reply)
    return replace(marked, step="pattern") if marked.step == "label" else read


def _chosen(verdict: Verdict, *, step: Step, reason: str) -> LetterChoice:
    """Return a verdict as the choice of a letter, or of none in a tie."""
    return LetterChoice(choice=SIDES.get(verdict), step=step, reason=reason, tie=verdict == "tie")


def _unread(reason: str) -> LetterChoice:
    return LetterChoice(choice=None, step="unparsed", reason=reason)
