"""`contrapose cache`: what is there, what is deleted, and what is printed."""

from __future__ import annotations

import json

import pytest

from contrapose.flows.cli import main
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.core.records import Completion, Usage
from contrapose.tasks.store import Store
from contrapose.tasks.store.answers import AnswerRow, build_batch

pytestmark = pytest.mark.usefixtures("own_store")


def keep(model: str, *texts: str) -> None:
    run = Store().runs.begin("run", config="{}", folder=".")
    usage = Usage(calls=1, prompt_tokens=10, completion_tokens=2)
    answers = [
        AnswerRow(
            key=f"{model}-{text}".ljust(64, "0"),
            answer=Answer(
                question=Question(kind="generate", prompt=f"Say {text}."), completion=Completion(text=text, usage=usage)
            ),
        )
        for text in texts
    ]
    Store().answers.keep(build_batch(answers, run=run, model=model, spent=Usage(), failures=0, again=False))


def test_info_says_what_there_is_of_each_model(capsys: pytest.CaptureFixture[str]) -> None:
    keep("openai/small", "one", "two")
    keep("embedded", "three")
    assert main(["cache", "info"]) == 0
    place, total, first, second, unfinished = capsys.readouterr().out.splitlines()
    assert place.startswith("sqlite:///")
    assert total.startswith("3 answers, ")
    assert first.startswith("embedded: 1 answer, 10 tokens read, 2 written")
    assert second.startswith("openai/small: 2 answers, 20 tokens read, 4 written")
    assert unfinished == "2 unfinished runs: contrapose resume"


def test_a_password_is_never_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_STORE", "postgresql+psycopg://me:hunter2@127.0.0.1:1/none")
    assert main(["cache", "info"]) == 2
    err = capsys.readouterr().err
    assert "hunter2" not in err
    assert "CONTRAPOSE_STORE" in err
    assert len(err.splitlines()) == 1


def test_nothing_is_deleted_unless_it_is_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    keep("embedded", "one")
    assert main(["cache", "clear"]) == 2
    assert "--yes" in capsys.readouterr().err
    main(["cache", "info"])
    assert "1 answer," in capsys.readouterr().out


def test_answers_of_one_model_are_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    keep("openai/small", "one", "two")
    keep("embedded", "three")
    assert main(["cache", "clear", "--model", "openai/small", "--older-than", "1", "--yes"]) == 0
    assert main(["cache", "clear", "--model", "openai/small", "--yes"]) == 0
    assert capsys.readouterr().out.splitlines() == ["0 answers deleted", "2 answers deleted"]


def test_answers_are_exported_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    keep("openai/small", "one", "naïve")
    keep("embedded", "three")
    assert main(["cache", "export", "--model", "openai/small"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["answer"]["text"] for row in rows] == ["naïve", "one"]
    assert rows[1]["question"] == {"kind": "generate", "prompt": "Say one."}
