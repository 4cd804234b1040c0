"""What still gets another verdict than it deserves: the one list of expected failures of the replays."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

NOT_YET: Mapping[str, Mapping[str, str]] = {
    "the reader takes a letter in an aside, or that of a rejected summary, for the choice": {
        "order_bias": "explains after | rejected with which | rejected however | rejected on the other hand | "
        "rejected by contrast | rejected unlike | as written | answer line first | bold at the end | "
        "with reasons beside | excludes another after | question mark",
        "order_bias, asked back in vain": "rejected with which | rejected however | rejected on the other hand | "
        "rejected by contrast | rejected unlike | as written | answer line first | bold at the end",
        "order_bias, whole flow": "rejected with which, refused | rejected with which, ignored",
    },
    "the reader of options misses plain forms": {
        "option_order": "explains after | as written | answer line first | bold at the end | two sentences | "
        "I think it's a | my answer is | I would choose | of these | question mark",
        "add_negation": "explains after",
    },
    "answers are not held to a letter": {
        "order_bias, whole flow": "rejected with which, obeyed",
    },
    "the model is not asked back what its unread replies choose": {
        "order_bias": "cut off, asked back",
    },
    "add_toxic_words does not say yet which replies are toxic by words of their own": {
        "add_toxic_words": "always right",
    },
}
"""Judges and forms of speaking under their tests, by what they wait for."""


def waiting(judge: str, test: str) -> list[pytest.MarkDecorator]:
    """The marks of a judge under a test: expected to fail, where its verdict is still another one."""
    reasons = [reason for reason, tests in NOT_YET.items() if judge in tests.get(test, "").split(" | ")]
    return [pytest.mark.xfail(strict=False, reason=reason) for reason in reasons]
