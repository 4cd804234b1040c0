"""Which forms an endpoint can be asked in: what a configuration may name."""

from __future__ import annotations

import pytest

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.infer.openai import OpenAI


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"constrained": "yes"}, "auto or off or json_schema"),
        ({"constrained": True}, "auto or off"),
        ({"constrained": "json_schema", "endpoint": "completions"}, "structured_outputs, guided_choice"),
        ({"constrained": "guided_choice", "base_url": "https://api.openai.com/v1"}, "json_schema"),
    ],
)
def test_a_form_that_cannot_be_is_refused(args: dict[str, object], expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        OpenAI().forms(ModelSpec(id="openai/any", args={"base_url": "http://localhost:1/v1", **args}))


@pytest.mark.parametrize(
    ("args", "forms"),
    [
        ({}, ("json_schema", "plain")),
        ({"endpoint": "completions"}, ("plain",)),
        ({"constrained": False}, ("plain",)),
    ],
)
def test_openai_itself_has_schemas_for_chat_alone(args: dict[str, object], forms: tuple[str, ...]) -> None:
    assert OpenAI().forms(ModelSpec(id="openai/any", args=args)) == forms
