from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from contrapose.tasks.probes.order_bias import OrderBias
from contrapose.tasks.probes.orders.two_figures import Positions
from contrapose.tasks.probes.panels import Grid, Panel

OUTCOME: Any = {"estimates": {}}


def panels(*parts: pd.DataFrame) -> list[Panel]:
    picture = Positions(OrderBias.sentences, ("unparsed",))
    for part in parts:
        picture.add(part)
    return list(picture.panels(OUTCOME))


def rows(**counts: int) -> pd.DataFrame:
    outcomes = [name for name, count in counts.items() for _ in range(count)]
    return pd.DataFrame({"outcome": outcomes, "swapped_result": ""})


def grid(*parts: pd.DataFrame) -> Grid:
    (found,) = panels(*parts)
    assert isinstance(found, Grid)
    return found


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
    assert grid(rows(**counts)).sentence.startswith(start)


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
    assert grid(rows(**counts)).sentence == told


def test_parts_add_up_in_the_grid() -> None:
    found = grid(rows(AB=2, AA=1), rows(AB=1, BA=3, unparsed=2))
    cells = {cell.name.partition(":")[0]: (cell.count, cell.total) for _, shares in found.rows for cell in shares}
    assert cells == {"AB": (3, 7), "AA": (1, 7), "BB": (0, 7), "BA": (3, 7)}
    assert found.note == "Unparsed: 2."


def test_a_test_without_pairs_has_no_grid() -> None:
    assert panels() == []
    assert panels(pd.DataFrame({"outcome": [None], "swapped_result": [None]})) == []
    assert panels(pd.DataFrame({"outcome": ["unparsed"], "swapped_result": [None]})) == []
