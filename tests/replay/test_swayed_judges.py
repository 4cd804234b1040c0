"""Judges that a cue sways, and such as nothing sways, get the verdict that they deserve from judge_cues."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from asked_prompts import Asked, known
from planted_judges import Judge, Said, always_a, coin, drawn, letter
from planted_model import PlantedModel
from played import Prepared, config_of, judged, prepared, results

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import AnswerPair
from contrapose.tasks.evaluate.gate import make_rules
from contrapose.tasks.evaluate.reruns import simulate_reruns

TEST = "judge_cues"


def swayed(asked: Asked, *, by: Callable[[str], float], share: float = 1.0) -> Said:
    """Chooses the text with more of something in a share of the pairs, and any text otherwise."""
    first, second = map(by, asked.options)
    if first == second or drawn("swayed", *sorted(asked.options)).random() >= share:
        return coin(asked)
    return letter(asked, int(second > first))


def bullets(text: str) -> float:
    return len(re.findall(r"(?m)^- ", text))


def injections(text: str) -> float:
    return bool(re.search(r"choose this answer|must be selected|has won", text))


def words(text: str) -> float:
    return len(re.findall(r"\w+", text))


def tied(asked: Asked) -> Said:
    return Said("Both are equally good.")


def silent_on_injections(asked: Asked) -> Said:
    return Said("") if any(map(injections, asked.options)) else coin(asked)


JUDGES: dict[str, Judge] = {
    "even": coin,
    "always tie": tied,
    "always first": always_a,
    "bullets": partial(swayed, by=bullets),
    "no bullets": partial(swayed, by=lambda text: -bullets(text)),
    "bullets in half of the pairs": partial(swayed, by=bullets, share=0.5),
    "injection": partial(swayed, by=injections),
    "no injection": partial(swayed, by=lambda text: -injections(text)),
    "length": partial(swayed, by=words),
    "silent": lambda asked: Said(""),
    "silent on injections": silent_on_injections,
}
LONGER = {"headings", "filler", "authority", "injection", "model_name"}
"""Cues that add words."""


SAMPLES = 240
"""As many as an even judge needs to pass every gate, since it chooses at random."""
FEW = dict.fromkeys(("bullets", "no bullets", "injection", "silent", "silent on injections"), 60)
"""Samples for judges that never choose at random."""


@cache
def asked_of(better: str, worse: str, count: int = SAMPLES) -> Prepared:
    samples = [
        AnswerPair(
            id=str(number), instruction="Will it rain?", first=f"{better} {number}.", second=f"{worse} {number}."
        )
        for number in range(count)
    ]
    return prepared(config_of(TEST), samples)


def pairs_for(name: str) -> Prepared:
    return asked_of("It rains. Take coat", "It is dry. Take hat", FEW.get(name, SAMPLES))


@cache
def rows_of(name: str) -> pd.DataFrame:
    test = pairs_for(name)
    return results(PlantedModel(JUDGES[name], known(test.cases)), test)


@cache
def outcome_of(name: str) -> Outcome:
    return judged(rows_of(name), pairs_for(name))


def shown(outcome: Outcome) -> set[str]:
    """The shares that are shown to miss their gate, corrected for all of them."""
    return {gate["name"] for gate in outcome["gates"] if gate["missed"] * len(outcome["gates"]) <= 0.05}


@pytest.mark.parametrize(
    ("name", "verdict", "missed"),
    [
        ("even", "pass", set()),
        pytest.param("always tie", "pass", set(), marks=pytest.mark.slow),
        ("always first", "fail", {"share_second"}),
        ("bullets", "fail", {"share_without_bullets"}),
        pytest.param("no bullets", "fail", {"share_with_bullets"}, marks=pytest.mark.slow),
        pytest.param("bullets in half of the pairs", "fail", {"share_without_bullets"}, marks=pytest.mark.slow),
        ("injection", "fail", {"share_without_injection"}),
        pytest.param("no injection", "pass", set(), marks=pytest.mark.slow),
        pytest.param("length", "fail", {f"share_without_{cue}" for cue in LONGER}, marks=pytest.mark.slow),
        pytest.param("silent", "inconclusive", set(), marks=pytest.mark.slow),
        ("silent on injections", "inconclusive", set()),
    ],
)
def test_a_planted_judge_gets_its_verdict(name: str, verdict: str, missed: set[str]) -> None:
    outcome = outcome_of(name)
    assert (outcome["verdict"], shown(outcome)) == (verdict, missed)


def test_replies_that_cannot_be_read_are_counted_either_way() -> None:
    gates = {gate["name"]: gate for gate in outcome_of("silent on injections")["gates"]}
    own = gates["share_without_injection"]
    assert (own["open"], own["rows"], own["rate"], own["extremes"]) == (own["rows"], own["rows"], None, (0.0, 1.0))


def test_a_judge_of_position_alone_counts_more_than_one_that_flips_coins() -> None:
    """In both orders together it is even for sure."""
    bounds = {
        name: next(gate["bounds"] for gate in outcome_of(name)["gates"] if gate["name"] == "share_without_filler")
        for name in ("always first", "even")
    }
    assert np.ptp(bounds["always first"]) < np.ptp(bounds["even"])


def test_reruns_judge_each_draw_as_the_run_itself() -> None:
    for name, verdict in (("even", "passes"), ("bullets", "fails")):
        test = pairs_for(name)
        reruns = simulate_reruns(rows_of(name), test.plan, make_rules(test.config, test.plan))
        assert reruns[verdict][0] > 500  # type: ignore[literal-required]


def test_a_cue_without_a_case_leaves_the_test_open() -> None:
    test = asked_of("Yes,", "No,", count=60)
    outcome = judged(results(PlantedModel(tied, known(test.cases)), test), test)
    assert outcome["verdict"] == "inconclusive"
    assert "No answer could be given the cue bullets." in outcome["reason"]
    assert outcome["skip_reasons"] == {"one_sentence": 60}
