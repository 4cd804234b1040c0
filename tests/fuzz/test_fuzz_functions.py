"""Any text at all: no exception, no hang, sound outputs, and the same ones in every process and order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz_checks import check_choice, check_count, check_negation
from hypothesis import given, settings
from hypothesis import strategies as st

from contrapose.tasks.probes.negation import negate
from contrapose.tasks.probes.order_bias import read_choice
from contrapose.tasks.probes.toxic_words import count_toxic

SEED = 1
MANY = 200_000
STEP = 20_000


def digests(indices: range) -> set[str]:
    """What two processes return at the same time, with unlike hashes and orders."""
    command = [sys.executable, str(Path(__file__).with_name("fuzz_digest.py")), str(indices.start), str(indices.stop)]
    started = [
        subprocess.Popen(
            [*command, str(SEED), order],
            env={**os.environ, "PYTHONHASHSEED": hashes},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for hashes, order in (("0", "forward"), ("1", "reversed"))
    ]
    made = [process.communicate(timeout=1200) for process in started]
    assert [process.returncode for process in started] == [0, 0], "".join(err[-2000:] for _, err in made)
    return {out.strip() for out, _ in made}


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("first", range(0, MANY, STEP))
def test_two_hundred_thousand_texts(first: int) -> None:
    assert len(digests(range(first, first + STEP))) == 1


@given(st.text(max_size=200))
@settings(max_examples=150)
def test_any_text_is_negated_or_skipped_with_a_reason(text: str) -> None:
    check_negation(negate(text), text)


@given(st.text(max_size=200))
@settings(max_examples=150)
def test_any_text_is_counted(text: str) -> None:
    check_count(count_toxic(text), text)


@given(st.text(max_size=200), st.one_of(st.none(), st.text(max_size=60)), st.one_of(st.none(), st.text(max_size=60)))
@settings(max_examples=150)
def test_any_reply_is_read(reply: str, option_a: str | None, option_b: str | None) -> None:
    check_choice(read_choice(reply, option_a=option_a, option_b=option_b))
