"""Remedies of recorded replies that cannot be used get a person further."""

from __future__ import annotations

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from newest_run import write_rows
from plain_broker import PlainBroker
from remedies.following import Attempt, Case, change, follow_case, follows, write

from contrapose.flows.cli import main
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.recorded import RecordedReplies


def line(**row: object) -> str:
    return json.dumps(row) + "\n"


VALIDATE = "validate --test add_toxic_words --limit 1 --model recorded/replies.jsonl"
REPLY = line(prompt="It is.", reply="Yes.")
LOG = {"messages": [{"role": "user", "content": "It is."}], "output": {"choices": [{"message": {"content": "Yes."}}]}}
RESULT = line(custom_id="1", response={"status_code": 200, "body": {"choices": [{"message": {"content": "Yes."}}]}})
REQUEST = line(custom_id="1", body={"prompt": "It is."})
SAMPLE = {"doc_id": 0, "question": "It is.", "answer": "Yes."}
LIKELIHOODS = [["It is.", " so"], ["It is.", " not"]]


def name_requests(attempt: Attempt) -> None:
    """Name the file of requests as the remedy says."""
    assert "the file of the requests in model_args.requests" in attempt.remedy
    attempt.arguments += ["--set", "model_args.requests=requests.jsonl"]


def name_columns(attempt: Attempt) -> None:
    """Name the columns of the prompt and the reply."""
    assert "or name its columns in model_args.columns" in attempt.remedy
    for name, column in (("prompt", "question"), ("reply", "answer")):
        attempt.arguments += ["--set", f"model_args.columns.{name}={column}"]


def correct_log(attempt: Attempt) -> None:
    """Correct a log, which has no columns to be named."""
    assert attempt.remedy == "Correct the file."
    (attempt.folder / "log.json").write_text(json.dumps({"samples": [LOG]}))


CASES = [
    Case(
        site="tasks/infer/formats/base.py:yield_table_rows",
        command=VALIDATE,
        says="row 2: invalid JSON",
        follow=write("Correct that row", "replies.jsonl", REPLY * 2),
        files={"replies.jsonl": REPLY + '{"prompt": "It is'},
    ),
    Case(
        site="tasks/infer/recordings.py:_yield_row_replies",
        command=VALIDATE,
        says="row 1, column side: 'left'",
        follow=write("Correct that row", "replies.jsonl", line(id=1, side="original", reply="Yes.")),
        files={"replies.jsonl": line(id=1, side="left", reply="Yes.")},
    ),
    Case(
        site="tasks/infer/formats/base.py:yield_rows",
        command=VALIDATE,
        says="expected samples of lm-eval",
        follow=name_columns,
        files={"replies.jsonl": line(**SAMPLE, arguments=5, resps=5)},
    ),
    Case(
        site="tasks/infer/formats/base.py:yield_rows",
        command="validate --test add_toxic_words --limit 1 --model recorded/log.json",
        says="expected a log of Inspect",
        follow=correct_log,
        files={"log.json": '{"samples": ["x"]}'},
    ),
    Case(
        site="tasks/infer/formats/base.py:yield_rows",
        command=f"{VALIDATE} --set model_args.requests=requests.jsonl",
        says="expected results of an OpenAI batch",
        follow=write("Correct the file", "replies.jsonl", RESULT),
        files={"replies.jsonl": RESULT.replace("200", '"none"'), "requests.jsonl": REQUEST},
    ),
    Case(
        site="tasks/infer/formats/openai_batch.py:read",
        command=VALIDATE,
        says="an answer to a request '1' that is not there",
        follow=name_requests,
        files={"replies.jsonl": RESULT, "requests.jsonl": REQUEST},
    ),
    Case(
        site="tasks/infer/recorded.py:_read_recording",
        command=f"{VALIDATE} --set model_args.requests=no.jsonl",
        says="no.jsonl: No such file",
        follow=change("an existing file: model_args.requests", "no.jsonl", "requests.jsonl"),
        files={"replies.jsonl": RESULT, "requests.jsonl": REQUEST},
    ),
    Case(
        site="tasks/infer/formats/lm_eval.py:_yield_sample_rows",
        command=VALIDATE,
        says="a sample of log-likelihoods",
        follow=write(
            "a task of output_type: generate_until",
            "replies.jsonl",
            line(**SAMPLE, arguments=[["It is.", {"until": ["."]}]], resps=[["Yes."]]),
        ),
        files={"replies.jsonl": line(**SAMPLE, arguments=LIKELIHOODS, resps=[[[-1.0, True]], [[-2.0, False]]])},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.site}: {case.says}"[-60:])
def test_remedy_leads_further(
    case: Case,
    in_tmp: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    follow_case(case, in_tmp, monkeypatch, capsys)


@follows("tasks/infer/recorded.py:remarks")
def test_replies_of_several_tests_need_one_test_or_a_column(in_tmp: Path) -> None:
    row = {"id": "one", "original": "Yes.", "perturbed": "Yes."}
    tests = ["add_toxic_words", "add_negation"]
    spec = ModelSpec(id=f"recorded/{write_rows('replies.jsonl', [row])}")
    with pytest.raises(ModelError, match="do not say to which of 2 tests they belong") as error:
        RecordedReplies().remarks(spec, tests)
    named = re.search(r"Name the test, such as --test (\w+), or add a column test", error.value.remedy)
    assert named
    assert RecordedReplies().remarks(spec, [named[1]])
    write_rows("replies.jsonl", [{**row, "test": test} for test in tests])
    assert RecordedReplies().remarks(spec, tests)


@follows("tasks/infer/recorded.py:answer")
def test_preview_lists_the_prompts_whose_replies_are_missing(in_tmp: Path) -> None:
    with redirect_stdout(StringIO()) as printed:
        assert main(["preview", "--json", "--model", "mock", "--test", "add_toxic_words", "--limit", "2"]) == 0
    listed = [json.loads(row) for row in printed.getvalue().splitlines()]
    prompts = [row[side] for row in listed for side in ("original_prompt", "perturbed_prompt")]
    rows = [{"prompt": prompt, "reply": "Yes."} for prompt in prompts]
    spec = ModelSpec(id=f"recorded/{write_rows('replies.jsonl', rows[:1])}")
    questions = [Question(kind="generate", prompt=prompt) for prompt in prompts]
    with pytest.raises(ModelError, match="3 of 4 prompts have no recorded reply") as error:
        RecordedReplies().open(spec).answer(questions, PlainBroker())
    assert "Add their replies to the file; `contrapose preview --json` lists the prompts." in str(error.value)
    write_rows("replies.jsonl", rows)
    broker = PlainBroker()
    RecordedReplies().open(spec).answer(questions, broker)
    assert len(broker.answers) == 4
