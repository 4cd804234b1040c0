"""Result columns as arrays: of a frame for measures, of an Arrow table for validation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa


def numbers(column: pd.Series) -> np.ndarray:
    """(rows,) float64; true and false are 1 and 0, and what is missing is NaN."""
    return np.asarray(pd.to_numeric(column, errors="coerce"), dtype=float)


ABOVE_CHANCE = 0.1
"""Of the way from what guessing reaches to 1, how far a default gate lies that has to be above it."""


def compute_gate_above(chance: float) -> float:
    """Return the least default gate for a guesser who reaches `chance`."""
    return chance + ABOVE_CHANCE * (1 - chance)


class GuessedRate(NamedTuple):
    """The rate that a model reaches which knows nothing."""

    rate: float
    answer: str = ""
    """The one answer that reaches it, given to every case; empty where guesses do."""


def all_hold(*parts: np.ndarray) -> np.ndarray:
    """Return (rows,) of 1 where all parts are 1, 0 where one is 0, which decides, and NaN where one is not known."""
    together = np.stack(parts)
    return np.where((together == 0).any(axis=0), 0.0, np.where(np.isnan(together).any(axis=0), np.nan, 1.0))


def average_known(values: np.ndarray) -> float | None:
    """Return the mean of those that are no NaN; None where all are."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def where(known: pd.Series | np.ndarray, values: object) -> np.ndarray:
    """(rows,) float64: the values of the rows that are known, NaN in the others."""
    return np.where(known, np.asarray(values, dtype=float), np.nan)


def keep_if_any(read: pd.Series | np.ndarray, values: np.ndarray) -> np.ndarray:
    """(rows,) float64: the values; NaN throughout where no row was read, since 0 would be a figure about nothing."""
    return values if np.any(read) else np.full(len(values), np.nan)


def get_texts(part: pa.Table, name: str) -> Any:
    """(rows,) of objects: a column's texts; those that are missing are empty."""
    column = part[name].to_numpy() if name in part.column_names else np.full(part.num_rows, None)
    return np.array(["" if text is None else text for text in column], dtype=object)


def get_numbers(part: pa.Table, name: str) -> np.ndarray:
    """(rows,) float64: a column's numbers; NaN where one is missing."""
    if name not in part.column_names:
        return np.full(part.num_rows, np.nan)
    return np.asarray(part[name].cast(pa.float64()).to_numpy(), dtype=float)


def get_truths(part: pa.Table, name: str) -> np.ndarray:
    """(rows,) bool: where a column is true."""
    return np.asarray(part[name].fill_null(False).to_numpy())


def all_or_nothing(part: pa.Table) -> np.ndarray:
    """(rows,) float64: whether a row should pass whose score is 1 or 0 and says so by itself."""
    return np.asarray(get_numbers(part, "eval_score") == 1, dtype=float)
