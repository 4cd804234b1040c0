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
        ({"AA": 1, "unparsed": 2}, "Most pairs lack a choice in one order or both (2 of 3)."),
    ],
)
def test_the_pattern_is_told_in_words(counts: dict[str, int], start: str) -> None:
    assert read(**counts).startswith(start)


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({"AA": 3}, "Always answers A in both orders: the position decides, not the content."),
        (
            {"AA": 209, "unparsed": 161},
            "Among the 209 of 370 pairs with a choice each time, always answers A in both orders: "
            "the position decides, not the content.",
        ),
        (
            {"AB": 1, "AA": 1, "BB": 1, "unparsed": 1},
            "Among the 3 of 4 pairs with a choice each time, no single pattern: content and position both show.",
        ),
    ],
)
def test_the_pattern_names_the_pairs_it_was_found_in_where_others_were_unread(
    counts: dict[str, int], told: str
) -> None:
    assert read(**counts) == told


def test_a_test_without_pairs_has_no_grid() -> None:
    assert positions(pd.DataFrame({"outcome": [None], "swapped_result": [None]})) is None
    assert positions(pd.DataFrame({"outcome": ["unparsed"], "swapped_result": [None]})) is None
    assert positions(pd.DataFrame()) is None
