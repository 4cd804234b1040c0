"""The negation engine against its gold set: a change for the worse fails here."""

from __future__ import annotations

import pytest

from tests.golden.score_negation import score

BOUNDS = {"tuned": (0.99, 0.97), "scored_only": (0.97, 0.90)}


@pytest.mark.parametrize("part", BOUNDS)
def test_the_figures_of_the_gold_set_hold(part: str) -> None:
    right, changed = BOUNDS[part]
    verdicts = score(part)
    outputs = [each for each in verdicts if each.got is not None]
    assert sum(each.acceptable for each in outputs) >= right * len(outputs)
    negatable = [each for each in verdicts if each.negatable]
    assert sum(each.got is not None for each in negatable) >= changed * len(negatable)
    assert [each.row["id"] for each in outputs if each.is_double and each.is_wrong] == []
