"""Which calls took most: of the run alone, the greatest first."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from contrapose.tasks.config.prices import FREE, Price
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Call, Completion, Usage
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerRow, build_batch
from contrapose.tasks.store.runs import MOST
from contrapose.tasks.store.schema import ANSWERS

pytestmark = pytest.mark.usefixtures("store")


def save(run: str, first: int, *calls: tuple[float, int, int]) -> str:
    begun = Store().runs.begin(run, config="{}", folder=".")
    answers = [
        AnswerRow(
            key=f"{number:064x}",
            answer=Answer(
                question=Question(kind="generate", prompt=f"question {number}"),
                completion=Completion(text="yes", usage=Usage(calls=1, prompt_tokens=read, completion_tokens=written)),
                seconds=seconds,
            ),
        )
        for number, (seconds, read, written) in enumerate(calls, start=first)
    ]
    Store().answers.keep(build_batch(answers, run=begun, model="m", spent=Usage(), failures=0, again=False))
    return begun


def prompts(calls: tuple[Call, ...]) -> list[str]:
    return [call["prompt"] for call in calls]


def test_the_slowest_come_first() -> None:
    run = save("run", 1, *((seconds, 1, 1) for seconds in (0.5, 3.0, 2.0)))
    found = Store().calls.find_greatest(run, prices={"m": FREE}).slowest
    assert prompts(found) == ["question 2", "question 3", "question 1"]
    assert found[0] == Call(prompt="question 2", seconds=3.0, prompt_tokens=1, completion_tokens=1, cost=0.0)


@pytest.mark.parametrize(("price", "cost"), [(None, None), (FREE, 0.0)])
def test_without_a_price_the_dearest_took_most_tokens(price: Price | None, cost: float | None) -> None:
    run = save("run", 1, (1.0, 10, 20), (1.0, 100, 1))
    found = Store().calls.find_greatest(run, prices={"m": price}).dearest
    assert prompts(found) == ["question 2", "question 1"]
    assert found[0]["cost"] == cost


def test_only_a_few_are_told_and_equal_ones_in_a_fixed_order() -> None:
    run = save("run", 1, *[(1.0, 1, 1)] * 9)
    found = Store().calls.find_greatest(run, prices={"m": None})
    assert prompts(found.slowest) == prompts(found.dearest) == [f"question {number}" for number in range(1, MOST + 1)]


def test_calls_of_other_runs_are_not_told() -> None:
    save("other", 1, (9.0, 9, 9))
    run = save("run", 2, (1.0, 1, 1))
    found = Store().calls.find_greatest(run, prices={"m": None})
    assert prompts(found.slowest) == prompts(found.dearest) == ["question 2"]


def test_a_run_that_asked_nothing_has_none() -> None:
    found = Store().calls.find_greatest(save("run", 1), prices={"m": None})
    assert (found.slowest, found.dearest) == ((), ())


def test_of_many_calls_the_greatest_are_told_and_not_the_first() -> None:
    run = save("run", 1, *((float(seconds), seconds, 1) for seconds in range(9)))
    found = Store().calls.find_greatest(run, prices={"m": None})
    assert prompts(found.slowest) == prompts(found.dearest) == [f"question {number}" for number in range(9, 4, -1)]


def test_tokens_that_are_read_and_written_cost_what_each_costs() -> None:
    run = save("run", 1, (1.0, 300, 1), (1.0, 10, 200))
    reading, writing = (
        Store().calls.find_greatest(run, prices={"m": price})
        for price in (Price(input=1, output=0), Price(input=0, output=1))
    )
    assert prompts(reading.dearest) == ["question 1", "question 2"]
    assert prompts(writing.dearest) == ["question 2", "question 1"]
    assert [call["cost"] for call in writing.dearest] == pytest.approx([200e-6, 1e-6])
    assert (writing.dearest[0]["prompt_tokens"], writing.dearest[0]["completion_tokens"]) == (10, 200)


def test_calls_of_two_models_are_weighed_each_by_its_own_price() -> None:
    run = save("run", 1, (1.0, 100, 0), (1.0, 10, 0))
    with Store().runs.engine.begin() as connection:
        connection.execute(update(ANSWERS).where(ANSWERS.c.key == f"{2:064x}").values(model="r"))
    prices = {"m": Price(input=1, output=1), "r": Price(input=20, output=1)}
    dearest = Store().calls.find_greatest(run, prices=prices).dearest
    assert prompts(dearest) == ["question 2", "question 1"]
    assert [call["cost"] for call in dearest] == pytest.approx([200e-6, 100e-6])
    unknown = Store().calls.find_greatest(run, prices={**prices, "r": None}).dearest
    assert [(call["prompt"], call["cost"]) for call in unknown] == [("question 1", 100e-6), ("question 2", None)]
