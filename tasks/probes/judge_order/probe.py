"""judge_order: is a judge of answers of people's opinion, whichever answer stands first?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Self

import pandas as pd
from pydantic import Field, FiniteFloat, model_validator

from contrapose.tasks.core.records import AnswerPair, Likelihoods, Trial
from contrapose.tasks.probes.base import Column, Criterion, Measure, Value
from contrapose.tasks.probes.judge_order.figures import EXPLANATIONS, Swayed, consistency, measures, preferences
from contrapose.tasks.probes.judge_order.said import COLUMNS as SAID
from contrapose.tasks.probes.judge_order.said import again_columns, both_said, said_columns
from contrapose.tasks.probes.order_bias.score import Read
from contrapose.tasks.probes.order_bias.settings import TwoOrdersSettings
from contrapose.tasks.probes.order_bias.two_orders import CHOICES, ComparedTexts, TwoOrders
from contrapose.tasks.probes.own_prompt import LETTERS, OwnLabels, check_labels
from contrapose.tasks.probes.panels import Picture


class JudgeOrderSettings(TwoOrdersSettings):
    """Settings of judge_order."""

    of_scoring: ClassVar[frozenset[str]] = TwoOrdersSettings.of_scoring | {"writer", "min_same_choice_rate"}
    variables: ClassVar[tuple[str, ...]] = ("instruction", "reference", *TwoOrdersSettings.variables)
    one_is_right: ClassVar[bool] = False

    tie: str | None = Field(
        default=None,
        description="What the prompt has a judge name where both answers are as good, beside the labels; empty: it "
        "offers no tie.",
    )
    writer: str | None = Field(
        default=None,
        description="The judge's own name in better_by and worse_by: then it is told whether it prefers its own "
        "answers; empty: it wrote none.",
    )
    ask_again: int = Field(
        default=50,
        ge=0,
        description="Samples whose unchanged prompt is asked once more, to tell how often a judge contradicts itself; "
        "none where replies are greedy and never differ.",
    )
    min_same_choice_rate: FiniteFloat | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of the pairs in which the same answer must be chosen in both orders, right or wrong; "
        "empty: no gate.",
    )

    @model_validator(mode="after")
    def _ties_are_told_apart(self) -> Self:
        if self.tie is not None and self.prompt is None:
            raise ValueError("a tie without a prompt of one's own, and ours offers none; expected prompt, too")
        if (own := self.own_labels) is not None:
            check_labels(own.labels, own.pattern, field=own.field)
            if (
                own.pattern is None
                and own.field is None
                and any(len(label) == 1 and label.isalpha() for label in own.labels)
            ):
                raise ValueError("labels of one letter; expected a pattern, too, since a letter stands in any text")
        return self

    @property
    def own_labels(self) -> OwnLabels | None:
        """How replies are read that name labels of the prompt, or a tie; None where they are read as letters."""
        own = super().own_labels
        if self.tie is None:
            return own
        labels = (*(self.labels or LETTERS), self.tie)
        return OwnLabels(labels=labels, pattern=self.pattern, field=self.answer_field)

    def asks_again(self, likelihoods: Likelihoods) -> int:
        """How many samples are asked once more; none where letters are compared by likelihood, which never differs."""
        return 0 if self.by_likelihood(likelihoods) else self.ask_again

    def greedy(self) -> Self:
        """Nobody is asked again who would say the same."""
        return self.model_copy(update={"ask_again": 0})


class JudgeOrder(TwoOrders):
    """Ask a judge which of two answers is better, in both orders, where people have said which one is."""

    name: ClassVar[str] = "judge_order"
    category: ClassVar[str] = "judging"
    version: ClassVar[str] = "3"
    summary: ClassVar[str] = "Swaps two answers: a judge must prefer the one that people prefer, wherever it stands."
    sample_type: ClassVar[type[AnswerPair]] = AnswerPair
    settings_type: ClassVar[type[JudgeOrderSettings]] = JudgeOrderSettings
    bundled_data: ClassVar[str] = "judge_pairs"
    columns: ClassVar[Mapping[str, Column]] = {
        "instruction": Column("string", "What was asked for.", holds_text=True),
        "better": Column("string", "The answer that people prefer; A in the unchanged prompt.", holds_text=True),
        "worse": Column("string", "The other answer; B in the unchanged prompt.", holds_text=True),
        "reference": Column("string", "An answer that is known to be right.", holds_text=True),
        "better_by": Column("string", "Who wrote the better answer.", holds_text=True),
        "worse_by": Column("string", "Who wrote the worse answer.", holds_text=True),
        **CHOICES,
        **SAID,
    }
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    gate_basis: ClassVar[str] = (
        "Right in both orders of LLMBar's pairs, as recorded: GPT-4 75 to 83 %, ChatGPT 17 to 23 %."
    )
    unpaired: ClassVar[tuple[str, ...]] = ("tied", "refused", "unparsed")
    controlled: ClassVar[bool] = True
    rests_on: ClassVar[tuple[str, ...]] = ()
    by_default: ClassVar[bool] = False
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
        "tied": "The judge called it a tie, where people prefer one answer.",
        "refused": "The judge refused to judge.",
    }
    sentences: ClassVar[Mapping[str, str]] = {
        "AB": "picks the better answer in both orders: it agrees with people.",
        "AA": "picks A in both orders: the position decides, not the answer.",
        "BB": "picks B in both orders: the position decides, not the answer.",
        "BA": "picks the worse answer in both orders: it disagrees with people.",
    }

    def comparison(self, sample: AnswerPair) -> ComparedTexts:
        """The answer that people prefer, and the other one."""
        names = ("instruction", "better", "worse", "reference", "better_by", "worse_by")
        details: dict[str, str] = {name: value for name in names if (value := getattr(sample, name)) is not None}
        values: dict[str, str] = {name: details[name] for name in ("instruction", "reference") if name in details}
        return ComparedTexts(right=sample.better, wrong=sample.worse, values=values, details=details)

    def outcome(self, trial: Trial, read: Read, settings: JudgeOrderSettings) -> str:
        """Both choices, or what was said instead: `refused`, `tied`, or `unparsed` where that is open."""
        return both_said(trial, read, settings)

    def further(self, trial: Trial, read: Read, settings: JudgeOrderSettings) -> Mapping[str, Value]:
        """What each reply says, whose answer the better one is, and what is chosen when the judge is asked again."""
        return said_columns(trial, read, settings) | again_columns(trial, read, settings)

    def chance(self, settings: JudgeOrderSettings) -> float:
        """Probability that a guesser is right in one order."""
        return 1 / 2 if settings.tie is None else 1 / 3

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Counts of the outcomes, and tests of what the judge prefers."""
        return {**super().summarise(results), **preferences(results)}

    def picture(self) -> Picture:
        """What was chosen in both orders, and how often that is right among which answers."""
        return Swayed(self.sentences, self.unpaired)

    def criteria(self, results: pd.DataFrame, settings: JudgeOrderSettings) -> Sequence[Criterion]:
        """The share of pairs with the same choice in both orders, where the settings ask for one."""
        return consistency(results, settings.min_same_choice_rate)

    def measures(self, results: pd.DataFrame) -> Iterator[Measure]:
        """Agreement with people, what it depends on, and how steady the judge is."""
        yield from super().measures(results)
        yield from measures(results)
