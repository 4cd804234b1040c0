"""Replies that others wrote: forms by authors who knew no rule, recorded judges, and short ones in other words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import golden_rows

from bench.llmbar import FILE, Row, by_letter, missed_bars, rows
from bench.replies import read
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.evaluate.embeddings import make_embedder
from contrapose.tasks.probes.base import Embed
from contrapose.tasks.probes.known_errors import BARE, EXPLAINED, IN_OTHER_WORDS, MeasuredErrors
from contrapose.tasks.probes.order_bias import OrderBiasSettings, read_choice

LEAST_READ = {"tune": 0.95, "tune_2": 0.77, "seen": 0.97, "seen_2": 0.91, "scored": 0.93}
"""Share of the unmistakable answers of a split that must be read. The second split is made of corrections, denials and
texts in unusual words. Splits called `seen` were scored once before they were looked at; the last one was scored when
all rules stood."""
MISREAD = {"答案是A,秋天。", "The inequality becomes $x \\le 2$.\n\n**Answer: D**"}
"""Replies that are known to be read wrongly: both hold a letter and, in other words, the text of another option."""

MOST_WRONG = {"scored": 3}
"""Of 372: two answers that are taken back in words that no rule knows, and one whose text holds that of another."""


@cache
def forms(split: str) -> list[tuple[Mapping[str, Any], str | None]]:
    """Each form of a split, and the letter that is read."""
    return [(row, read(row)) for row in golden_rows("replies_forms", split)]


@pytest.mark.parametrize(("split", "least"), LEAST_READ.items())
def test_unmistakable_answers_are_read(split: str, least: float) -> None:
    sure = [(row["choice"], letter) for row, letter in forms(split) if row["sure"]]
    assert sum(choice == letter for choice, letter in sure) / len(sure) >= least


@pytest.mark.parametrize("split", LEAST_READ)
def test_no_form_is_read_as_what_it_does_not_choose(split: str) -> None:
    wrong = {row["reply"] for row, letter in forms(split) if letter not in (None, row["choice"])}
    assert len(wrong - MISREAD) <= MOST_WRONG.get(split, 0)


@cache
def recorded(folder: Path, form: str) -> tuple[Row, ...]:
    if not (folder / FILE).exists():
        pytest.skip(f"{FILE} is not in ../shared/data")
    return tuple(row for row in rows(folder, form) if not row.apart)


@pytest.mark.parametrize("form", ["as_summary", pytest.param("reply", marks=pytest.mark.slow)])
def test_replies_that_explain_are_read_within_the_bars(form: str, shared_data: Path) -> None:
    explained = [row for row in recorded(shared_data, form) if row.explains]
    assert missed_bars(by_letter(explained)) == []


def test_bare_replies_are_all_read(shared_data: Path) -> None:
    counts = by_letter(row for row in recorded(shared_data, "as_summary") if not row.explains)
    assert {letter: set(each) for letter, each in counts.items()} == {"A": {"right"}, "B": {"right"}}


@pytest.mark.parametrize(("measured", "explains"), [(EXPLAINED, True), (BARE, False)])
def test_the_known_error_is_what_is_measured(measured: MeasuredErrors, explains: bool, shared_data: Path) -> None:
    counts = by_letter(row for row in recorded(shared_data, "as_summary") if row.explains is explains)
    for known in measured.by_letter:
        found = counts[known.letter]
        assert (known.replies, known.missed, known.misread) == (found.total(), found["missed"], found["wrong"])


@pytest.mark.slow
def test_with_the_letters_swapped_the_reading_swaps(shared_data: Path) -> None:
    swapped = {"Summary A": "Summary B", "Summary B": "Summary A"}
    other = {"A": "B", "B": "A", None: None}
    explained = [row for row in recorded(shared_data, "as_summary") if row.explains]
    uneven = [
        row.reply
        for row in explained
        if read_choice(re.sub("Summary [AB]", lambda found: swapped[found[0]], row.reply)).choice != other[row.read]
    ]
    assert uneven == []


SWAPPED = {"A": "B", "B": "A", None: None}


def at_once(texts: list[str]) -> Embed:
    """The default embedding model, for which these texts are computed together; any other text when it is asked for."""
    embed = make_embedder(RunConfig.model_fields["embedding_model"].default)
    known = dict(zip(texts, embed(texts), strict=True))
    return lambda asked: np.stack([known[text] if text in known else embed([text])[0] for text in asked])


def counted() -> Counter[tuple[str, str]]:
    """How often each letter that is meant, or none, is read as which, in both orders."""
    rows = golden_rows("replies_other_words")
    embed = at_once(list({row[name]: None for row in rows for name in ("reply", "option_a", "option_b")}))
    settings = OrderBiasSettings()
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        first, second, meant = row["option_a"], row["option_b"], row["choice"]
        for a, b, choice in ((first, second, meant), (second, first, SWAPPED[meant])):
            read = read_choice(
                row["reply"],
                option_a=a,
                option_b=b,
                embed=embed,
                similarity_threshold=settings.similarity_threshold,
                margin=settings.margin,
            )
            assert read.step in ("embedding", "unparsed")
            found[choice or "none", read.choice or "none"] += 1
    return found


def test_the_known_error_of_embeddings_is_what_is_measured() -> None:
    found = counted()
    for known in IN_OTHER_WORDS.by_letter:
        read = {after: count for (before, after), count in found.items() if before == known.letter}
        missed = 0 if known.letter == "none" else read.get("none", 0)
        misread = sum(read.values()) - missed - read.get(known.letter, 0)
        assert (sum(read.values()), missed, misread) == (known.replies, known.missed, known.misread)
        assert misread <= 0.05 * known.replies
