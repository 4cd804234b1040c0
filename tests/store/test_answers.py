"""Answers in a database: what was paid for is there, once, as it was."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerRow, AnswerTable, build_batch, checksum_ok
from contrapose.tasks.store.engine import MOST_VALUES
from contrapose.tasks.store.schema import ANSWERS

pytestmark = pytest.mark.usefixtures("store")


def keyed(number: int, text: str = "yes", **values: object) -> AnswerRow:
    question = Question(kind="generate", prompt=f"question {number}")
    usage = Usage(calls=1, prompt_tokens=3, completion_tokens=2)
    completion = Completion(text=text, usage=usage, **values)  # type: ignore[arg-type]
    return AnswerRow(key=f"{number:064x}", answer=Answer(question=question, completion=completion, seconds=number / 10))


def begin(name: str = "run") -> str:
    return Store().runs.begin(name, config="{}", folder=".")


def save(table: AnswerTable, *answers: AnswerRow, run: str, again: bool = False) -> None:
    spent = Usage(calls=len(answers), prompt_tokens=3 * len(answers), completion_tokens=2 * len(answers))
    table.keep(build_batch(answers, run=run, model="m", spent=spent, failures=0, again=again))


@pytest.mark.parametrize(
    "completion",
    [
        {"text": "naïve \x00 \U0001f600 \ud800"},
        {"text": ""},
        {"text": "A", "option_loglikelihoods": (-0.1, -2.25, -1e-7), "label_mass": 0.30000000000000004},
        {"loss": 1.0000000000000002},
        {"loss": None},
        {"text": "Yes.", "passages": ("first \ud800", "second")},
        {"text": "Yes.", "passages": ()},
        {"text": "", "outcome": "moderated"},
        {"text": "A", "constrained": True},
        {"text": "I must decline.", "outcome": "refused"},
    ],
)
def test_what_was_kept_comes_back_as_it_was(completion: dict[str, object]) -> None:
    table, run = Store().answers, begin()
    text = completion.pop("text", None)
    kept = keyed(1, text, **completion)  # type: ignore[arg-type]
    save(table, kept, run=run)
    assert table.find([kept.key])[kept.key] == kept.answer.completion


def test_a_forgotten_answer_is_gone_and_others_stay() -> None:
    table, first, second = Store().answers, begin("first"), begin("second")
    save(table, keyed(1), keyed(2), run=first)
    save(table, keyed(3), run=second)
    table.forget([keyed(1).key, keyed(3).key], run=second)
    assert set(table.find([keyed(number).key for number in (1, 2, 3)])) == {keyed(2).key, keyed(3).key}


def test_an_answer_without_passages_is_written_as_it_was_before_there_were_any() -> None:
    table, run = Store().answers, begin()
    save(table, keyed(1, "Yes."), run=run)
    with table.reading.begin() as connection:
        answer = connection.execute(select(ANSWERS.c.answer).where(ANSWERS.c.key == keyed(1).key)).scalar_one()
    assert set(json.loads(answer)) == {"text", "crc"}
    # So answers of the version before are read: there is no such field in them.
    old = table.find([keyed(1).key])[keyed(1).key]
    assert (old.passages, old.outcome) == (None, "answered")


def test_more_keys_than_one_statement_takes() -> None:
    table, run = Store().answers, begin()
    answers = [keyed(number) for number in range(1201)]
    save(table, *answers, run=run)
    assert len(table.find([each.key for each in answers] + ["0" * 63 + "g"])) == 1201


def test_the_first_answer_stays() -> None:
    table, first, second = Store().answers, begin("first"), begin("second")
    save(table, keyed(1, "first"), run=first)
    save(table, keyed(1, "second"), run=second)
    assert table.find([keyed(1).key])[keyed(1).key].text == "first"
    assert table.find([keyed(1).key], run=second) == {}
    assert set(table.find([keyed(1).key], run=first)) == {keyed(1).key}


def test_asked_again_the_new_answer_replaces_the_old_one() -> None:
    table, first, second = Store().answers, begin("first"), begin("second")
    save(table, keyed(1, "first"), run=first)
    save(table, keyed(1, "second"), run=second, again=True)
    assert table.find([keyed(1).key], run=first) == {}
    assert table.find([keyed(1).key], run=second)[keyed(1).key].text == "second"


def test_a_file_of_answers_is_nobody_elses(own_store: str) -> None:
    Store()
    assert Path(own_store.removeprefix("sqlite:///")).stat().st_mode & 0o077 == 0


def test_of_the_keys_only_those_that_are_answered_are_found() -> None:
    table, first, second = Store().answers, begin("first"), begin("second")
    save(table, keyed(1), run=first)
    save(table, keyed(2), run=second)
    keys = [keyed(number).key for number in range(4)]
    assert set(table.find(keys)) == {keys[1], keys[2]}
    assert set(table.find(keys, run=second)) == {keys[2]}
    assert table.find([]) == {}


def test_what_one_run_spends_is_counted_for_no_other() -> None:
    table, run, other = Store().answers, begin(), begin("other")
    table.keep(
        build_batch([keyed(1)], run=run, model="m", spent=Usage(calls=2, prompt_tokens=5), failures=1, again=False)
    )
    table.keep(
        build_batch([keyed(2)], run=run, model="m", spent=Usage(calls=1, completion_tokens=7), failures=3, again=False)
    )
    row, beside = Store().runs.get(run), Store().runs.get(other)
    assert (row.answers, row.failures, row.spent) == (2, 4, Usage(calls=3, prompt_tokens=5, completion_tokens=7))
    assert (beside.answers, beside.failures, beside.spent) == (0, 0, Usage())
    assert row.seen >= beside.seen


def test_more_answers_than_one_statement_takes_are_all_kept_and_replaced_only_when_asked_again() -> None:
    table, run, second = Store().answers, begin(), begin("second")
    many = [keyed(number) for number in range(MOST_VALUES // len(ANSWERS.c) + 2)]
    assert len(many) > 3000
    save(table, *many, run=run)
    assert len(table.find([one.key for one in many], run=run)) == len(many)
    save(table, *many[:2], run=second)
    assert table.find([many[0].key], run=second) == {}
    save(table, *many[-2:], run=second, again=True)
    assert set(table.find([one.key for one in many], run=second)) == {one.key for one in many[-2:]}
    assert table.check() == (len(many), 0)


def test_an_answer_is_kept_with_all_that_is_known_of_it() -> None:
    table, run = Store().answers, begin()
    kept = keyed(3)
    answer = replace(kept.answer, requests=4)
    table.keep(
        build_batch([replace(kept, answer=answer)], run=run, model="org/m", spent=Usage(), failures=0, again=False)
    )
    with table.engine.begin() as connection:
        row = connection.execute(select(ANSWERS)).one()
    assert (row.model, row.prompt_tokens, row.completion_tokens, row.requests) == ("org/m", 3, 2, 4)
    assert (row.seconds, row.run) == (0.3, run)
    assert json.loads(row.question)["prompt"] == "question 3"
    # What is unknown takes no room; a sum over it all stands at its end.
    assert list(json.loads(row.answer)) == ["text", "crc"]
    assert checksum_ok(row.key, row.answer, row.prompt_tokens, row.completion_tokens)
    assert abs(row.stored - time.time()) < 600


@pytest.mark.parametrize("count", [1, 2, 3, 4, 20, 101])
def test_a_percentile_is_the_latency_at_its_nearest_rank(count: int) -> None:
    table, run = Store().answers, begin()
    # The first has none, as answers of a batch.
    save(table, *(keyed(number) for number in range(count + 1)), run=run)
    latencies = [number / 10 for number in range(1, count + 1)]
    ranks = {0.5: (count + 1) // 2, 0.95: -(-95 * count // 100), 0.99: -(-99 * count // 100)}
    assert Store().runs.latency(run) == {share: latencies[rank - 1] for share, rank in ranks.items()}
