from __future__ import annotations

import pytest

from contrapose.tasks.report.markdown import Block, fitting

BLOCKS = [Block(0, "head"), Block(2, "least " * 5), Block(1, "middle"), Block(0, "foot")]


def test_what_fits_stays_in_order() -> None:
    assert fitting(BLOCKS) == f"head\n\n{'least ' * 5}\n\nmiddle\n\nfoot"


def test_what_matters_least_goes_first() -> None:
    told = fitting(BLOCKS, most=30)
    assert told == "head\n\nmiddle\n\nfoot\n\n1 part did not fit into a comment; report.html has all."


@pytest.mark.parametrize("text", ["é" * 20, "\U0001f600" * 10])
def test_size_is_counted_in_bytes(text: str) -> None:
    assert "did not fit" in fitting([Block(0, text)], most=30)
