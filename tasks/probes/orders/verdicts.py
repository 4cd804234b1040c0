"""Ask a judge which of two answers is better, and read its verdict: by labels, a pattern or words."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from contrapose.tasks.core.records import AnswerPair, Completion, Likelihoods, Verdict
from contrapose.tasks.language.replies.cut_off import CUT_OFF, find_both_ends
from contrapose.tasks.language.replies.refusals import classify_reply
from contrapose.tasks.language.replies.spoken import TURN, Step, extract_final_text, is_supposed
from contrapose.tasks.language.replies.verdict_words import parse_verdict_word
from contrapose.tasks.probes.orders.letter_replies import Letter, LetterChoice, read_words
from contrapose.tasks.probes.orders.two_orders import PairSettings, TwoOrders, name_choice
from contrapose.tasks.probes.own_prompt import LAST, READ_SECONDS, OwnLabels, check_distinct, find_labels, read_field
from contrapose.tasks.probes.reader_questions import is_declining

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


class VerdictMark(NamedTuple):
    """A place in a reply that names a verdict."""

    start: int
    end: int
    name: str
    """As the reply writes it."""
    verdict: Verdict | None
    """None for a name that is no label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLabels:
    """The labels of verdicts, and how they are found in a reply: by pattern, in a JSON field, or as separate words."""

    labels: Mapping[str, Verdict]
    """What each label means."""
    usual: bool
    """Whether the usual words count too, such as `A`, `model_b`, `A>B` and `tie`."""
    pattern: str | None = None
    """Regular expression with one group, which captures a label, or with groups called first, second and tie."""
    field: str | None = None
    """Path of the field of JSON that holds the label; then there is no pattern."""

    def check(self) -> None:
        """Raise ValueError if labels, pattern or field cannot work."""
        import regex

        if not self.usual and not {"first", "second"} <= set(self.labels.values()):
            raise ValueError(f"labels {', '.join(map(repr, self.labels))}; expected one for first and one for second")
        # Letters stand for usual words, which need no check of their own.
        plain = OwnLabels(labels=tuple(self.labels) or ("A", "B"), pattern=self.pattern, field=self.field)
        try:
            names = self._groups
        except regex.error as error:
            raise ValueError(f"{error.msg}; expected a regular expression") from error
        if self.pattern is not None and not is_fast_pattern(self.pattern):
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
    def _groups(self) -> set[str]:
        """Return the names of the groups in the pattern."""
        import regex

        return set(regex.compile(self.pattern).groupindex) if self.pattern else set()

    @property
    def has_tie(self) -> bool:
        """Return whether a reply can name a tie."""
        return "tie" in (self._groups & GROUPS or {*self.labels.values(), *(("tie",) if self.usual else ())})

    def read(self, reply: str, *, cut_off: bool = False) -> LetterChoice:
        """Return the verdict that a reply names, or the reason why it names none.

        Thoughts name nothing. Where several places name different verdicts, those that are only supposed or denied, or
        taken back later ("Wait, …"), do not count; what still differs contradicts itself. Without a pattern or a
        field, a reply that was `cut_off` names only what its first or last sentence names.
        """
        said = extract_final_text(reply)
        named = self._read_spoken(said)
        if not cut_off or self.pattern is not None or self.field is not None:
            return named
        parts = [self._read_spoken(part) for part in find_both_ends(said)]
        is_held = any((part.choice, part.tie) == (named.choice, named.tie) for part in parts)
        return named if is_held else _make_unread(CUT_OFF)

    def _read_spoken(self, said: str) -> LetterChoice:
        """Return the verdict that a text without the model's reasoning names, or the reason why it names none."""
        try:
            marks = list(self._yield_marks(said))
        except TimeoutError:
            return _make_unread(f"the pattern takes longer than {READ_SECONDS:g} second on this reply")
        return choose_final_mark(said, marks) if marks else _make_unread("no label is named")

    def _yield_marks(self, said: str) -> Iterator[VerdictMark]:
        """Yield the places that name a verdict; raise TimeoutError if the pattern takes too long."""
        if self.field is not None:
            held = read_field(said, self.field)
            if held is not None:
                yield VerdictMark(0, len(said), held.strip(), self.find_meaning(held))
            return
        for match in find_labels(said, self.labels, self.pattern, start=max(0, len(said) - LAST)):
            groups = {name: text for name, text in match.groupdict().items() if name in GROUPS}
            if groups:
                side: Verdict | None = "first" if groups.get("first") else "second" if groups.get("second") else "tie"
                name = next((text for text in groups.values() if text), "")
            else:
                name = (match[1] or "").strip()
                side = self.find_meaning(name)
            if name:
                yield VerdictMark(match.start(), match.end(), name, side)

    def find_meaning(self, label: str) -> Verdict | None:
        """Return the verdict that a label means; None if it is not a label."""
        own = {name.strip().casefold(): verdict for name, verdict in self.labels.items()}
        return own.get(label.strip().casefold()) or (parse_verdict_word(label) if self.usual else None)


@lru_cache(maxsize=32)
def is_fast_pattern(pattern: str) -> bool:
    """Return whether a pattern finishes on each of a few repetitive texts within `CHECK_SECONDS`."""
    import regex

    try:
        for text in REPETITIVE:
            deque(regex.finditer(pattern, text, timeout=CHECK_SECONDS), maxlen=0)
    except TimeoutError:
        return False
    return True


def choose_final_mark(said: str, marks: Sequence[VerdictMark]) -> LetterChoice:
    """Return the verdict of the last mark, or an unread choice if an earlier mark that still holds contradicts it."""
    last = marks[-1]
    if len({mark.verdict or mark.name for mark in marks}) > 1:
        turns = [turn.start() for turn in TURN.finditer(said, 0, last.end)]
        final = max((turn for turn in turns if turn <= last.start), default=0)
        held = [mark for mark in marks if mark.start >= final and not is_supposed(said, mark.start, mark.end)]
        remaining = held if last in held else marks
        if len({mark.verdict or mark.name for mark in remaining}) > 1:
            names = dict.fromkeys(mark.name[:SHOWN] for mark in remaining)
            return _make_unread(f"names {' and '.join(names)}")
    if last.verdict is None:
        return _make_unread(f"names {last.name[:SHOWN]!r}, which is no label")
    return _make_choice(last.verdict, step="label", reason=f"names {last.name[:SHOWN]}")


def read_verdict(reply: str, options: Sequence[str], *, tie: str | None = None, cut_off: bool = False) -> LetterChoice:
    """Read a verdict by the built-in rules: first a letter, then marks and words for a tie, then the usual words.

    `tie` is the label of a tie that the prompt offers. A long explanation that only mentions both answers is unread. A
    reply that was `cut_off` calls a tie only by a mark, or by nothing else.
    """
    first, second = options
    read = read_words(reply, option_a=first, option_b=second, one_is_right=False, cut_off=cut_off)
    if read.choice is not None:
        return read
    is_plain = read.reason in ("both", "neither") and is_declining(reply, read.reason) and not _HEDGES.search(reply)
    if (read.tie or is_plain) and not cut_off:
        return _make_choice("tie", step="pattern", reason="calls a tie")
    said = extract_final_text(reply)
    if read.reason == "contradictory" or TURN.search(said, said.rfind("]]") + 2 if "]]" in said else 0):
        return read
    known = VerdictLabels(labels={} if tie is None else {tie: "tie"}, usual=True, pattern=BRACKETS)
    if (whole := known.find_meaning(said)) is not None:
        return _make_choice(whole, step="pattern", reason="the verdict alone")
    marked = known.read(reply)
    return replace(marked, step="pattern") if marked.step == "label" else read


def _make_choice(verdict: Verdict, *, step: Step, reason: str) -> LetterChoice:
    """Return a verdict as a choice of a letter; a tie has no letter."""
    return LetterChoice(choice=SIDES.get(verdict), step=step, reason=reason, tie=verdict == "tie")


def _make_unread(reason: str) -> LetterChoice:
    return LetterChoice(choice=None, step="unparsed", reason=reason)


Said = Literal["choice", "tie", "refusal", "empty", "unread"]
LETTERS: Mapping[str, Verdict] = {"A": "first", "B": "second"}
ALONE: tuple[str, ...] = (
    "Which answer is better, A or B?",
    "Which of the two answers is better, A or B?",
    "Which one is the better answer, A or B?",
    "Is the better answer A or B?",
)
"""Questions about two answers whose instruction is not known."""


class VerdictSettings(PairSettings):
    """Settings of a prompt that shows two answers to a judge, and of how its verdict is read."""

    variables: ClassVar[tuple[str, ...]] = ("instruction", "reference", "tie", *PairSettings.variables)
    built_in: ClassVar[str] = "judge_order"
    one_is_right: ClassVar[bool] = False

    labels: tuple[str, str] | dict[str, Verdict] | None = Field(  # type: ignore[assignment] # a mapping, too
        default=None,
        description="What your prompt calls the first and the second answer, such as [1, 2]; or what each label means, "
        "such as {A: first, B: second, C: tie}. Empty: the usual words, such as A, model_b, A>B and tie.",
    )
    pattern: str | None = Field(
        default=None,
        description="Regular expression whose one group captures the label in a reply, or with groups called first, "
        "second and tie. Verdicts that differ make the reply unreadable, unless it takes back the earlier one. Empty: "
        "the built-in rules, or the only label that the reply names.",
    )
    tie: str | None = Field(
        default=None,
        description="Word with which the prompt lets a judge call a tie; the built-in prompt then offers it. Empty: "
        "the labels say it, or the prompt offers no tie.",
    )

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        own = self.labels
        if isinstance(own, tuple) and self.prompt is None:
            raise ValueError("labels without a prompt of one's own; expected prompt, too, or what each label means")
        if (names := [*(own or ()), *([] if self.tie is None else [self.tie])]) and (own is None or self.tie is None):
            check_distinct(names if own is not None else (*LETTERS, *names))
        elif own is not None:
            # A mapping may repeat the label of the tie, and says the same then.
            repeats = isinstance(own, Mapping) and own.get(str(self.tie)) == "tie"
            check_distinct(tuple(own) if repeats else names)
        return self

    @model_validator(mode="after")
    def _check_reading(self) -> Self:
        if self.verdicts is not None:
            self.verdicts.check()
            if self.read_with not in ("auto", "reply"):
                raise ValueError(f"read_with {self.read_with} with labels of one's own; expected auto or reply")
        return self

    @property
    def meanings(self) -> Mapping[str, Verdict]:
        """Return the meaning of each label; empty if only the usual words are used."""
        own = self.labels
        named = own if isinstance(own, Mapping) else dict(zip(own or (), LETTERS.values(), strict=False))
        return {**named, **({} if self.tie is None else {self.tie: "tie"})}

    @property
    def verdicts(self) -> VerdictLabels | None:
        """Return the labels by which replies are read; None if the built-in rules read letters and ties."""
        meanings = self.meanings
        is_found = self.pattern is not None or self.answer_field is not None
        if not is_found and {label: side for label, side in meanings.items() if side != "tie"} in ({}, LETTERS):
            return None
        usual = self.labels is None or self.prompt is None
        return VerdictLabels(labels=meanings, usual=usual, pattern=self.pattern, field=self.answer_field)

    @property
    def labels_are_own(self) -> bool:
        """Return whether replies are read by labels instead of letters."""
        return self.verdicts is not None

    @property
    def tie_label(self) -> str | None:
        """Return the label of a tie; None if the prompt offers no tie."""
        return next((label for label, side in self.meanings.items() if side == "tie"), None)

    @property
    def takes_tie(self) -> bool:
        """Return whether the settings show that the judge may call a tie."""
        return self.verdicts.has_tie if self.verdicts is not None else self.tie_label is not None

    def by_likelihood(self, likelihoods: Likelihoods) -> bool:
        """Return whether letters are compared by likelihood; never if the judge may call a tie."""
        return super().by_likelihood(likelihoods) and not self.takes_tie

    def read_in_words(self, reply: str, options: Sequence[str], *, cut_off: bool = False) -> LetterChoice:
        """Read a reply by the built-in rules, including ties."""
        return read_verdict(reply, options, tie=self.tie_label, cut_off=cut_off)

    def read_by_rules(self, reply: str, options: Sequence[str], *, cut_off: bool = False) -> LetterChoice:
        """Read a reply by the labels of the prompt, or by the built-in rules if there are none."""
        own = self.verdicts
        return self.read_in_words(reply, options, cut_off=cut_off) if own is None else own.read(reply, cut_off=cut_off)


class JudgeProbe(TwoOrders):
    """Base class of tests that ask a judge which of two answers is better."""

    category: ClassVar[str] = "judging"
    sample_type: ClassVar[type[AnswerPair]] = AnswerPair
    bundled_data: ClassVar[str] = "judge_pairs"
    prompt_name: ClassVar[str] = "judge_order"
    right_first: ClassVar[bool] = False
    question: ClassVar[str] = "Which answer follows the instruction better, A or B?"
    other_words: ClassVar[tuple[str, ...]] = (
        "Which answer does better what the instruction asks, A or B?",
        "Which of the two answers follows the instruction better, A or B?",
        "Which answer is the better reply to the instruction, A or B?",
        "Which answer keeps closer to the instruction, A or B?",
    )

    def questions(self, sample: AnswerPair) -> tuple[str, ...]:
        """Return the question about a pair, and others with the same meaning; `ALONE` if there is no instruction."""
        return super().questions(sample) if sample.instruction is not None else ALONE

    def prompt_values(self, settings: VerdictSettings) -> Mapping[str, str]:
        """Return the label of a tie as a value for the prompt; empty if it offers no tie."""
        return {} if settings.tie_label is None else {"tie": settings.tie_label}


def classify_verdict_reply(reply: Completion, choice: LetterChoice) -> Said:
    """Return the kind of a reply: choice, tie, refusal, empty or unread.

    Only a clear reply counts as "no choice": a long explanation without a readable choice is unread.
    """
    text, reason = reply.text or "", choice.reason
    if name_choice(choice) is not None:
        return "tie" if choice.tie else "choice"
    kind = classify_reply(text)
    if kind == "answer":
        return "refusal" if reason == "refusal" and is_declining(text, reason) else "unread"
    return kind
