"""Columns of result rows as the values of measures."""

from __future__ import annotations

import numpy as np
import pandas as pd


def numbers(column: pd.Series) -> np.ndarray:
    """(rows,) float64; true and false are 1 and 0, and what is missing is NaN."""
    return np.asarray(pd.to_numeric(column, errors="coerce"), dtype=float)


def where(known: pd.Series | np.ndarray, values: object) -> np.ndarray:
    """(rows,) float64: the values of the rows that are known, NaN in the others."""
    return np.where(known, np.asarray(values, dtype=float), np.nan)
