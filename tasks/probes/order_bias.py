"""The test order_bias: show two summaries as A and B, then swapped; the choice should follow the facts."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from contrapose.tasks.core.records import Score, SummaryPair, Trial
from contrapose.tasks.probes.base import LANGTEST_COLUMNS, Column, Embed
from contrapose.tasks.probes.orders.letter_replies import LetterChoice, read_choice
from contrapose.tasks.probes.orders.two_figures import COLUMNS
from contrapose.tasks.probes.orders.two_orders import ComparedTexts, TwoOrders, TwoOrdersSettings

__all__ = ["LetterChoice", "OrderBias", "OrderBiasSettings", "read_choice"]


class OrderBiasSettings(TwoOrdersSettings):
    """Settings of order_bias."""

    variables: ClassVar[tuple[str, ...]] = ("article", *TwoOrdersSettings.variables)
    built_in: ClassVar[str] = "order_bias"


class OrderBias(TwoOrders):
    """Ask which of two summaries agrees with an article, in both orders."""

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
        **COLUMNS,
        **LANGTEST_COLUMNS,
    }
    gate_basis: ClassVar[str] = (
        "Both orders right on 373 news pairs: gpt-3.5-turbo 67.0 %, Llama-2-70b 81.7 %, people 84 % (Anyscale, 2023)."
    )
    by_default: ClassVar[bool] = True
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
        """Return the summary that agrees with the article, then the other one."""
        names = ("article_sentence", "correct_sentence", "incorrect_sentence")
        details = {name: getattr(sample, name) for name in names}
        article, right, wrong = details.values()
        return ComparedTexts(right=right, wrong=wrong, values={"article": article}, details=details)

    def lay_out(self, text: str) -> str:
        """Return a summary on one line, because a line break could look like another label."""
        return " ".join(text.split())

    def score(self, trials: Sequence[Trial], settings: TwoOrdersSettings, *, embed: Embed) -> list[Score]:
        """Score trials like every test of two orders; cases also get LangTest's verdict on the same replies."""
        scores = super().score(trials, settings, embed=embed)
        cases = [trial for trial in trials if not trial.case.control]
        passed = iter(compute_langtest_verdicts(cases, threshold=settings.similarity_threshold, embed=embed))
        return [
            score if trial.case.control else replace(score, columns={**score.columns, "langtest_pass": next(passed)})
            for trial, score in zip(trials, scores, strict=True)
        ]


_LANGTEST_LETTERS = ("A", "B", "a", "b", "ab", "ba")
_NAMED = {letter: re.compile(rf"Answer {letter}|Summary {letter}", re.IGNORECASE) for letter in "ab"}
_FIRST = {letter: re.compile(rf"{letter}[.?!,:\n]", re.IGNORECASE) for letter in "ab"}
_BOTH = re.compile(r"(?:Answer|Summary) (?:A or B|B or A|A and B|B and A)|Both", re.IGNORECASE)
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def compute_langtest_verdicts(trials: Sequence[Trial], *, threshold: float, embed: Embed) -> list[bool | None]:
    """Return whether LangTest 2.7 would pass each pair of replies: by letter patterns, then by embeddings.

    None if a reply is missing or may not be embedded.
    Source: LangTest 2.7.0, `FactualitySample._is_eval` in langtest/utils/custom_types/sample.py.
    """
    doubts = [list_langtest_doubts(trial.expected.text, trial.actual.text) for trial in trials]
    pairs = [
        (reply, trial.case.options[0])
        for trial, replies in zip(trials, doubts, strict=True)
        for reply in replies or ()
        if reply is not None and trial.case.scorer == "reply"
    ]
    cosines: dict[tuple[str | None, str], float] = {}
    if pairs:
        vectors = embed([text for pair in pairs for text in pair])
        cosines.update(zip(pairs, (vectors[::2] * vectors[1::2]).sum(axis=1), strict=True))
    verdicts: list[bool | None] = []
    for trial, replies in zip(trials, doubts, strict=True):
        likeness = [cosines.get((reply, trial.case.options[0])) for reply in replies or ()]
        known = [cosine > threshold for cosine in likeness if cosine is not None]
        verdicts.append(False if replies is None else all(known) if len(known) == len(likeness) else None)
    return verdicts


def list_langtest_doubts(first: str | None, second: str | None) -> Sequence[str | None] | None:
    """Return the replies without the right letter, which embeddings decide; None if the pair fails anyway."""
    if first is None or second is None:
        return (None,)
    first, second = first.strip(), second.strip()
    letters = ["".join(filter(str.isalnum, reply)) for reply in (first, second)]
    if all(reply in _LANGTEST_LETTERS for reply in letters):
        return () if [reply.lower() for reply in letters] == ["a", "b"] else None
    for words in (reply.translate(_WITHOUT_PUNCTUATION) for reply in (first, second)):
        if _BOTH.search(words) or all(named.search(words) for named in _NAMED.values()):
            return None
    if _is_letter_named("b", first) or _is_letter_named("a", second):
        return None
    return [reply for letter, reply in (("a", first), ("b", second)) if not _is_letter_named(letter, reply)]


def _is_letter_named(letter: str, reply: str) -> bool:
    """Return whether LangTest finds this letter in a reply."""
    alone = "".join(filter(str.isalnum, reply)).lower() == letter
    return bool(alone or _NAMED[letter].search(reply.translate(_WITHOUT_PUNCTUATION)) or _FIRST[letter].match(reply))
