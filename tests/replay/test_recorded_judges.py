"""Recorded judges get the verdict of what they said, or none: never that of what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from asked_prompts import known
from planted_judges import Judge
from planted_model import AskedBack, PlantedModel
from played import Prepared, config_of, judged, planted, prepared, results
from recorded_judges import FILES, Recording, lettered, muffled, recordings, spoken

from contrapose.tasks.core.records import Case

GATES = (0.5, 0.7)
"""Of the recorded judges some are right in both orders in 15 to 40 %, some in 53 to 58 %, some in 73 to 82 %."""
CLEAR = 6
"""Pairs that can be read of a judge whose other replies are cut off."""


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> list[Recording]:
    """Every recording; skipped where they are not beside the checkout."""
    missing = [name for name in FILES if not (shared_data / name).is_file()]
    if missing:
        pytest.skip(f"{', '.join(missing)} not beside this checkout")
    return recordings(shared_data)


def pairs_of(recording: Recording, gate: float = 0.7) -> Prepared:
    """order_bias on the recorded pairs."""
    return prepared(config_of("order_bias", min_pass_rate=gate, control=False), recording.pairs)


@pytest.mark.slow
def test_recorded_judges_get_the_verdict_of_their_letters_or_none(recorded: list[Recording]) -> None:
    wrong = []
    for recording in recorded:
        found, true = (verdicts(judge, recording) for judge in (spoken, lettered))
        wrong += [
            (recording.name, gate, was, should)
            for gate, was, should in zip(GATES, found, true, strict=True)
            if was not in (should, "inconclusive")
        ]
    assert not wrong


def verdicts(judge: Callable[[Recording, Sequence[Case]], Judge], recording: Recording) -> list[str]:
    """The verdict on a recorded judge at each gate; its replies are read once."""
    test = pairs_of(recording)
    model = PlantedModel(judge(recording, test.cases), known(test.cases), asked_back="silent")
    rows = results(model, test)
    return [judged(rows, pairs_of(recording, gate))["verdict"] for gate in GATES]


@pytest.mark.parametrize(
    ("asked_back", "verdict"),
    [("silent", "inconclusive"), ("honest", "fail")],
)
def test_replies_that_are_cut_off_decide_nothing_until_they_are_asked_back(
    recorded: list[Recording], asked_back: AskedBack, verdict: str
) -> None:
    (recording,) = [each for each in recorded if each.name == "PaLM2 Vanilla"]
    test, judge = pairs_of(recording), partial(muffled, clear=CLEAR)
    assert verdicts(lettered, recording)[GATES.index(0.7)] == "fail"
    assert planted(judge(recording, test.cases), test, asked_back=asked_back)["verdict"] == verdict
