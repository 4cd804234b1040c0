"""Questions that were written into batch files, and which batch is asking what."""

from __future__ import annotations

import pytest

from contrapose.tasks.core.questions import Answer, Question, from_json, to_json
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerRow, build_batch
from contrapose.tasks.store.prompts import PREPARED, PromptRow

pytestmark = pytest.mark.usefixtures("store")

KEYS = [f"{number:064}" for number in range(1200)]


def row(key: str, run: str) -> PromptRow:
    return PromptRow(key=key, question=f'{{"prompt": "{key}"}}', model="openai/any", form_key="", run=run)


def noted(run: str, keys: list[str]) -> None:
    Store().prompts.note([row(key, run) for key in keys])


@pytest.mark.parametrize(
    "question",
    [
        Question(kind="generate", prompt="a\n\ud800"),
        Question(kind="choose", prompt="b", labels=("A", "B"), repeat=3),
        Question(kind="loss", prompt="", text="c"),
        Question(kind="generate", prompt="d", labels=("A",), form="json_schema"),
    ],
)
def test_a_question_is_read_as_it_was_written(question: Question) -> None:
    assert from_json(to_json(question)) == question


def test_what_is_written_again_belongs_to_the_newer_run() -> None:
    noted("first", KEYS)
    noted("second", KEYS[:100])
    assert {key: row.run for key, row in Store().prompts.find(KEYS).items()} == {
        key: "second" if key in KEYS[:100] else "first" for key in KEYS
    }


def test_a_question_is_in_one_batch_at_a_time() -> None:
    prompts = Store().prompts
    noted("run", KEYS)
    assert prompts.prepare("one", KEYS[:700], spec="{}") == 700
    assert prompts.prepare("two", KEYS, spec="{}") == 500
    assert prompts.prepare("three", KEYS, spec="{}") == 0
    assert [(batch.id, batch.questions, batch.state) for batch in prompts.batches()] == [
        ("one", 700, PREPARED),
        ("two", 500, PREPARED),
    ]
    assert [row.key for row in prompts.asked_by("two")] == KEYS[700:]
    # What a batch is asking is not taken from it by whoever writes it again.
    noted("later", KEYS)
    assert {row.run for row in prompts.find(KEYS).values()} == {"run"}


def test_what_a_batch_did_not_answer_is_free_when_it_has_ended() -> None:
    prompts = Store().prompts
    noted("run", KEYS[:10])
    prompts.prepare("one", KEYS[:10], spec="{}")
    prompts.mark("one", {"remote": "batch_1", "state": "in_progress"})
    (batch,) = prompts.batches()
    assert (batch.remote, batch.state) == ("batch_1", "in_progress")
    prompts.release("one")
    assert prompts.batches() == []
    assert prompts.prepare("two", KEYS[:10], spec="{}") == 10


def test_missing_are_those_without_an_answer() -> None:
    run = Store().runs.begin("run", config="{}", folder="/")
    noted(run, KEYS[:10])
    noted("another", KEYS[10:20])
    question = Question(kind="generate", prompt="x")
    answers = [
        AnswerRow(key=key, answer=Answer(question=question, completion=Completion(text="A"))) for key in KEYS[:4]
    ]
    kept = build_batch(answers, run=run, model="openai/any", spent=Usage(), failures=0, again=False)
    Store().answers.keep(kept)
    assert Store().prompts.missing([run]) == 6
    assert Store().prompts.missing([run, "another"]) == 16
    assert Store().prompts.missing([]) == 0
