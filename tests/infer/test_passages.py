"""What an application retrieved: where it stands, how much of it is kept, and that its absence harms no reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from app_server import AppServer
from fake_endpoint import serving_this
from plain_broker import ask_prompts

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.app import App
from contrapose.tasks.infer.app.responses import collect_passages, parse_path
from contrapose.tasks.infer.app.transports import make_call_outcome
from contrapose.tasks.infer.app.worker import LONGEST_PASSAGE, MOST_PASSAGES, bound_passages, make_reply_message
from contrapose.tasks.infer.asking.outcomes import Reply
from contrapose.tasks.infer.base import ReturnsPassages

FOUND = {"documents": [{"text": "First.", "id": 7}, {"text": "Second.", "id": 8}], "plain": ["First.", "Second."]}


class Retrieving(AppServer):
    """It returns beside its reply what a test says."""

    retrieved: Any = None

    async def ask(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.json())
        return web.json_response({"reply": "Yes.", **self.retrieved})


def asked(model: str, **args: Any) -> tuple[Completion, Mapping[str, str]]:
    """The reply to one prompt, and what people are told."""
    broker = ask_prompts(ModelSpec(id=f"app/{model}", args=args), "?")
    return broker.replies("?")[0].completion, broker.warnings


def answered(retrieved: Mapping[str, Any], context: str) -> tuple[Completion, Mapping[str, str]]:
    """The reply of an address that returns something beside it."""
    server = Retrieving()
    server.retrieved = retrieved
    with serving_this(server):
        return asked(server.url, context=context)


@pytest.mark.parametrize(
    ("value", "path", "texts"),
    [
        (FOUND, "plain", ("First.", "Second.")),
        (FOUND, "documents.*.text", ("First.", "Second.")),
        (FOUND, "documents.*.id", ("7", "8")),
        (FOUND, "plain.*", ("First.", "Second.")),
        ({"a": [FOUND, FOUND]}, "a.1.documents.*.id", ("7", "8")),
        ({"a": [FOUND, {"documents": []}, FOUND]}, "a.*.documents.*.id", ("7", "8", "7", "8")),
        ({"a": []}, "a", ()),
        ({"a": []}, "a.*.text", ()),
        ({"the text": ["One."]}, "the text", ("One.",)),
    ],
)
def test_passages_stand_where_the_path_says(value: Any, path: str, texts: tuple[str, ...]) -> None:
    assert collect_passages(value, parse_path(path)).kept == texts


@pytest.mark.parametrize(
    ("value", "path", "why"),
    [
        ({}, "a", "nothing at a"),
        ({"a": "text"}, "a", "str where a list"),
        ({"a": None}, "a", "NoneType where a list"),
        ({"a": {"b": []}}, "a.*.text", "dict at a"),
        ({"a": [{"text": "x"}]}, "a", "dict where the text of a passage"),
        ({"a": [{"text": None}]}, "a.*.text", "NoneType where the text of a passage"),
        ({"a": [True]}, "a", "bool where the text of a passage"),
        ({"a": [{"text": "x"}, {}]}, "a.*.text", "nothing at a"),
        ({"a": ["x"]}, "a.1", "nothing at a.1"),
    ],
)
def test_what_is_not_there_is_told(value: Any, path: str, why: str) -> None:
    retrieved = collect_passages(value, parse_path(path))
    assert retrieved.kept is None
    assert why in retrieved.remarks["passages"]


def test_an_address_returns_passages_beside_its_reply() -> None:
    completion, warnings = answered(FOUND, "documents.*.text")
    assert (completion.text, completion.passages) == ("Yes.", ("First.", "Second."))
    assert warnings == {}


def test_a_reply_without_passages_is_an_answer_and_told_once() -> None:
    completion, warnings = answered({}, "documents.*.text")
    assert (completion.text, completion.passages, completion.error) == ("Yes.", None, None)
    assert warnings == {"passages": "Of some replies the passages are not known: nothing at documents.*.text."}


def test_nobody_looks_for_passages_that_are_not_asked_for() -> None:
    server = Retrieving()
    server.retrieved = FOUND
    with serving_this(server):
        completion, warnings = asked(server.url)
    assert completion.passages is None
    assert warnings == {}


def test_of_ten_thousand_passages_the_first_are_kept() -> None:
    completion, warnings = answered({"a": [f"Passage {number}." for number in range(10_000)]}, "a")
    assert completion.passages == tuple(f"Passage {number}." for number in range(MOST_PASSAGES))
    assert "10,000" in warnings["many passages"]


def test_passages_are_cleaned_as_replies_are() -> None:
    completion, _ = answered({"a": ["nul \0 and \ud800", "line\nbreak"]}, "a")
    assert completion.passages == ("nul  and \ufffd", "line\nbreak")


def test_a_reply_with_half_a_surrogate_pair_can_be_stored() -> None:
    completion, _ = answered({"reply": "\ud800."}, "a")
    assert completion.text == "?."


def test_long_passages_that_end_otherwise_stay_apart() -> None:
    first, second = bound_passages(["x" * 10_000 + "1", "x" * 10_000 + "2"])
    assert first != second
    assert len(first) == LONGEST_PASSAGE
    assert bound_passages([first]) == [first]
    assert bound_passages(["x" * LONGEST_PASSAGE]) == ["x" * LONGEST_PASSAGE]


@pytest.fixture(autouse=True)
def _every_application_may_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_APPS", "*")


def returned(value: object) -> tuple[Completion, Mapping[str, str]]:
    """The reply of a callable that returns this, and what people are told."""
    reply = make_call_outcome(make_reply_message(value), seconds=0)
    assert isinstance(reply, Reply)
    return reply.completion, reply.remarks


@pytest.mark.parametrize(
    ("value", "passages", "told"),
    [
        ("Yes.", None, ""),
        ({"reply": "Yes.", "context": ["First.", "Second."]}, ("First.", "Second."), ""),
        ({"reply": "Yes.", "context": (7, 8)}, ("7", "8"), ""),
        ({"reply": "Yes.", "context": []}, (), ""),
        ({"reply": "Yes."}, None, ""),
        ({"reply": "Yes.", "context": "First."}, None, "str where a list of texts should be"),
        ({"reply": "Yes.", "context": [{"text": "First."}]}, None, "dict where the text of a passage should be"),
        ({"reply": "Yes.", "context": ["\ud800\0."]}, ("\ufffd.",), ""),
    ],
)
def test_a_callable_returns_a_text_or_a_mapping(value: object, passages: Sequence[str] | None, told: str) -> None:
    completion, warnings = returned(value)
    assert (completion.text, completion.passages, completion.error) == ("Yes.", passages, None)
    assert told in " ".join(warnings.values())
    assert bool(warnings) == bool(told)


@pytest.mark.parametrize(
    ("value", "told"),
    [({"context": ["First."]}, "returned dict"), ({"reply": 5, "context": ["First."]}, "int as reply")],
)
def test_a_mapping_without_a_reply_is_an_error(value: object, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        returned(value)


def test_a_callable_may_return_more_than_any_message_holds(in_tmp: Path) -> None:
    many = 'def many(prompt):\n    return {"reply": "Yes.", "context": ["x" * 20_000] * 10_000}\n'
    (in_tmp / "retrieving_bot.py").write_text(many)
    completion, warnings = asked("retrieving_bot:many")
    assert len(completion.passages) == MOST_PASSAGES
    assert "10,000" in warnings["many passages"]


HERE = "http://127.0.0.1:9/ask"
WRONG: Mapping[str, tuple[str, Any]] = {
    "no text": (HERE, ["documents"]),
    "nothing": (HERE, ""),
    "a number": (HERE, 0),
    "a step of nothing": (HERE, "documents..text"),
    "a point at the end": (HERE, "documents."),
    "another notation": (HERE, "$.documents[*].text"),
    "brackets": (HERE, "documents[0].text"),
    "a star in a name": (HERE, "doc*.text"),
    "blanks around a name": (HERE, "documents. text"),
    "a long path": (HERE, "a." * 200 + "a"),
    "many steps": (HERE, ".".join("a" * 30)),
    "the place of the reply": (HERE, "answer.text"),
    "a callable": ("retrieving_bot:both", "documents"),
    "a command": ("cmd:cat", "documents"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_place_is_told_in_one_line_before_anything_is_asked(name: str) -> None:
    model, context = WRONG[name]
    args = {"context": context, **({"reply": "answer.text"} if model == HERE else {})}
    with pytest.raises(ContraposeError) as caught:
        App().identity(ModelSpec(id=f"app/{model}", args=args))
    message = str(caught.value)
    assert "context" in message
    assert "\n" not in message
    assert len(message) < 700


def test_answers_with_passages_are_others_than_those_without() -> None:
    plain, first, second = (
        json.dumps(App().identity(ModelSpec(id=f"app/{HERE}", args=args)))
        for args in ({}, {"context": "a"}, {"context": "b"})
    )
    assert len({plain, first, second}) == 3
    assert "context" not in plain


def test_a_provider_says_whether_passages_are_asked_for() -> None:
    provider = App()
    assert isinstance(provider, ReturnsPassages)
    assert provider.returns_passages(ModelSpec(id=f"app/{HERE}", args={"context": "a"}))
    assert not provider.returns_passages(ModelSpec(id=f"app/{HERE}"))
