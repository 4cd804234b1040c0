"""How a judge is shown two answers, and how its verdict is read: what tests of judges share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from contrapose.tasks.core.records import AnswerPair, Completion, Likelihoods, Verdict
from contrapose.tasks.language.replies.refusals import reply_kind
from contrapose.tasks.probes.asking_back import declines
from contrapose.tasks.probes.orders.letter_replies import LetterChoice
from contrapose.tasks.probes.orders.two_orders import PairSettings, TwoOrders, verdict_of
from contrapose.tasks.probes.orders.verdicts import VerdictLabels, read_verdict
from contrapose.tasks.probes.own_prompt import check_distinct

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
    """Settings of a prompt that shows a judge two answers, and of how its verdict is read."""

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
        """Return what each label means; empty where the usual words do."""
        own = self.labels
        named = own if isinstance(own, Mapping) else dict(zip(own or (), LETTERS.values(), strict=False))
        return {**named, **({} if self.tie is None else {self.tie: "tie"})}

    @property
    def verdicts(self) -> VerdictLabels | None:
        """Return the labels by which replies are read; None where the built-in rules read letters and ties."""
        meanings = self.meanings
        is_found = self.pattern is not None or self.answer_field is not None
        if not is_found and {label: side for label, side in meanings.items() if side != "tie"} in ({}, LETTERS):
            return None
        usual = self.labels is None or self.prompt is None
        return VerdictLabels(labels=meanings, usual=usual, pattern=self.pattern, field=self.answer_field)

    @property
    def labels_are_own(self) -> bool:
        """Return whether replies are read by labels, and not as letters."""
        return self.verdicts is not None

    @property
    def tie_label(self) -> str | None:
        """Return the label of a tie that a prompt offers; None where it offers none."""
        return next((label for label, side in self.meanings.items() if side == "tie"), None)

    @property
    def takes_tie(self) -> bool:
        """Return whether the judge is known to be offered a tie."""
        return self.verdicts.has_tie if self.verdicts is not None else self.tie_label is not None

    def by_likelihood(self, likelihoods: Likelihoods) -> bool:
        """Return whether letters are compared by likelihood: those of a tie have none."""
        return super().by_likelihood(likelihoods) and not self.takes_tie

    def read_in_words(self, reply: str, options: Sequence[str], *, cut_off: bool = False) -> LetterChoice:
        """Read a reply by the built-in rules, which know a tie."""
        return read_verdict(reply, options, tie=self.tie_label, cut_off=cut_off)

    def read_by_rules(self, reply: str, options: Sequence[str], *, cut_off: bool = False) -> LetterChoice:
        """Read a reply by the labels of the prompt, else by the built-in rules."""
        own = self.verdicts
        return self.read_in_words(reply, options, cut_off=cut_off) if own is None else own.read(reply, cut_off=cut_off)


class AsksJudge(TwoOrders):
    """A test that asks a judge which of two answers is better."""

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
        """Return the question about a pair, and others that mean the same; answers may have no instruction."""
        return super().questions(sample) if sample.instruction is not None else ALONE

    def prompt_values(self, settings: VerdictSettings) -> Mapping[str, str]:
        """Return the label of a tie, for a prompt that offers one."""
        return {} if settings.tie_label is None else {"tie": settings.tie_label}


def kind_of_reply(reply: Completion, choice: LetterChoice) -> Said:
    """Return what a reply says, as it was read.

    Only what is plain is no choice for certain: of a long explanation without one that can be read, nothing is known.
    """
    text, reason = reply.text or "", choice.reason
    if verdict_of(choice) is not None:
        return "tie" if choice.tie else "choice"
    kind = reply_kind(text)
    if kind == "answer":
        return "refusal" if reason == "refusal" and declines(text, reason) else "unread"
    return kind
