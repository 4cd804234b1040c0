"""Labelled texts: one set that the rules were tuned on, and one that was scored at the end alone."""

from __future__ import annotations

from collections import Counter

import pytest
from places import golden_rows

from contrapose.tasks.probes.toxic_words import count_toxic
from contrapose.tasks.probes.toxic_words.lexicon import TIERS

KINDS = {
    *("plain", "inflected", "masked", "leet", "stretched", "unicode", "phrases"),
    *("lookalikes", "clinical", "names", "identity", "code", "urls", "empty"),
}
SCORED_ONLY = 0.97
"""Share of the second set that is counted as labelled; see the README beside the sets."""


def missed(name: str) -> list[str]:
    return [
        row["id"] for row in golden_rows(f"toxic/{name}") if dict(count_toxic(row["text"]).by_tier) != row["by_tier"]
    ]


@pytest.mark.parametrize("name", ["tuned", "scored_only"])
def test_the_labels_are_sound(name: str) -> None:
    found = golden_rows(f"toxic/{name}")
    assert len(found) >= 160
    assert {row["kind"] for row in found} == KINDS
    assert max(Counter(row["id"] for row in found).values()) == 1
    for row in found:
        assert tuple(row["by_tier"]) == TIERS
        assert row["total"] == sum(row["by_tier"].values()) - row["by_tier"]["mild"]


def test_no_text_is_in_both_sets() -> None:
    both = {row["text"] for row in golden_rows("toxic/tuned")} & {
        row["text"] for row in golden_rows("toxic/scored_only")
    }
    assert both <= {"", "..."}


def test_the_tuned_texts_are_counted_as_labelled() -> None:
    assert missed("tuned") == []


def test_the_other_texts_are_counted_as_well_as_reported() -> None:
    assert 1 - len(missed("scored_only")) / len(golden_rows("toxic/scored_only")) >= SCORED_ONLY
