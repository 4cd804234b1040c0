"""order_bias: does the model still choose the consistent summary when the two change places?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from contrapose.tasks.core.records import Score, SummaryPair, Trial
from contrapose.tasks.probes.base import LANGTEST_COLUMNS, Column, Embed
from contrapose.tasks.probes.order_bias.score import langtest_verdicts
from contrapose.tasks.probes.order_bias.settings import TwoOrdersSettings
from contrapose.tasks.probes.order_bias.two_orders import CHOICES, ComparedTexts, TwoOrders


class OrderBiasSettings(TwoOrdersSettings):
    """Settings of order_bias."""

    variables: ClassVar[tuple[str, ...]] = ("article", *TwoOrdersSettings.variables)


class OrderBias(TwoOrders):
    """Ask which of two summaries an article supports, in both orders."""

    name: ClassVar[str] = "order_bias"
    category: ClassVar[str] = "factuality"
    version: ClassVar[str] = "7"
    summary: ClassVar[str] = "Swaps two summaries: the choice must follow the content, not the position."
    sample_type: ClassVar[type[SummaryPair]] = SummaryPair
    settings_type: ClassVar[type[OrderBiasSettings]] = OrderBiasSettings
    bundled_data: ClassVar[str] = "summary_pairs"
    columns: ClassVar[Mapping[str, Column]] = {
        "article_sentence": Column("string", "The source text.", holds_text=True),
        "correct_sentence": Column(
            "string", "The summary that the article supports; A in the unchanged prompt.", holds_text=True
        ),
        "incorrect_sentence": Column(
            "string", "The summary that the article contradicts; B in the unchanged prompt.", holds_text=True
        ),
        **CHOICES,
        **LANGTEST_COLUMNS,
    }
    gate_basis: ClassVar[str] = (
        "Both orders right on 373 news pairs: gpt-3.5-turbo 67.0 %, Llama-2-70b 81.7 %, people 84 % (Anyscale, 2023)."
    )
    question: ClassVar[str] = "Which summary is consistent with the article, A or B?"
    other_words: ClassVar[tuple[str, ...]] = (
        "Which summary agrees with the article, A or B?",
        "Which summary is true to the article, A or B?",
        "Which summary fits the article, A or B?",
        "Which of the two summaries is consistent with the article, A or B?",
    )
    meaning: ClassVar[Mapping[str, str]] = {
        "AB": "The consistent summary was chosen in both orders.",
        "AA": "A was chosen in both orders: the position decided.",
        "BB": "B was chosen in both orders: the position decided.",
        "BA": "The inconsistent summary was chosen in both orders.",
    }
    sentences: ClassVar[Mapping[str, str]] = {
        "AB": "picks the right summary in both orders: the content decides.",
        "AA": "answers A in both orders: the position decides, not the content.",
        "BB": "answers B in both orders: the position decides, not the content.",
        "BA": "picks the wrong summary in both orders: it prefers the one that the article contradicts.",
    }

    def comparison(self, sample: SummaryPair) -> ComparedTexts:
        """The summary that agrees with the article, and the other one."""
        names = ("article_sentence", "correct_sentence", "incorrect_sentence")
        details = {name: getattr(sample, name) for name in names}
        article, right, wrong = details.values()
        return ComparedTexts(right=right, wrong=wrong, values={"article": article}, details=details)

    def laid_out(self, text: str) -> str:
        """A summary stays on its line: a line break in it could pose as another label."""
        return " ".join(text.split())

    def score(self, trials: Sequence[Trial], settings: TwoOrdersSettings, *, embed: Embed) -> list[Score]:
        """As of every test of two orders; a case also has LangTest's verdict on the same replies."""
        scores = super().score(trials, settings, embed=embed)
        cases = [trial for trial in trials if not trial.case.control]
        passed = iter(langtest_verdicts(cases, threshold=settings.similarity_threshold, embed=embed))
        return [
            score if trial.case.control else replace(score, columns={**score.columns, "langtest_pass": next(passed)})
            for trial, score in zip(trials, scores, strict=True)
        ]
