"""The negation engine against its gold set: a change for the worse fails here."""

from __future__ import annotations

import pytest

from tests.golden.score_negation import FOLDER, score

BOUNDS = {"tuned": (0.99, 0.97), "scored_only": (0.97, 0.90)}


@pytest.mark.parametrize("part", BOUNDS)
def test_the_figures_of_the_gold_set_hold(part: str) -> None:
    figures = score(FOLDER / f"{part}.jsonl")
    right, changed = BOUNDS[part]
    assert figures.acceptable_of_changed is not None
    assert figures.changed_of_negatable is not None
    assert figures.acceptable_of_changed >= right
    assert figures.changed_of_negatable >= changed


@pytest.mark.parametrize("part", BOUNDS)
def test_no_text_is_negated_twice(part: str) -> None:
    figures = score(FOLDER / f"{part}.jsonl")
    assert not set(figures.double) & set(figures.wrong)
