"""What the store holds is told by model, exported in order, and forgotten as far as was asked and no further."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import update
from store.test_answers import begin, keyed, save

from contrapose.tasks.core.records import Usage
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import build_batch
from contrapose.tasks.store.housekeeping import CachedModel
from contrapose.tasks.store.schema import ANSWERS

pytestmark = pytest.mark.usefixtures("store")


def kept(model: str, *numbers: int, stored: float = 0.0) -> None:
    """Keep answers of a model as if they had been stored at `stored` and each a second later than the last."""
    table = Store().answers
    table.keep(
        build_batch([keyed(n) for n in numbers], run=begin(model), model=model, spent=Usage(), failures=0, again=False)
    )
    with table.engine.begin() as connection:
        for place, number in enumerate(numbers):
            mine = update(ANSWERS).where(ANSWERS.c.key == keyed(number).key)
            connection.execute(mine.values(stored=stored + place))


def exported(model: str | None = None) -> list[str]:
    return [json.loads(line)["question"]["prompt"] for line in Store().housekeeping.export(model=model)]


def test_what_there_is_is_told_by_model_in_the_order_of_names() -> None:
    kept("small", 1, 2, stored=20.0)
    kept("large", 3, stored=10.0)
    assert Store().housekeeping.count_by_model() == [
        CachedModel("large", 1, 3, 2, 10.0, 10.0),
        CachedModel("small", 2, 6, 4, 20.0, 21.0),
    ]


def test_an_empty_store_holds_nothing_and_forgets_nothing() -> None:
    assert Store().housekeeping.count_by_model() == []
    assert Store().housekeeping.clear() == 0
    assert exported() == []


def test_answers_are_exported_as_they_are_the_oldest_first() -> None:
    kept("small", 1, 2, stored=20.0)
    kept("large", 3, stored=10.0)
    assert exported() == ["question 3", "question 1", "question 2"]
    assert exported("small") == ["question 1", "question 2"]
    line = json.loads(next(Store().housekeeping.export()))
    assert line["answer"] == {"text": "yes"}
    assert (line["key"], line["model"], line["prompt_tokens"]) == (keyed(3).key, "large", 3)


def test_of_answers_stored_at_once_the_smaller_key_comes_first() -> None:
    kept("small", 5, stored=1.0)
    kept("other", 4, stored=1.0)
    assert exported() == ["question 4", "question 5"]


def test_letters_beyond_ascii_are_exported_as_they_are() -> None:
    save(Store().answers, keyed(1, "naïve 日本"), run=begin())
    assert "naïve 日本" in next(Store().housekeeping.export())


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        ({}, []),
        ({"model": "small"}, [3]),
        ({"before": 21.0}, [2]),
        ({"before": 20.0}, [1, 2]),
        ({"model": "small", "before": 21.0}, [3, 2]),
        ({"model": "nobody"}, [3, 1, 2]),
    ],
)
def test_only_what_was_asked_is_forgotten(chosen: dict[str, object], left: list[int]) -> None:
    kept("small", 1, 2, stored=20.0)
    kept("large", 3, stored=10.0)
    assert Store().housekeeping.clear(**chosen) == 3 - len(left)  # type: ignore[arg-type]
    assert exported() == [f"question {number}" for number in left]


def test_the_form_of_a_model_goes_with_its_last_answer() -> None:
    kept("small", 1, 2, stored=20.0)
    kept("large", 3, stored=10.0)
    forms = Store().forms
    for model in ("small", "large"):
        forms.note(model, "plain", model=model, run="run", again=False)
    Store().housekeeping.clear(model="small", before=21.0)
    assert forms.find("small") == "plain"
    Store().housekeeping.clear(model="small")
    assert (forms.find("small"), forms.find("large")) == (None, "plain")
