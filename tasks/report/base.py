"""What every report is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.outcome import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One run, ready to be shown."""

    summary: Summary
    """Verdicts and counts."""
    results: pd.DataFrame
    """One row per asked case, columns as in SEMANTICS, raw text."""
    skipped: pd.DataFrame
    """One row per case that was not asked: test_type, sample_id, original, skip_reason."""
    show_toxic: bool = False
    """Show toxic words instead of masking them."""


Rendered = Mapping[str, bytes]
"""File name to content."""
