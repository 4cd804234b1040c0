"""The test judge_order: a judge compares two answers in both orders; its verdict should stay and match people's."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import pandas as pd
from pydantic import Field

from contrapose.tasks.core.records import READ_BY, AnswerPair, Case, Likelihoods, Score, Trial
from contrapose.tasks.probes.base import Column, Criterion, Proportion, Value
from contrapose.tasks.probes.orders import two_figures
from contrapose.tasks.probes.orders.judge_figures import JudgeFigures
from contrapose.tasks.probes.orders.two_orders import ComparedTexts, ReadReplies, TwoOrdersSettings, name_choice
from contrapose.tasks.probes.orders.verdicts import JudgeProbe, VerdictSettings, classify_verdict_reply


class JudgeOrderSettings(VerdictSettings, TwoOrdersSettings):
    """Settings of judge_order."""

    of_scoring: ClassVar[frozenset[str]] = TwoOrdersSettings.of_scoring | {"writer", "min_right_rate"}

    writer: str | None = Field(
        default=None,
        description="Name of the judge in better_by and worse_by. The report then shows whether it prefers its own "
        "answers. Empty: it wrote none.",
    )
    min_right_rate: Proportion | None = Field(
        default=None,
        description="Gate of the right rate: share of the labelled pairs with the right verdict in both orders. Empty: "
        "min_pass_rate where it is set, else 0.7, or a little above random guessing where that reaches more.",
    )

    def with_gate(self, gate: float) -> Self:
        """Return the settings with this gate for the pass rate, and for right verdicts."""
        return self if self.min_right_rate is not None else self.model_copy(update={"min_right_rate": gate})


class JudgeOrder(JudgeFigures, JudgeProbe):
    """Ask a judge which of two answers is better, in both orders; the data may hold the preference of people."""

    name: ClassVar[str] = "judge_order"
    version: ClassVar[str] = "4"
    summary: ClassVar[str] = (
        "Swaps two answers: a judge's verdict must stay, and agree with people's where it is known."
    )
    settings_type: ClassVar[type[JudgeOrderSettings]] = JudgeOrderSettings
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
    }
    gate_basis: ClassVar[str] = (
        "The same verdict in both orders of MT-Bench's pairs, recorded of nine judges: 65 to 87 % (Shi et al., 2024)."
        " Right in both orders of LLMBar's pairs: GPT-4 75 to 83 %, ChatGPT 17 to 23 %."
    )
    controlled: ClassVar[bool] = True
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
        """Return the answer that people prefer, then the other; without a preference, both in their order."""
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

    def cases(
        self, sample: AnswerPair, settings: Any, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Return a case with each answer first once; the unchanged prompt starts with the one that people prefer."""
        cases = super().cases(sample, settings, rng=rng, likelihoods=likelihoods)
        # In a tie either answer will do: the row still says that it has a label.
        liked = {None: 0, "tie": 2}.get(sample.winner, 1)
        # A judge that may call a tie is held to no letters.
        held = {READ_BY: "label"} if settings.takes_tie else {}
        # Random guessing gives the same verdict in both orders as often as any one verdict, each fits one other.
        chance = self.chance(settings)
        return [
            replace(case, answers=case.options[:liked], details={**case.details, **held}, chance=chance)
            for case in cases
        ]

    def outcome(self, trial: Trial, read: ReadReplies, settings: JudgeOrderSettings) -> str:
        """Return both choices such as `AB`, `tied` or `tied_once`; without two verdicts `refused` or `unparsed`.

        An empty reply is open: it may be a judge that was given too few tokens.
        """
        if "refusal" in (
            classify_verdict_reply(trial.expected, read.first),
            classify_verdict_reply(trial.actual, read.second),
        ):
            return "refused"
        first, second = name_choice(read.first), name_choice(read.second)
        if first is None or second is None:
            return "unparsed"
        ties = (first, second).count("tie")
        return f"{first}{second}" if ties == 0 else "tied" if ties == 2 else "tied_once"

    def explain(self, outcome: str, trial: Trial) -> str | None:
        """Return the sentence for an outcome; without a preference of people, it calls neither answer better."""
        if outcome in ("AB", "BA") and trial.case.details.get("preferred") != "better":
            return "The same answer was chosen in both orders."
        return super().explain(outcome, trial)

    def score_case(self, trial: Trial, read: ReadReplies, settings: JudgeOrderSettings) -> Score:
        """Score a pair; columns hold what each reply says, and who wrote the better answer (if one is better)."""
        score, details, writer = super().score_case(trial, read, settings), trial.case.details, settings.writer
        own = [writer is not None and details.get(name) == writer for name in ("better_by", "worse_by")]
        columns: dict[str, Value] = {
            "said": classify_verdict_reply(trial.expected, read.first),
            "swapped_said": classify_verdict_reply(trial.actual, read.second),
            "right_is_own": own[0] if own[0] != own[1] else None,
        }
        if details.get("preferred") != "better":
            columns |= dict.fromkeys(("right_is_longer", "debiased_choice_right"))
        return replace(score, columns={**score.columns, **columns})

    def chance(self, settings: JudgeOrderSettings) -> float:
        """Return the probability of each verdict under random guessing."""
        return 1 / 3 if settings.takes_tie else 1 / 2

    def criteria(self, results: pd.DataFrame, settings: JudgeOrderSettings) -> Sequence[Criterion]:
        """Return the gate on right verdicts; empty if no pair has a label."""
        return self.right_rate(results, wanted=settings.min_right_rate, takes_tie=settings.takes_tie)
