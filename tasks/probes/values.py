"""Convert result columns to arrays, and compute with them: pandas columns for measures, Arrow for validation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa


def numbers(column: pd.Series) -> np.ndarray:
    """Return a column as (rows,) float64: true is 1, false is 0, and missing values are NaN."""
    return np.asarray(pd.to_numeric(column, errors="coerce"), dtype=float)


ABOVE_CHANCE = 0.1
"""How far above random guessing a default gate lies, as a share of the distance from guessing to 1."""


def compute_gate_above(chance: float) -> float:
    """Return the lowest default gate if random guessing reaches `chance`."""
    return chance + ABOVE_CHANCE * (1 - chance)


class GuessedRate(NamedTuple):
    """The rate that guessing or a constant answer reaches."""

    rate: float
    answer: str = ""
    """The constant answer that reaches the rate; empty if random guessing reaches it."""


def all_hold(*parts: np.ndarray) -> np.ndarray:
    """Return (rows,): 0 if any part is 0, else NaN if any part is NaN, else 1."""
    together = np.stack(parts)
    return np.where((together == 0).any(axis=0), 0.0, np.where(np.isnan(together).any(axis=0), np.nan, 1.0))


def average_known(values: np.ndarray) -> float | None:
    """Return the mean of the values that are not NaN; None if all are NaN."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def where(known: pd.Series | np.ndarray, values: object) -> np.ndarray:
    """Return (rows,) float64: the values of the known rows, NaN in the others."""
    return np.where(known, np.asarray(values, dtype=float), np.nan)


def keep_if_any(read: pd.Series | np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the values, or only NaN if no row was read, because 0 would be a figure about nothing."""
    return values if np.any(read) else np.full(len(values), np.nan)


def get_texts(part: pa.Table, name: str) -> Any:
    """Return the texts of a column, (rows,) of objects; missing texts are empty."""
    column = part[name].to_numpy() if name in part.column_names else np.full(part.num_rows, None)
    return np.array(["" if text is None else text for text in column], dtype=object)


def get_numbers(part: pa.Table, name: str) -> np.ndarray:
    """Return the numbers of a column, (rows,) float64; missing ones are NaN."""
    if name not in part.column_names:
        return np.full(part.num_rows, np.nan)
    return np.asarray(part[name].cast(pa.float64()).to_numpy(), dtype=float)


def get_truths(part: pa.Table, name: str) -> np.ndarray:
    """Return (rows,) bool: whether a column is true; missing values are false."""
    return np.asarray(part[name].fill_null(False).to_numpy())


def all_or_nothing(part: pa.Table) -> np.ndarray:
    """Return (rows,) float64: 1 if the score is 1, else 0, for tests whose score of 1 is a pass."""
    return np.asarray(get_numbers(part, "eval_score") == 1, dtype=float)
