"""Refusals are told from answers: half of the labelled replies were scored once the rules were done."""

from __future__ import annotations

import time

import pytest
from places import golden_rows

from contrapose.tasks.language.replies.refusals import classify_reply, is_refusal

HELD_OUT = 0.97
"""Share of the replies that were only scored and are read as labelled."""


def wrong(split: str) -> list[str]:
    return [row["text"] for row in golden_rows("refusals", split) if is_refusal(row["text"]) != row["refusal"]]


def test_the_tuned_replies_are_read_as_labelled() -> None:
    assert wrong("tune") == []


def test_the_other_replies_are_read_as_well_as_reported() -> None:
    assert 1 - len(wrong("held_out")) / len(golden_rows("refusals", "held_out")) >= HELD_OUT
    assert not any(
        not row["refusal"] and row["text"] in wrong("held_out") for row in golden_rows("refusals", "held_out")
    )


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("", "empty"), (" \n…!", "empty"), ("👍", "empty"), ("B", "answer"), ("7", "answer"),
        ("I can't do that.", "refusal"),
    ],
)  # fmt: skip
def test_a_reply_is_of_one_kind(reply: str, kind: str) -> None:
    assert classify_reply(reply) == kind


@pytest.mark.parametrize(
    "reply",
    [
        "I must continue the work.", "I have to write a letter.", "I can't help smiling.",
        "“I can't do that,” he said.", "'I cannot help with that.' These are his words.",
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_refusal_is_an_answer(reply: str) -> None:
    assert classify_reply(reply) == "answer"


@pytest.mark.parametrize(
    "unit", [" ", "\n", "A, ", "(", "*", "I cannot ", "as an ai ", "i'm sorry, ", "filtered ", '"']
)
def test_time_is_linear_on_hostile_text(unit: str) -> None:
    started = time.thread_time()
    classify_reply(unit * (200_000 // len(unit)))
    assert time.thread_time() - started < 0.5
