"""What still gets another verdict than it deserves: the one list of expected failures of the replays."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

NOT_YET: Mapping[str, Mapping[str, str]] = {}
"""Judges and forms of speaking under their tests, by what they wait for."""


def waiting(judge: str, test: str) -> list[pytest.MarkDecorator]:
    """The marks of a judge under a test: expected to fail, where its verdict is still another one."""
    reasons = [reason for reason, tests in NOT_YET.items() if judge in tests.get(test, "").split(" | ")]
    return [pytest.mark.xfail(strict=False, reason=reason) for reason in reasons]
