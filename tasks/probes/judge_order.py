"""judge_order: two answers stand as A and B, then swapped; does the judge agree with people, or with the position?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import AnswerPair, Completion, Likelihoods, Trial
from contrapose.tasks.language.replies.refusals import reply_kind
from contrapose.tasks.probes.asking_back import declines
from contrapose.tasks.probes.base import Column, Criterion, Measure, Proportion, Value, letters
from contrapose.tasks.probes.orders import two_figures
from contrapose.tasks.probes.orders.letter_replies import LetterChoice
from contrapose.tasks.probes.orders.two_orders import ComparedTexts, Read, TwoOrders, TwoOrdersSettings
from contrapose.tasks.probes.own_prompt import OwnLabels
from contrapose.tasks.probes.panels import Panel, Picture, Sheet, figure_quantity
from contrapose.tasks.probes.values import if_any, where

Said = Literal["choice", "tie", "refusal", "empty", "unread"]

PREFERENCES: Mapping[str, str] = {"right_is_longer": "length_preference_p", "right_is_own": "self_preference_p"}
"""Tests of what may sway a judge, by the column that says whether it speaks for the better answer."""

EXPLANATIONS: Mapping[str, str] = {
    **two_figures.EXPLANATIONS,
    "tied": "Pairs in which the judge calls a tie in one order or both.",
    "refused": "Pairs in which the judge declines to choose in one order or both.",
    "length_preference_p": "Probability of so great a difference between pairs whose better answer is longer and "
    "shorter if length did not matter. Below 0.05 the judge is hardly indifferent to length.",
    "self_preference_p": "Probability of so great a difference between pairs whose better answer is the judge's own "
    "and another's if that did not matter. Below 0.05 the judge is hardly indifferent to its own answers.",
    "same_choice": "Share of the pairs for which the judge says the same in both orders, right or wrong.",
    "same_choice_rate": "Share of the pairs for which the judge says the same in both orders, right or wrong.",
    "tied_share": "Share of all pairs that the judge calls a tie.",
    "refused_share": "Share of all pairs that the judge declines to judge.",
    "accuracy_where_own": "Accuracy where the judge wrote the better answer. Far above that where another did, it "
    "prefers its own.",
    "accuracy_where_anothers": "Accuracy where the judge wrote the worse answer. Far below that where it wrote the "
    "better one, it prefers its own.",
    "changed_when_asked_again": "Share of the unchanged prompts with another choice the second time: how unsteady the "
    "judge is without any change.",
}

ASPECTS: Mapping[str, str] = {
    "choice_changed": "another choice once the answers are swapped",
    "changed_when_asked_again": "another choice when asked again",
    "accuracy_where_longer": "right where the better answer is longer",
    "accuracy_where_shorter": "right where it is shorter",
    "accuracy_where_own": "right where the judge wrote it",
    "accuracy_where_anothers": "right where the judge wrote the worse one",
}
"""Figures of what may sway a judge, in words."""


class JudgeOrderSettings(TwoOrdersSettings):
    """Settings of judge_order."""

    of_scoring: ClassVar[frozenset[str]] = TwoOrdersSettings.of_scoring | {"writer", "min_same_choice_rate"}
    variables: ClassVar[tuple[str, ...]] = ("instruction", "reference", *TwoOrdersSettings.variables)
    built_in: ClassVar[str] = "judge_order"
    one_is_right: ClassVar[bool] = False

    tie: str | None = Field(
        default=None,
        description="Word with which your prompt lets a judge call a tie. Empty: it offers no tie.",
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
    min_same_choice_rate: Proportion | None = Field(
        default=None,
        description="Share of the pairs in which the same answer must be chosen in both orders, right or wrong; "
        "empty: no gate.",
    )

    @model_validator(mode="after")
    def _check_tie(self) -> Self:
        if self.tie is not None and self.prompt is None:
            raise ValueError("a tie without a prompt of one's own, and ours offers none; expected prompt, too")
        if (own := self.own_labels) is not None:
            own.check()
            single = any(len(label) == 1 and label.isalpha() for label in own.labels)
            if own.pattern is None and own.field is None and single:
                raise ValueError("labels of one letter; expected a pattern, too, since a letter stands in any text")
        return self

    @property
    def own_labels(self) -> OwnLabels | None:
        """Return the labels of the prompt, and its tie, by which replies are read; None where letters are read."""
        own = super().own_labels
        if self.tie is None:
            return own
        labels = (*(self.labels or letters(2)), self.tie)
        return OwnLabels(labels=labels, pattern=self.pattern, field=self.answer_field)

    def asks_again(self, likelihoods: Likelihoods) -> int:
        """Return how many samples are asked once more; none by likelihood, which never differs."""
        return 0 if self.by_likelihood(likelihoods) else self.ask_again

    def greedy(self) -> Self:
        """Return the settings without asking again, where the same would be said."""
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
        **two_figures.COLUMNS,
        "said": Column("string", "What the reply to the unchanged order is: choice, tie, refusal, empty, or unread."),
        "swapped_said": Column("string", "The same of the reply to the swapped order."),
        "right_is_own": Column(
            "bool", "Whether the judge wrote the better answer; missing unless it wrote one of them."
        ),
        "again_choice": Column(
            "string",
            "Choice when the unchanged prompt was asked once more; empty where none could be read, missing where it "
            "was not asked.",
        ),
        "again_same": Column("bool", "Whether that is the first choice; missing where neither reply names one."),
    }
    explanations: ClassVar[Mapping[str, str]] = EXPLANATIONS
    gate_basis: ClassVar[str] = (
        "Right in both orders of LLMBar's pairs, as recorded: GPT-4 75 to 83 %, ChatGPT 17 to 23 %."
    )
    unpaired: ClassVar[tuple[str, ...]] = ("tied", "refused", "unparsed")
    controlled: ClassVar[bool] = True
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
        """Return the answer that people prefer, and the other one."""
        names = ("instruction", "better", "worse", "reference", "better_by", "worse_by")
        details: dict[str, str] = {name: value for name in names if (value := getattr(sample, name)) is not None}
        values: dict[str, str] = {name: details[name] for name in ("instruction", "reference") if name in details}
        return ComparedTexts(right=sample.better, wrong=sample.worse, values=values, details=details)

    def outcome(self, trial: Trial, read: Read, settings: JudgeOrderSettings) -> str:
        """Return both choices, or why there are not two: `refused`, `tied`, or `unparsed`, which leaves the pair open.

        An empty reply is open: it may be a judge that was given too few tokens.
        """
        kinds = {kind_of_reply(trial.expected, read.first), kind_of_reply(trial.actual, read.second)}
        if "refusal" in kinds:
            return "refused"
        return "tied" if "tie" in kinds else super().outcome(trial, read, settings)

    def own_columns(self, trial: Trial, read: Read, settings: JudgeOrderSettings) -> Mapping[str, Value]:
        """Return what each reply says, whose answer the better one is, and the choice when the judge is asked again.

        No model is asked what that last reply chooses, and no embedding decides: where rules cannot read it, it is
        compared with what they read in the first one.
        """
        details, writer = trial.case.details, settings.writer
        own = [writer is not None and details.get(name) == writer for name in ("better_by", "worse_by")]
        columns: dict[str, Value] = {
            "said": kind_of_reply(trial.expected, read.first),
            "swapped_said": kind_of_reply(trial.actual, read.second),
            "right_is_own": own[0] if own[0] != own[1] else None,
        }
        if trial.expected.again is None:
            return columns
        replies = (trial.expected.text or "", trial.expected.again)
        first, second = (settings.read_by_rules(text, trial.case.options).choice for text in replies)
        known = first is not None or second is not None
        return {**columns, "again_choice": second or "", "again_same": first == second if known else None}

    def chance(self, settings: JudgeOrderSettings) -> float:
        """Return the probability that a guesser is right in one order."""
        return 1 / 2 if settings.tie is None else 1 / 3

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Count the outcomes, and test what the judge prefers."""
        return {**super().summarise(results), **preferences(results)}

    def picture(self) -> Picture:
        """Return the grid of choices in both orders, and a table of what may sway the judge."""
        return Swayed(self.sentences, self.unpaired)

    def criteria(self, results: pd.DataFrame, settings: JudgeOrderSettings) -> Sequence[Criterion]:
        """Return the gate on the same choice in both orders; none where none is asked for."""
        if settings.min_same_choice_rate is None:
            return []
        return [
            Criterion(
                name="same_choice_rate",
                wanted=settings.min_same_choice_rate,
                met=_same_choice(results) if "outcome" in results else np.full(len(results), np.nan),
                applies=~results["control"].to_numpy(dtype=bool),
                chance=1 / 2,
            )
        ]

    def measures(self, results: pd.DataFrame) -> Iterator[Measure]:
        """Yield agreement with people, what it depends on, and how steady the judge is.

        Besides what two orders have: `same_choice`, the share of pairs in which the order left alone what was said,
        right or wrong; `tied_share` and `refused_share` of all pairs; `accuracy` where the judge wrote the better
        answer and where it wrote the worse; `changed_when_asked_again`, the share of unchanged prompts with another
        choice the second time.
        """
        yield from super().measures(results)
        if "outcome" not in results:
            return
        outcome = results["outcome"]
        judged, read = outcome.notna(), outcome.notna() & outcome.ne("unparsed")
        yield Measure(name="same_choice", share=True, values=_same_choice(results))
        yield Measure(name="tied_share", share=True, values=if_any(read, where(judged, outcome.eq("tied"))))
        yield Measure(name="refused_share", share=True, values=if_any(read, where(judged, outcome.eq("refused"))))
        if "right_is_own" in results:
            right = (results["result"].eq("A") * 1.0 + results["swapped_result"].eq("B")) / 2
            for name, own in (("accuracy_where_own", True), ("accuracy_where_anothers", False)):
                values = if_any(read, where(judged & results["right_is_own"].eq(own), right))
                yield Measure(name=name, values=values, bounds=(0, 1))
        again = results["again_same"] if "again_same" in results else pd.Series(None, index=results.index, dtype=object)
        yield Measure(name="changed_when_asked_again", share=True, values=where(again.notna(), again.eq(False)))


def kind_of_reply(reply: Completion, choice: LetterChoice) -> Said:
    """Return what a reply says, as it was read.

    Only what is plain is no choice for certain: of a long explanation without one that can be read, nothing is known.
    """
    text, reason = reply.text or "", choice.reason
    if choice.choice is not None:
        return "choice"
    if choice.step == "label" or (reason in ("both", "neither") and declines(text, reason)):
        return "tie"
    kind = reply_kind(text)
    if kind == "answer":
        return "refusal" if reason == "refusal" and declines(text, reason) else "unread"
    return kind


def preferences(results: pd.DataFrame) -> Mapping[str, float]:
    """Return two-sided exact p values of a judge that is swayed by length, or by who wrote an answer.

    Fisher's exact test of the pairs with the same choice in both orders: is the better answer chosen as often where it
    is the longer one (the judge's own) as where it is not? The position cannot have decided these. It takes pairs as
    independent. Nothing where a side has no pairs.
    """
    from scipy.stats import fisher_exact

    figures = {}
    for column, name in PREFERENCES.items():
        if column not in results or "outcome" not in results:
            continue
        sides, outcomes = (results[column].eq(side) for side in (True, False)), results["outcome"]
        table = np.array([[int((side & outcomes.eq(outcome)).sum()) for outcome in ("AB", "BA")] for side in sides])
        if table.sum(axis=1).all():
            figures[name] = float(fisher_exact(table).pvalue)
    return figures


def _same_choice(results: pd.DataFrame) -> np.ndarray:
    """Return whether the order left alone what was said: 1 or 0, NaN where that is open."""
    outcome = results["outcome"]
    if "said" not in results:
        return np.full(len(results), np.nan)
    same = outcome.isin(("AB", "BA")) | (results["said"].eq("tie") & results["swapped_said"].eq("tie"))
    return where(outcome.notna() & outcome.ne("unparsed"), same)


class Swayed(two_figures.Positions):
    """The choices in both orders, and how often they are right among which answers."""

    def panels(self, outcome: Outcome) -> Sequence[Panel]:
        """Return the grid of two orders, and a table where something else may sway the judge."""
        quantities = {text: figure_quantity(outcome, name) for name, text in ASPECTS.items()}
        rows = tuple((text, (quantity,)) for text, quantity in quantities.items() if quantity is not None)
        sheet = Sheet(
            caption="What may sway the judge",
            header=("choices over both orders", "share (95 %)"),
            rows=rows,
            figures=frozenset(ASPECTS),
        )
        return [*super().panels(outcome), *([sheet] if rows else [])]
