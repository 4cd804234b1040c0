"""Every planted reader of a list gets the verdict that it deserves, and its figures say where it reads."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from asked_prompts import Asked
from planted_judges import JUDGES, Judge, Said, drawn, letter
from played import bundled, config_of, planted, prepared

from contrapose.tasks.config.plan import plans
from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.records import ItemSample
from contrapose.tasks.load.samples import load_samples


def _named_at(asked: Asked, place: int) -> Said:
    """The option that stands in the item at a place; where none does, whatever comes first."""
    return letter(asked, asked.sources.index(place) if place in asked.sources else 0)


def reads_first(asked: Asked) -> Said:
    """Knows nothing but the first item."""
    return _named_at(asked, 1)


def reads_last(asked: Asked) -> Said:
    """Knows nothing but the last item."""
    return _named_at(asked, asked.items)


def right_when_first(asked: Asked) -> Said:
    """Right where the relevant item stands first; else any letter."""
    return letter(asked, asked.right[0]) if asked.relevant == 1 else _any(asked)


def lost_in_the_middle(asked: Asked) -> Said:
    """Right where the relevant item stands first or last; else any letter."""
    return letter(asked, asked.right[0]) if asked.relevant in (1, asked.items) else _any(asked)


def right_in_most(asked: Asked) -> Said:
    """Right in nine of ten prompts, wherever anything stands."""
    return _any(asked) if drawn("slip", asked.prompt).random() < 0.1 else letter(asked, asked.right[0])


def _any(asked: Asked) -> Said:
    return letter(asked, drawn("any", asked.prompt).randrange(len(asked.options)))


READERS: Mapping[str, tuple[Judge, str]] = {
    "reads the first": (reads_first, "fail"),
    "reads the last": (reads_last, "fail"),
    "right when first": (right_when_first, "fail"),
    "lost in the middle": (lost_in_the_middle, "fail"),
    "right in most": (right_in_most, "pass"),
    "always right": (JUDGES["always right"], "pass"),
    "right in words": (JUDGES["right in words"], "pass"),
    "explains after": (JUDGES["explains after"], "pass"),
    "coin": (JUDGES["coin"], "fail"),
    "coin in words": (JUDGES["coin in words"], "fail"),
    "always A": (JUDGES["always A"], "fail"),
    "always last": (JUDGES["always last"], "fail"),
    "always wrong": (JUDGES["always wrong"], "fail"),
    "silent": (JUDGES["silent"], "inconclusive"),
    "refuses": (JUDGES["refuses"], "inconclusive"),
    "refuses half": (JUDGES["refuses half"], "inconclusive"),
    "cut off": (JUDGES["cut off"], "inconclusive"),
}
"""By name: the reader, and its verdict. `always wrong` keeps to a wrong option wherever anything stands."""


def outcome_of(name: str) -> Outcome:
    return planted(READERS[name][0], bundled("item_order"))


def estimated(outcome: Outcome, name: str) -> float:
    return outcome["estimates"][name]["value"]


@pytest.mark.parametrize("name", READERS)
def test_a_planted_reader_gets_its_verdict(name: str) -> None:
    assert outcome_of(name)["verdict"] == READERS[name][1]


def test_whoever_always_says_the_same_stays_and_fails_for_being_wrong() -> None:
    outcome = outcome_of("always A")
    assert outcome["pass_rate"] == 1
    by_name = {gate["name"]: gate for gate in outcome["gates"]}
    gate = by_name["right_rate"]
    assert gate["rate"] is not None
    assert gate["chance"] is not None
    assert abs(gate["rate"] - gate["chance"]) < 0.05
    assert "right rate" in outcome["reason"]


def test_without_a_known_answer_whoever_always_says_the_same_passes_and_nothing_says_that_it_is_right() -> None:
    config = config_of("item_order")
    (plan,) = plans(config)
    samples = [
        ItemSample(id=sample.id, text=sample.text, items=sample.items, options=sample.options)
        for sample in load_samples(plan.data, ItemSample, limit=None, seed=0).samples
    ]
    outcome = planted(lambda asked: Said("A"), prepared(config, samples))
    assert outcome["verdict"] == "pass"
    assert [gate["name"] for gate in outcome["gates"]] == ["pass_rate"]
    assert "accuracy" not in outcome["estimates"]


@pytest.mark.parametrize(
    ("name", "first", "middle", "last"),
    [
        ("always right", (1, 1), (1, 1), (1, 1)), ("right when first", (1, 1), (0.1, 0.4), (0.1, 0.4)),
        ("lost in the middle", (1, 1), (0.1, 0.4), (1, 1)), ("reads the first", (0.9, 1), (0, 0.2), (0, 0.2)),
        ("reads the last", (0, 0.2), (0, 0.2), (0.9, 1)), ("always A", (0.2, 0.3), (0.2, 0.3), (0.2, 0.3)),
    ],
)  # fmt: skip
def test_accuracy_is_told_by_where_the_relevant_item_stands(
    name: str, first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]
) -> None:
    outcome = outcome_of(name)
    for place, (low, high) in {"first": first, "middle": middle, "last": last}.items():
        assert low <= estimated(outcome, f"accuracy_relevant_{place}") <= high, place


@pytest.mark.parametrize(("name", "place"), [("reads the first", "first"), ("reads the last", "last")])
def test_the_place_that_answers_favour_is_named_beyond_doubt(name: str, place: str) -> None:
    estimates = outcome_of(name)["estimates"]
    beyond = {where: estimates[f"favours_{where}"]["interval"] for where in ("first", "middle", "last")}
    assert all(interval is not None for interval in beyond.values())
    assert [where for where, interval in beyond.items() if interval and interval[0] > 0] == [place]


def test_the_effect_of_the_order_is_held_against_other_words() -> None:
    (effect,) = [effect for effect in outcome_of("reads the first")["effects"] if effect["measure"] == "answer_changed"]
    assert effect["control"] == 0
    assert effect["case"] > 0.7
    assert effect["interval"][0] > 0
