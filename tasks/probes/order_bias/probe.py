"""order_bias: does the model still choose the consistent summary when the two change places?"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from contrapose.tasks.core.records import Case, FollowUp, Likelihoods, Score, SummaryPair, Trial
from contrapose.tasks.language.replies.known_errors import OF_TWO, Measured
from contrapose.tasks.probes.base import (
    LANGTEST_COLUMNS,
    Column,
    Criterion,
    Embed,
    Measure,
    control_of,
    letters,
    spaced,
)
from contrapose.tasks.probes.in_words import COLUMNS as IN_WORDS
from contrapose.tasks.probes.order_bias.figures import Positions, calibrates, figures, measures
from contrapose.tasks.probes.order_bias.score import (
    OrderBiasSettings,
    Read,
    follow_ups,
    likelier,
    read_labels,
    read_replies,
    scored,
)
from contrapose.tasks.probes.own_prompt import rendered
from contrapose.tasks.probes.panels import Picture
from contrapose.tasks.probes.read_with import by_likelihood
from contrapose.tasks.probes.reading_checks import COLUMNS as CHECKED
from contrapose.tasks.probes.values import all_or_nothing

# What both orders share comes first, so that a server can reuse the longest possible prefix.
PROMPT = """\
Compare two summaries of an article. One agrees with the article, the other contradicts it.

Article: {article}

Summary A: {first}
Summary B: {second}

{question} Reply with the letter only.
Answer:"""
QUESTION = "Which summary is consistent with the article, A or B?"
OTHER_WORDS = (
    "Which summary agrees with the article, A or B?",
    "Which summary is true to the article, A or B?",
    "Which summary fits the article, A or B?",
    "Which of the two summaries is consistent with the article, A or B?",
)
"""Questions that mean the same: the controls."""


class OrderBias:
    """Ask which of two summaries an article supports, in both orders."""

    name: ClassVar[str] = "order_bias"
    category: ClassVar[str] = "factuality"
    version: ClassVar[str] = "5"
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
        "result": Column("string", "Choice in the unchanged order; empty where none could be read."),
        "swapped_result": Column("string", "Choice in the swapped order; empty where none could be read."),
        "outcome": Column("string", "Both choices: AB, AA, BB, BA, or unparsed."),
        "result_step": Column("string", "Which step read the choice in the unchanged order."),
        "swapped_step": Column("string", "Which step read the choice in the swapped order."),
        "content_score": Column("float", "Pull of the content towards the correct summary, (m1 + m2) / 2.", "nat"),
        "position_score": Column("float", "Pull of the letter A, (m1 - m2) / 2.", "nat"),
        "debiased_choice_right": Column("bool", "Whether the content alone speaks for the correct summary."),
        "right_is_longer": Column(
            "bool", "Whether the correct summary has more characters; empty where both have as many."
        ),
        "calibrates": Column("bool", "Whether the pair's log-likelihoods tell the pull of the letters."),
        **LANGTEST_COLUMNS,
        **IN_WORDS,
        **CHECKED,
    }
    default_gate: ClassVar[float] = 0.7
    gate_basis: ClassVar[str] = (
        "Both orders right on 373 news pairs: gpt-3.5-turbo 67.0 %, Llama-2-70b 81.7 %, people 84 % (Anyscale, 2023)."
    )
    without_choice: ClassVar[tuple[str, ...]] = ("unparsed",)
    reader_errors: ClassVar[Sequence[Measured]] = OF_TWO
    controlled: ClassVar[bool] = False
    by_default: ClassVar[bool] = True

    def cases(
        self, sample: SummaryPair, settings: OrderBiasSettings, *, rng: random.Random, likelihoods: Likelihoods
    ) -> Sequence[Case]:
        """Make a prompt with the correct summary as A, and one with it as B. Nothing is drawn from `rng`.

        Raises:
            ConfigError: `read_with: likelihood`, and the model gives no log-likelihoods.
        """
        likely = by_likelihood(settings, likelihoods, where=f"tests.{self.category}.{self.name}")
        correct, incorrect = sample.correct_sentence, sample.incorrect_sentence
        skipped = _skip_reason(sample)
        case = Case(
            id=f"{self.name}/{sample.id}",
            sample_id=sample.id,
            probe=self.name,
            version=self.version,
            original=f"A: {correct}\nB: {incorrect}",
            perturbed=None if skipped else f"A: {incorrect}\nB: {correct}",
            original_prompt=self._prompt(settings, sample.article_sentence, correct, incorrect),
            perturbed_prompt=None if skipped else self._prompt(settings, sample.article_sentence, incorrect, correct),
            scorer="likelihood" if likely else "label" if settings.labels_are_own else "reply",
            asks="choose" if likely else "generate",
            labels=letters(2),
            options=(correct, incorrect),
            skip_reason=skipped,
            confidence=None if skipped else "high",
            chance=1 / 4,
            slice=sample.slice,
            cluster=sample.cluster,
            details={
                "article_sentence": sample.article_sentence,
                "correct_sentence": correct,
                "incorrect_sentence": incorrect,
            },
        )
        return [case]

    def control(
        self, case: Case, sample: SummaryPair, settings: OrderBiasSettings, *, rng: random.Random
    ) -> Case | None:
        """The same order, asked in other words; none where a prompt of one's own has no other words."""
        question = rng.choice(OTHER_WORDS)
        article, *summaries = sample.article_sentence, sample.correct_sentence, sample.incorrect_sentence
        if settings.reworded is not None:
            settings = settings.model_copy(update={"prompt": settings.reworded})
        prompt = self._prompt(settings, article, *summaries, question=question)
        if prompt == case.original_prompt:
            return None
        # What is shown is what differs: the question, or all of a prompt that has other words of its own.
        before, after = (f"{case.original}\n{asked}" for asked in (QUESTION, question))
        if settings.reworded is not None:
            before, after = case.original_prompt, prompt
        return control_of(replace(case, original=before), perturbed=after, prompt=prompt, chance=1 / 2)

    def _prompt(
        self, settings: OrderBiasSettings, article: str, first: str, second: str, *, question: str = QUESTION
    ) -> str:
        """The prompt with two summaries in some order, by the suite's own template if it has one."""
        if settings.prompt is None:
            return _prompt(article, first, second, question=question)
        values = {"article": article, "first": first, "second": second, "question": question}
        values = {name: value.strip() for name, value in values.items()}
        return rendered(settings.prompt, values, where=f"tests.{self.category}.{self.name}.prompt")

    def score(self, trials: Sequence[Trial], settings: OrderBiasSettings, *, embed: Embed) -> list[Score]:
        """Pass a trial only when the answers are A, then B; pass a control when they are the same.

        The documents give order_bias no numeric score: the value is 1.0 for a pass and 0.0 otherwise.
        """
        replies = [trial for trial in trials if trial.case.scorer == "reply"]
        read = iter(read_replies(replies, settings, embed=embed))
        return [
            scored(trial, next(read) if trial.case.scorer == "reply" else read_labels(trial, settings))
            if trial.case.scorer in ("reply", "label")
            else _by_labels(trial, settings)
            for trial in trials
        ]

    def follow_ups(self, trials: Sequence[Trial], settings: OrderBiasSettings, *, embed: Embed) -> Sequence[FollowUp]:
        """Questions about the replies that name neither summary, and about those that rules read."""
        return follow_ups([trial for trial in trials if trial.case.scorer == "reply"], settings, embed=embed)

    def expected_pass(self, part: pa.Table, settings: OrderBiasSettings) -> np.ndarray:
        """Whether the score is 1."""
        return all_or_nothing(part)

    def summarise(self, results: pd.DataFrame) -> Mapping[str, float | int | None]:
        """Counts of the outcomes."""
        return figures(results)

    def picture(self) -> Picture:
        """What was chosen in both orders."""
        return Positions()

    def criteria(self, results: pd.DataFrame, settings: OrderBiasSettings) -> Sequence[Criterion]:
        """None: a pass is the right choice in both orders."""
        return []

    def measures(self, results: pd.DataFrame) -> Sequence[Measure]:
        """Accuracy in both orders, position bias, and the scores that likelihoods allow."""
        return measures(results)


def _by_labels(trial: Trial, settings: OrderBiasSettings) -> Score:
    first, second = likelier(trial.expected), likelier(trial.actual)
    if first is None or second is None:
        reason = "The log-likelihoods of A and B are not both finite."
        return Score(value=None, passed=None, reason=reason, columns=dict(trial.case.details))
    return scored(trial, Read(first, second), calibrates=calibrates(trial.case.sample_id, settings.calibration))


def _skip_reason(sample: SummaryPair) -> str | None:
    correct, incorrect = spaced(sample.correct_sentence), spaced(sample.incorrect_sentence)
    if not (correct and incorrect and spaced(sample.article_sentence)):
        return "empty"
    return "equal_sentences" if correct == incorrect else None


def _prompt(article: str, first: str, second: str, *, question: str = QUESTION) -> str:
    """A summary stays on its line: a line break in it could pose as another label."""
    first, second = " ".join(first.split()), " ".join(second.split())
    return PROMPT.format(article=article.strip(), first=first, second=second, question=question)
