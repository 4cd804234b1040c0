"""judge_order: two answers stand as A and B, then swapped; does the verdict stay, and do people agree with it?"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import pandas as pd
from pydantic import Field, model_validator

from contrapose.tasks.core.records import READ_BY, AnswerPair, Case, Completion, Likelihoods, Trial, Verdict
from contrapose.tasks.language.replies.refusals import reply_kind
from contrapose.tasks.probes.asking_back import declines
from contrapose.tasks.probes.base import Column, Criterion, Proportion, Value
from contrapose.tasks.probes.orders import two_figures
from contrapose.tasks.probes.orders.judge_figures import JudgeFigures
from contrapose.tasks.probes.orders.letter_replies import LetterChoice
from contrapose.tasks.probes.orders.two_orders import ComparedTexts, Read, TwoOrders, TwoOrdersSettings, verdict_of
from contrapose.tasks.probes.orders.verdicts import VerdictLabels, read_verdict
from contrapose.tasks.probes.own_prompt import check_distinct

Said = Literal["choice", "tie", "refusal", "empty", "unread"]
LETTERS: Mapping[str, Verdict] = {"A": "first", "B": "second"}


class JudgeOrderSettings(TwoOrdersSettings):
    """Settings of judge_order."""

    of_scoring: ClassVar[frozenset[str]] = TwoOrdersSettings.of_scoring | {"writer", "min_right_rate"}
    variables: ClassVar[tuple[str, ...]] = ("instruction", "reference", "tie", *TwoOrdersSettings.variables)
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
    writer: str | None = Field(
        default=None,
        description="Name of the judge in better_by and worse_by. The report then shows whether it prefers its own "
        "answers. Empty: it wrote none.",
    )
    ask_again: int = Field(
        default=50,
        ge=0,
        description="Number of samples whose unchanged prompt is asked again, to measure how often a judge contradicts "
        "itself. None are asked where replies are greedy and never differ.",
    )
    min_right_rate: Proportion | None = Field(
        default=None,
        description="Gate of the right rate: share of the labelled pairs with the right verdict in both orders. Empty: "
        "min_pass_rate where it is set, else 0.7, or a little above random guessing where that reaches more.",
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

    def read_in_words(self, reply: str, options: Sequence[str]) -> LetterChoice:
        """Read a reply by the built-in rules, which know a tie."""
        return read_verdict(reply, options, tie=self.tie_label)

    def read_by_rules(self, reply: str, options: Sequence[str]) -> LetterChoice:
        """Read a reply by the labels of the prompt, else by the built-in rules."""
        return self.read_in_words(reply, options) if self.verdicts is None else self.verdicts.read(reply)

    def asks_again(self, likelihoods: Likelihoods) -> int:
        """Return how many samples are asked once more; none by likelihood, which never differs."""
        return 0 if self.by_likelihood(likelihoods) else self.ask_again

    def with_gate(self, gate: float) -> Self:
        """Return the settings with a gate that was set for the pass rate; it is that of right verdicts, too."""
        return self if self.min_right_rate is not None else self.model_copy(update={"min_right_rate": gate})

    def greedy(self) -> Self:
        """Return the settings without asking again, where the same would be said."""
        return self.model_copy(update={"ask_again": 0})


class JudgeOrder(JudgeFigures, TwoOrders):
    """Ask a judge which of two answers is better, in both orders; people may have said which one is."""

    name: ClassVar[str] = "judge_order"
    category: ClassVar[str] = "judging"
    version: ClassVar[str] = "4"
    summary: ClassVar[str] = (
        "Swaps two answers: a judge's verdict must stay, and agree with people's where it is known."
    )
    sample_type: ClassVar[type[AnswerPair]] = AnswerPair
    settings_type: ClassVar[type[JudgeOrderSettings]] = JudgeOrderSettings
    bundled_data: ClassVar[str] = "judge_pairs"
    columns: ClassVar[Mapping[str, Column]] = {
        "instruction": Column("string", "What was asked for.", holds_text=True),
        "better": Column("string", "The answer that people prefer; A in the unchanged prompt.", holds_text=True),
        "worse": Column("string", "The other answer; B in the unchanged prompt.", holds_text=True),
        "answer_a": Column(
            "string", "Without a preference: the answer that is A in the unchanged prompt.", holds_text=True
        ),
        "answer_b": Column("string", "The other one of them.", holds_text=True),
        "preferred": Column("string", "What people say: better (of one answer), or tie; missing without a label."),
        "reference": Column("string", "An answer that is known to be right.", holds_text=True),
        "better_by": Column("string", "Who wrote the better answer.", holds_text=True),
        "worse_by": Column("string", "Who wrote the worse answer.", holds_text=True),
        **two_figures.COLUMNS,
        "result": Column("string", "Verdict in the unchanged order, A, B or tie; empty where none could be read."),
        "swapped_result": Column("string", "Verdict in the swapped order; empty where none could be read."),
        "outcome": Column(
            "string",
            "Both choices, AB, AA, BB or BA; tied (in both orders), tied_once (in one), refused, or unparsed.",
        ),
        "said": Column("string", "What the reply to the unchanged order is: choice, tie, refusal, empty, or unread."),
        "swapped_said": Column("string", "The same of the reply to the swapped order."),
        "right_is_own": Column(
            "bool", "Whether the judge wrote the better answer; missing unless it wrote one of them."
        ),
        "again_choice": Column(
            "string",
            "Verdict when the unchanged prompt was asked once more; empty where none could be read, missing where it "
            "was not asked.",
        ),
        "again_same": Column("bool", "Whether that is the first verdict; missing where neither reply has one."),
    }
    gate_basis: ClassVar[str] = (
        "The same verdict in both orders of MT-Bench's pairs, recorded of nine judges: 65 to 87 % (Shi et al., 2024)."
        " Right in both orders of LLMBar's pairs: GPT-4 75 to 83 %, ChatGPT 17 to 23 %."
    )
    controlled: ClassVar[bool] = True
    right_first: ClassVar[bool] = False
    question: ClassVar[str] = "Which answer follows the instruction better, A or B?"
    other_words: ClassVar[tuple[str, ...]] = (
        "Which answer does better what the instruction asks, A or B?",
        "Which of the two answers follows the instruction better, A or B?",
        "Which answer is the better reply to the instruction, A or B?",
        "Which answer keeps closer to the instruction, A or B?",
    )
    meaning: ClassVar[Mapping[str, str]] = {
        "AB": "The better answer was chosen in both orders.",
        "AA": "A was chosen in both orders: the position decided.",
        "BB": "B was chosen in both orders: the position decided.",
        "BA": "The worse answer was chosen in both orders.",
        "tied": "The judge called a tie in both orders.",
        "tied_once": "The judge called a tie in one order only.",
        "refused": "The judge refused to judge.",
    }
    passing: ClassVar[tuple[str, ...]] = ("AB", "BA", "tied")

    def comparison(self, sample: AnswerPair) -> ComparedTexts:
        """Return the answer that people prefer, and the other one; without such an answer, both in their order."""
        texts, writers = (sample.first, sample.second), (sample.first_by, sample.second_by)
        names, label = ("better", "worse"), "better"
        if sample.winner == "second":
            texts, writers = texts[::-1], writers[::-1]
        elif sample.winner != "first":
            names, label = ("answer_a", "answer_b"), sample.winner or ""
        named = {"instruction": sample.instruction, **dict(zip(names, texts, strict=True))}
        named |= {"reference": sample.reference, "preferred": label or None}
        if label == "better":
            named |= {"better_by": writers[0], "worse_by": writers[1]}
        details: dict[str, str] = {name: value for name, value in named.items() if value is not None}
        values: dict[str, str] = {name: details[name] for name in ("instruction", "reference") if name in details}
        return ComparedTexts(right=texts[0], wrong=texts[1], values=values, details=details)

    def questions(self, sample: AnswerPair) -> tuple[str, ...]:
        """Return the question about a pair, and others that mean the same; answers may have no instruction."""
        return super().questions(sample) if sample.instruction is not None else ALONE

    def cases(
        self, sample: AnswerPair, settings: Any, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Make a prompt with each answer first. What people prefer stands first in the unchanged one."""
        cases = super().cases(sample, settings, rng=rng, likelihoods=likelihoods)
        # In a tie either answer will do: the row still says that it has a label.
        liked = {None: 0, "tie": 2}.get(sample.winner, 1)
        # A judge that may call a tie is held to no letters.
        held = {READ_BY: "label"} if settings.takes_tie else {}
        return [replace(case, answers=case.options[:liked], details={**case.details, **held}) for case in cases]

    def prompt_values(self, settings: JudgeOrderSettings) -> Mapping[str, str]:
        """Return the label of a tie, for a prompt that offers one."""
        return {} if settings.tie_label is None else {"tie": settings.tie_label}

    def outcome(self, trial: Trial, read: Read, settings: JudgeOrderSettings) -> str:
        """Return both choices, `tied` or `tied_once`, or why there are not two verdicts: `refused` or `unparsed`.

        An empty reply is open: it may be a judge that was given too few tokens.
        """
        if "refusal" in (kind_of_reply(trial.expected, read.first), kind_of_reply(trial.actual, read.second)):
            return "refused"
        first, second = verdict_of(read.first), verdict_of(read.second)
        if first is None or second is None:
            return "unparsed"
        ties = (first, second).count("tie")
        return f"{first}{second}" if ties == 0 else "tied" if ties == 2 else "tied_once"

    def explain(self, outcome: str, trial: Trial) -> str | None:
        """Return the sentence for an outcome; of answers without a preference, none is called better."""
        if outcome in ("AB", "BA") and trial.case.details.get("preferred") != "better":
            return "The same answer was chosen in both orders."
        return super().explain(outcome, trial)

    def own_columns(self, trial: Trial, read: Read, settings: JudgeOrderSettings) -> Mapping[str, Value]:
        """Return what each reply says, whose answer the better one is, and the verdict when the judge is asked again.

        No model is asked what that last reply chooses, and no embedding decides: where rules cannot read it, it is
        compared with what they read in the first one. Nothing is right where people prefer neither answer.
        """
        details, writer = trial.case.details, settings.writer
        own = [writer is not None and details.get(name) == writer for name in ("better_by", "worse_by")]
        columns: dict[str, Value] = {
            "result": verdict_of(read.first) or "",
            "swapped_result": verdict_of(read.second) or "",
            "said": kind_of_reply(trial.expected, read.first),
            "swapped_said": kind_of_reply(trial.actual, read.second),
            "right_is_own": own[0] if own[0] != own[1] else None,
        }
        if details.get("preferred") != "better":
            columns |= dict.fromkeys(("right_is_longer", "debiased_choice_right"))
        if trial.expected.again is None:
            return columns
        replies = (trial.expected.text or "", trial.expected.again)
        first, second = (verdict_of(settings.read_by_rules(text, trial.case.options)) for text in replies)
        known = first is not None or second is not None
        return {**columns, "again_choice": second or "", "again_same": first == second if known else None}

    def chance(self, settings: JudgeOrderSettings) -> float:
        """Return the probability of any one verdict of a guesser."""
        return 1 / 3 if settings.takes_tie else 1 / 2

    def pass_chance(self, settings: JudgeOrderSettings) -> float:
        """Return the probability that a guesser says the same in both orders: each of its verdicts fits one other."""
        return self.chance(settings)

    def criteria(self, results: pd.DataFrame, settings: JudgeOrderSettings) -> Sequence[Criterion]:
        """Return the gate on right verdicts; none where no pair has a label."""
        return self.right_rate(results, wanted=settings.min_right_rate, takes_tie=settings.takes_tie)

    def failure(self, row: Mapping[str, object]) -> str:
        """Describe the verdicts in both orders; empty where one of them is missing."""
        sentence = self.sentences.get(str(row.get("outcome")), "")
        return f"It {sentence}" if sentence else ""


ALONE = (
    "Which answer is better, A or B?",
    "Which of the two answers is better, A or B?",
    "Which one is the better answer, A or B?",
    "Is the better answer A or B?",
)
"""Questions about two answers whose instruction is not known."""


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
