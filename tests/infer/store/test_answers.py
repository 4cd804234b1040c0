"""Answers in a database: what was paid for is there, once, as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from contrapose.tasks.infer.base import Answer, Question
from contrapose.tasks.infer.store import open_answers, open_runs
from contrapose.tasks.infer.store.answers import AnswerTable, Keyed
from contrapose.tasks.records import Completion, Usage

pytestmark = pytest.mark.usefixtures("store")


def keyed(number: int, text: str = "yes", **values: object) -> Keyed:
    question = Question(kind="generate", prompt=f"question {number}")
    usage = Usage(calls=1, prompt_tokens=3, completion_tokens=2)
    completion = Completion(text=text, usage=usage, **values)  # type: ignore[arg-type]
    return Keyed(key=f"{number:064x}", answer=Answer(question=question, completion=completion, seconds=number / 10))


def begin(name: str = "run") -> str:
    return open_runs().begin(name, config="{}", folder=".")


def save(table: AnswerTable, *answers: Keyed, run: str, again: bool = False) -> None:
    spent = Usage(calls=len(answers), prompt_tokens=3 * len(answers), completion_tokens=2 * len(answers))
    table.save(answers, run=run, model="m", spent=spent, failures=0, again=again)


@pytest.mark.parametrize(
    "completion",
    [
        {"text": "naïve \x00 \U0001f600 \ud800"},
        {"text": ""},
        {"text": "A", "option_loglikelihoods": (-0.1, -2.25, -1e-7)},
        {"loss": 1.0000000000000002},
        {"loss": None},
    ],
)
def test_what_was_kept_comes_back_as_it_was(completion: dict[str, object]) -> None:
    table, run = open_answers(), begin()
    text = completion.pop("text", None)
    kept = keyed(1, text, **completion)  # type: ignore[arg-type]
    save(table, kept, run=run)
    assert table.find([kept.key])[kept.key].completion == kept.answer.completion


def test_more_keys_than_one_statement_takes() -> None:
    table, run = open_answers(), begin()
    answers = [keyed(number) for number in range(1201)]
    save(table, *answers, run=run)
    assert len(table.find([each.key for each in answers] + ["0" * 63 + "g"])) == 1201


def test_the_first_answer_stays() -> None:
    table, first, second = open_answers(), begin("first"), begin("second")
    save(table, keyed(1, "first"), run=first)
    save(table, keyed(1, "second"), run=second)
    found = table.find([keyed(1).key])[keyed(1).key]
    assert (found.completion.text, found.run) == ("first", first)


def test_asked_again_the_new_answer_replaces_the_old_one() -> None:
    table, first, second = open_answers(), begin("first"), begin("second")
    save(table, keyed(1, "first"), run=first)
    save(table, keyed(1, "second"), run=second, again=True)
    assert table.find([keyed(1).key], run=first) == {}
    assert table.find([keyed(1).key], run=second)[keyed(1).key].completion.text == "second"


def test_what_a_run_spent_is_kept_with_its_answers() -> None:
    table, run = open_answers(), begin()
    save(table, *(keyed(number) for number in range(100)), run=run)
    table.save([], run=run, model="m", spent=Usage(calls=4), failures=2, again=False)
    row = open_runs().get(run)
    assert row is not None
    assert (row.answers, row.failures) == (100, 2)
    assert row.spent == Usage(calls=104, prompt_tokens=300, completion_tokens=200)
    assert row.latency == {0.5: 5.0, 0.95: 9.5, 0.99: 9.9}


def test_a_file_of_answers_is_nobody_elses(own_store: str) -> None:
    open_answers()
    assert Path(own_store.removeprefix("sqlite:///")).stat().st_mode & 0o077 == 0
