"""What still gets another verdict than it deserves: the one list of expected failures of the replays."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

NOT_YET: Mapping[str, frozenset[tuple[str, str]]] = {}
"""Judges (or forms of speaking) and tests, by what they wait for."""


def waiting(judge: str, test: str) -> list[pytest.MarkDecorator]:
    """The marks of a judge under a test: expected to fail, where its verdict is still another one."""
    reasons = [reason for reason, cells in NOT_YET.items() if (judge, test) in cells]
    return [pytest.mark.xfail(strict=False, reason=reason) for reason in reasons]
