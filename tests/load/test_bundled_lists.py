"""The bundled lists: no place and no letter tells the answer, and where the answer stands is as it is said."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from load.sources import loaded

from contrapose.tasks.core.records import ItemSample
from contrapose.tasks.probes.answers.scores import contains_phrase
from contrapose.tasks.probes.orders.item_places import make_place_details


@cache
def samples() -> list[ItemSample]:
    return loaded("item_lists", ItemSample, slice_by="kind").samples


def test_there_are_several_kinds_of_several_lists() -> None:
    kinds = Counter(sample.slice for sample in samples())
    assert set(kinds) == {"passages", "tools", "examples", "rubric"}
    assert min(kinds.values()) >= 15
    assert all(4 <= len(sample.items) <= 6 for sample in samples())
    assert len({sample.cluster for sample in samples()}) > 20


@pytest.mark.parametrize("length", [4, 5, 6])
def test_the_relevant_item_stands_equally_often_at_every_place(length: int) -> None:
    places = Counter(sample.relevant for sample in samples() if sample.relevant and len(sample.items) == length)
    assert set(places) == set(range(1, length + 1))
    assert max(places.values()) - min(places.values()) <= 1


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_right_option_stands_equally_often_behind_every_letter(count: int) -> None:
    letters = Counter(sample.options.index(sample.answers[0]) for sample in samples() if len(sample.options) == count)
    assert set(letters) == set(range(count))
    assert max(letters.values()) - min(letters.values()) <= 1


def test_the_longest_item_and_the_longest_option_are_right_about_as_often_as_any() -> None:
    known = [sample for sample in samples() if sample.relevant]
    longest = sum(max(sample.items, key=len) == sample.items[(sample.relevant or 0) - 1] for sample in known)
    assert 0.1 < longest / len(known) < 0.3
    options = sum(max(sample.options, key=len) == sample.answers[0] for sample in samples())
    assert 0.1 < options / len(samples()) < 0.4


def test_the_only_item_that_holds_the_answer_is_the_relevant_one() -> None:
    for sample in samples():
        sources = make_place_details(sample, tuple(range(len(sample.items))))["sources"].split(",")
        source = sources[sample.options.index(sample.answers[0])]
        assert not source or source == str(sample.relevant), sample.id


def test_no_question_holds_its_answer() -> None:
    assert not [
        sample.id for sample in samples() if contains_phrase(sample.text.casefold(), sample.answers[0].casefold())
    ]
