"""The contrast rate: an answer that changes with the meaning, and stays where only the wording changes.

The documents' pass rate of a test that should change the answer rewards whoever changes it for no reason: of four
options a coin-flipper picks another one in 75 %. Its answer also stays under the control in 25 %, so that its contrast
rate is 19 %; with the right answer before, 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from contrapose.tasks.probes.base import Criterion
from contrapose.tasks.probes.values import numbers

NAME = "contrast_rate"
INDEPENDENT = 0.25
"""Most that two independent answers can do, whatever they are: one changes with probability p, one stays with 1 - p."""
ASKED = ["sample_id", "repeat"]
"""Columns that tell one asking of a sample, and of its control, from another."""


def contrast(results: pd.DataFrame, wanted: float) -> Sequence[Criterion]:
    """The criterion, over the cases that have a control; none where no control was asked.

    A case meets it when its answer changed, that to the control stayed, and the answer before was the right one where
    that is known. One of the three that fails decides; otherwise one that cannot be told leaves the case open.

    Args:
        results: cases and controls, those in error too.
        wanted: the gate, 0 to 1.
    """
    controls = results[results["control"].astype(bool)]
    if controls.empty:
        return []
    twins = _twins(results, controls)
    paired = ~results["control"].to_numpy(dtype=bool) & twins["control"].eq(True).to_numpy()
    stayed = 1 - numbers(twins["answer_changed"])
    right = np.nan_to_num(numbers(results["right_before"]), nan=1.0)
    parts = np.stack([numbers(results["answer_changed"]), stayed, right])
    open_ = np.where(np.isnan(parts).any(axis=0), np.nan, 1.0)
    return [
        Criterion(
            name=NAME,
            wanted=wanted,
            met=np.where((parts == 0).any(axis=0), 0.0, open_),
            applies=paired,
            chance=_chance(results[paired], twins[paired]),
        )
    ]


def _twins(results: pd.DataFrame, controls: pd.DataFrame) -> pd.DataFrame:
    """For each row the control of its sample, in the order of the rows; nothing where there is none."""
    told = controls.drop_duplicates(ASKED).set_index(ASKED)[["control", "answer_changed", "chance"]]
    return told.reindex(pd.MultiIndex.from_frame(results[ASKED]))


def _chance(cases: pd.DataFrame, twins: pd.DataFrame) -> float | None:
    """The contrast rate of a guesser: it changes, it stays, and it is right before as often as one of the options."""
    if cases.empty:
        return None
    both = numbers(cases["chance"]) * numbers(twins["chance"])
    known = cases["right_before"].notna() & cases["option_count"].notna()
    guessed = np.where(known, 1 / numbers(cases["option_count"]), 1.0)
    return float(np.mean(np.where(np.isnan(both), INDEPENDENT, both * guessed)))
