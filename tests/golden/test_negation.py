"""The negation engine against its gold sets, of texts alone and of stems with options: a change for the worse fails."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from places import golden_rows

from contrapose.tasks.probes.negation import negate

WORDS = "not|cannot|none|nobody|nothing|nowhere|neither|nor|never"
CUE = re.compile(rf"\b(?:{WORDS}|no(?!\.\s*\d))\b|n['’]t\b", re.IGNORECASE)
BOUNDS = {"tuned": (0.99, 0.97), "scored_only": (0.97, 0.90)}
"""Least share of acceptable texts among those that are changed, and of changed ones among those that may be."""


def is_acceptable(row: Mapping[str, Any]) -> bool | None:
    """Whether the negated text, and what stands for the original, are ones that the row accepts; None of a skip."""
    made = negate(row["text"])
    stated = not row.get("original") or made.original in row["original"]
    return None if made.text is None else made.text in row["accept"] and stated


@pytest.mark.parametrize("part", BOUNDS)
def test_the_figures_of_the_gold_set_hold(part: str) -> None:
    right, changed = BOUNDS[part]
    judged = [(row, is_acceptable(row)) for row in golden_rows(f"negation/{part}")]
    outputs = [acceptable for _, acceptable in judged if acceptable is not None]
    assert sum(outputs) >= right * len(outputs)
    negatable = [acceptable is not None for row, acceptable in judged if row["accept"] and not row["skip"]]
    assert sum(negatable) >= changed * len(negatable)


@pytest.mark.parametrize("part", BOUNDS)
def test_no_negation_is_wrongly_added_to_another_one(part: str) -> None:
    rows = [row for row in golden_rows(f"negation/{part}") if is_acceptable(row) is False]
    cues = [(row["id"], len(CUE.findall(row["text"])), len(CUE.findall(negate(row["text"]).text))) for row in rows]
    assert [name for name, before, after in cues if 0 < before < after] == []


@pytest.mark.parametrize("part", BOUNDS)
def test_what_is_changed_reverses_the_right_options(part: str) -> None:
    made = [(row, negate(row["text"], options=row["options"]).text) for row in golden_rows(f"negation_options/{part}")]
    changed = [text in row["accept"] for row, text in made if text is not None]
    wanted = [text is not None for row, text in made if not row["skip"]]
    assert sum(changed) >= 0.97 * len(changed)
    assert sum(wanted) >= 0.95 * len(wanted)
