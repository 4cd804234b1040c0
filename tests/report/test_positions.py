from __future__ import annotations

import pandas as pd
import pytest

from contrapose.tasks.report.positions import positions, reading


def read(**counts: int) -> str:
    outcomes = [name for name, count in counts.items() for _ in range(count)]
    found = positions(pd.DataFrame({"outcome": outcomes, "swapped_result": ""}))
    assert found
    return reading(found)


@pytest.mark.parametrize(
    ("counts", "start"),
    [
        ({"AA": 5}, "Always answers A in both orders"),
        ({"BB": 19, "AB": 1}, "Nearly always answers B in both orders"),
        ({"AB": 6, "AA": 4}, "Mostly picks the right summary"),
        ({"BA": 6, "AA": 4}, "Mostly picks the wrong summary"),
        ({"AB": 4, "AA": 3, "BB": 3}, "No single pattern"),
        ({"AA": 1, "unparsed": 2}, "Most replies name no choice (2 of 3 pairs)"),
    ],
)
def test_the_pattern_is_told_in_words(counts: dict[str, int], start: str) -> None:
    assert read(**counts).startswith(start)


def test_a_test_without_pairs_has_no_grid() -> None:
    assert positions(pd.DataFrame({"outcome": [None], "swapped_result": [None]})) is None
    assert positions(pd.DataFrame({"outcome": ["unparsed"], "swapped_result": [None]})) is None
    assert positions(pd.DataFrame()) is None
