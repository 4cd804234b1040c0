"""Keys of answers: another one for all that could change the answer, the same for all that could not."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.config.model_spec import Generation, ModelSpec
from contrapose.tasks.core.questions import Form, Question, to_json
from contrapose.tasks.infer.keys import Keys

SPEC = ModelSpec(id="openai/small", args={"base_url": "http://one/v1"})
IDENTITY = {"revision": "1", "dtype": "bfloat16", "device": "cpu"}
REPLY = Question(kind="generate", prompt="Is it?")


def key(question: Question = REPLY, *, spec: ModelSpec = SPEC, **identity: str) -> str:
    return Keys(spec, {**IDENTITY, **identity}).make_key(question)


@pytest.mark.parametrize(
    "other",
    [
        Question(kind="generate", prompt="Is it"),
        Question(kind="choose", prompt="Is it?", labels=("A", "B")),
        Question(kind="choose", prompt="Is it?", labels=("A", "B", "C")),
        Question(kind="loss", prompt="Is it?", text="Yes"),
        Question(kind="loss", prompt="", text="Is it?"),
        Question(kind="generate", prompt="Is it?", repeat=1),
    ],
)
def test_another_question_has_another_key(other: Question) -> None:
    assert key(other) != key()


ANY_TEXT = st.text(st.characters(), max_size=20)
"""Lone surrogates and control characters, too."""


@given(
    st.builds(
        Question,
        kind=st.sampled_from(["generate", "choose", "loss"]),
        prompt=ANY_TEXT,
        labels=st.lists(ANY_TEXT, max_size=3).map(tuple),
        text=ANY_TEXT,
        repeat=st.integers(0, 3),
        form=st.sampled_from(get_args(Form)),
    )
)
def test_a_question_is_written_as_keys_of_all_versions_have_it(question: Question) -> None:
    further = {"labels": question.labels, "text": question.text, "repeat": question.repeat}
    further |= {"form": "" if question.form == "plain" else question.form}
    content = {"kind": question.kind, "prompt": question.prompt}
    assert to_json(question) == json.dumps(content | {name: value for name, value in further.items() if value})


@pytest.mark.parametrize(
    ("identity", "changes"),
    [
        *(({name: value}, {}) for name, value in (("revision", "2"), ("dtype", "float32"), ("chat_template", "abc"))),
        ({}, {"id": "hf/small"}),
        ({}, {"system_instruction": "Be brief."}),
        ({}, {"apply_chat_template": False}),
        ({}, {"generation": Generation(max_new_tokens=33)}),
        ({}, {"generation": Generation(temperature=1)}),
        ({}, {"generation": Generation(stop=("\n",))}),
    ],
)
def test_another_model_or_setting_has_another_key(identity: dict[str, str], changes: dict[str, object]) -> None:
    assert key(spec=SPEC.model_copy(update=changes), **identity) != key()


@pytest.mark.parametrize("args", [{"timeout": 5}, {"concurrency": 64}, {"retries": 0}])
def test_how_an_endpoint_is_reached_is_no_part_of_the_key(args: dict[str, object]) -> None:
    assert key(spec=SPEC.model_copy(update={"args": {**SPEC.args, **args}})) == key()


def test_the_length_of_a_reply_is_no_part_of_the_key_of_a_choice() -> None:
    choice = Question(kind="choose", prompt="Is it?", labels=("A", "B"))
    longer = SPEC.model_copy(update={"generation": Generation(max_new_tokens=99)})
    assert key(choice, spec=longer) == key(choice)


def test_any_text_has_a_key() -> None:
    assert len(key(Question(kind="generate", prompt="\x00 \ud800 \U0001f600"))) == 64
