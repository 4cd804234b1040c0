"""Render summary.json: verdicts and counts, for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import numpy as np

from contrapose.tasks.report.base import Report
from contrapose.tasks.text.cleaning import replace_surrogates


def render(report: Report) -> bytes:
    """Return the summary as strictly valid JSON, ended by a newline."""
    return f"{to_json(report.summary)}\n".encode()


def to_json(content: Mapping[str, object]) -> str:
    """Return content as JSON: keys sorted, indented by two, ASCII only so that every terminal can print it.

    A number that is not finite becomes null, a lone surrogate the replacement character.
    """
    return json.dumps(_to_plain(content), indent=2, sort_keys=True, allow_nan=False)


def _to_plain(value: object) -> object:
    if isinstance(value, np.generic):
        return _to_plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {replace_surrogates(str(key)): _to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int)) else replace_surrogates(str(value))
