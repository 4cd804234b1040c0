"""What a reply of an endpoint is: told from its status, its finish reason and its body, and asked again or never."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fake_endpoint import Endpoint
from misbehaving import Misbehaving, http, misbehaving, sending
from openai_server import answered as asked
from openai_server import choose, generate, only, spec
from plain_broker import PlainBroker

from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.openai import OpenAI
from contrapose.tasks.infer.openai.failures import is_moderated
from contrapose.tasks.infer.openai.response_parsing import ErrorReplyError, read_reply

BLOCKED = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
AZURE = {
    "message": BLOCKED,
    "type": None,
    "param": "prompt",
    "code": "content_filter",
    "status": 400,
    "innererror": {
        "code": "ResponsibleAIPolicyViolation",
        "content_filter_result": {"hate": {"filtered": True, "severity": "high"}},
    },
}
MODERATED: dict[str, tuple[int, Any]] = {
    "azure": (400, {"error": AZURE}),
    "openai": (400, {"error": {"message": "Your request was rejected.", "code": "content_policy_violation"}}),
    "openai, reasoning": (
        400,
        {
            "error": {
                "message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
                "type": "invalid_request_error",
                "code": "invalid_prompt",
            }
        },
    ),
    "bedrock": (400, {"message": "The request was blocked by a Bedrock guardrail."}),
    "gemini": (400, {"error": {"code": 400, "message": "Blocked.", "status": "PROHIBITED_CONTENT"}}),
    "vllm behind a gateway": (
        400,
        {"object": "error", "message": "Input violates the guardrail policy.", "type": "BadRequestError", "code": 400},
    ),
    "litellm": (400, {"error": {"message": "x", "type": "ContentPolicyViolationError", "code": "400"}}),
    "anthropic": (400, {"type": "error", "error": {"message": "Output blocked by content filtering policy"}}),
    "dashscope": (400, {"error": {"code": "data_inspection_failed", "message": "Input data may be inappropriate."}}),
    "deepseek": (400, {"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}),
    "openrouter": (403, {"error": {"code": 403, "message": "Input flagged", "metadata": {"reasons": ["hate"]}}}),
    "fastapi": (422, {"detail": "The prompt violates the usage policies."}),
    "a text": (400, {"error": "Request blocked by content moderation"}),
    "a filter of the server's own": (500, {"error": {"code": "content_filter", "message": "Filtered."}}),
}
NOT_MODERATED: dict[str, tuple[int, Any]] = {
    "a parameter": (400, {"error": {"message": "Unsupported parameter: 'max_tokens'.", "param": "max_tokens"}}),
    "a parameter of moderation": (
        400,
        {"error": {"message": "Unknown parameter: 'moderation'.", "param": "moderation"}},
    ),
    "content that is none": (400, {"error": {"message": "content must be a string", "code": "invalid_type"}}),
    "too long": (400, {"error": {"message": "maximum context length", "code": "context_length_exceeded"}}),
    "a key": (401, {"error": {"message": "Your request was blocked by our usage policy", "code": "content_filter"}}),
    "an account": (403, {"error": {"message": "Your account was suspended: it violated our usage policies."}}),
    "a page": (403, "<html>Your request was blocked by a security policy</html>"),
    "a limit": (429, {"error": {"message": "Blocked by a usage policy: too many requests"}}),
    "an error of the server": (500, {"error": {"message": "The content filter is not reachable."}}),
    "nothing": (400, None),
}


pytestmark = pytest.mark.usefixtures("short_waits")


def body(message: object = None, **choice: Any) -> dict[str, Any]:
    """A reply with one choice; without a message one of the older API."""
    return {"choices": [{**({} if message is None else {"message": message}), **choice}], "usage": {}}


def content(value: object, **further: object) -> dict[str, object]:
    return {"role": "assistant", "content": value, **further}


CALL = [{"id": "c", "type": "function", "function": {"name": "answer", "arguments": '{"answer":"B"}'}}]
REPLIES: dict[str, tuple[dict[str, Any], str, str]] = {
    "text": (body(content("B"), finish_reason="stop"), "answered", "B"),
    "no finish reason": (body(content("B")), "answered", "B"),
    "nothing said": (body(content(None), finish_reason="stop"), "answered", ""),
    "older API": (body(text="B", finish_reason="stop"), "answered", "B"),
    "older API, cut": (body(text="", finish_reason="length"), "cut_off", ""),
    "older API, filtered": (body(text="", finish_reason="content_filter"), "moderated", ""),
    "cut": (body(content("Well, I"), finish_reason="length"), "cut_off", "Well, I"),
    "cut while it thinks": (
        body(content(None, reasoning_content="Let me see"), finish_reason="length"),
        "cut_off",
        "",
    ),
    "thoughts alone, and no finish reason": (body(content("", reasoning="Let me see")), "cut_off", ""),
    "thoughts apart": (body(content("B", reasoning_content="A? No."), finish_reason="stop"), "answered", "B"),
    "Mistral's limit": (body(content(""), finish_reason="model_length"), "cut_off", ""),
    "Gemini's limit": (body({"role": "assistant"}, finish_reason="MAX_TOKENS"), "cut_off", ""),
    "filtered": (body(content(""), finish_reason="content_filter"), "moderated", ""),
    "filtered half way": (body(content("B is"), finish_reason="content_filter"), "moderated", "B is"),
    "filtered by Gemini": (body({"role": "assistant"}, finish_reason="content_filter: SAFETY"), "moderated", ""),
    "filtered without a message": (body(finish_reason="content_filter"), "moderated", ""),
    "a null message": ({"choices": [{"message": None, "finish_reason": "stop"}]}, "moderated", ""),
    "an empty message": (body({}), "moderated", ""),
    "no choices": ({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 0}}, "moderated", ""),
    "null choices": ({"choices": None, "usage": {}}, "moderated", ""),
    "Gemini's own words": ({"promptFeedback": {"blockReason": "SAFETY"}}, "moderated", ""),
    "refused": (body(content(None, refusal="I must decline."), finish_reason="stop"), "refused", "I must decline."),
    "refused in a part": (body(content([{"type": "refusal", "refusal": "No."}])), "refused", "No."),
    "refused by its finish reason": (body(content(""), finish_reason="refusal"), "refused", ""),
    "no refusal": (body(content("B", refusal=None), finish_reason="stop"), "answered", "B"),
    "a tool": (body(content(None, tool_calls=CALL), finish_reason="tool_calls"), "tool_call", ""),
    "a tool, and stop": (body(content("", tool_calls=CALL), finish_reason="stop"), "tool_call", ""),
    "a function": (
        body(content(None, function_call={"name": "answer"}), finish_reason="function_call"),
        "tool_call",
        "",
    ),
    "a tool beside text": (body(content("B", tool_calls=CALL), finish_reason="tool_calls"), "answered", "B"),
    "no tools": (body(content("B", tool_calls=[]), finish_reason="stop"), "answered", "B"),
    "a tool in a part": (body(content([{"type": "tool_use", "name": "answer", "input": {}}])), "tool_call", ""),
    "parts": (
        body(
            content(
                [{"type": "thinking", "thinking": [{"type": "text", "text": "maybe A"}]}, {"type": "text", "text": "B"}]
            )
        ),
        "answered",
        "B",
    ),
    "parts of thoughts with text": (
        body(content([{"type": "reasoning", "text": "maybe A"}, {"type": "output_text", "text": "B"}])),
        "answered",
        "B",
    ),
    "several parts": (body(content(["Answer: ", {"type": "text", "text": "B"}])), "answered", "Answer: B"),
    "one part": (body(content({"type": "text", "text": "B"})), "answered", "B"),
    "no parts": (body(content([]), finish_reason="stop"), "answered", ""),
    "thoughts cut off": (
        body(content([{"type": "thinking", "thinking": "maybe A"}]), finish_reason="length"),
        "cut_off",
        "",
    ),
    "a picture": (body(content([{"type": "image_url", "image_url": {"url": "x"}}])), "malformed", ""),
    "a number": (body(content(7)), "malformed", ""),
    "an object": (body(content({"A": 1})), "malformed", ""),
}
ERRORS: dict[str, tuple[dict[str, Any], str]] = {
    "an error": ({"error": {"message": "Provider returned error", "code": 502}, "user_id": "u"}, "Provider returned"),
    "an error in a text": ({"error": "upstream died"}, "upstream died"),
    "an error beside choices": ({"error": {"message": "upstream died"}, "choices": []}, "upstream died"),
    "an error of vLLM": ({"object": "error", "message": "upstream died", "code": 500}, "upstream died"),
    "a choice with an error": (
        body(content(""), finish_reason="error", error={"code": 502, "message": "upstream died"}),
        "upstream died",
    ),
    "a choice that failed": (body(content("Half of"), finish_reason="error"), "finish_reason: error"),
    "an aborted choice": (body(content(""), finish_reason="abort"), "finish_reason: abort"),
}


@pytest.mark.parametrize("name", REPLIES)
def test_the_outcome_of_a_reply(name: str) -> None:
    reply, outcome, text = REPLIES[name]
    completion = read_reply(json.dumps(reply).encode(), generate("Which?"))
    assert (completion.outcome, completion.text) == (outcome, text)
    assert completion.is_unread == (outcome not in ("answered", "cut_off") or (outcome == "cut_off" and not text))


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_in_a_reply_is_no_answer(name: str) -> None:
    reply, words = ERRORS[name]
    with pytest.raises(ErrorReplyError, match=words):
        read_reply(json.dumps(reply).encode(), generate("Which?"))


@pytest.mark.parametrize("finish", ["content_filter", "tool_calls"])
def test_a_withheld_choice_needs_no_log_probabilities(finish: str) -> None:
    reply = json.dumps(body(content(None), finish_reason=finish)).encode()
    assert read_reply(reply, choose("Which?")).outcome in ("moderated", "tool_call")


def test_a_label_is_held_though_the_reply_reached_its_length() -> None:
    question = Question(kind="generate", prompt="Which?", labels=("A", "B"), form="structured_outputs")
    completion = read_reply(json.dumps(body(content("B"), finish_reason="length")).encode(), question)
    assert (completion.text, completion.constrained, completion.outcome) == ("B", True, "answered")


@pytest.mark.parametrize("name", MODERATED)
def test_a_filter_is_known_by_its_words(name: str) -> None:
    status, told = MODERATED[name]
    assert is_moderated(status, told)


@pytest.mark.parametrize("name", NOT_MODERATED)
def test_other_refusals_are_no_filter(name: str) -> None:
    status, told = NOT_MODERATED[name]
    assert not is_moderated(status, told)


@pytest.mark.parametrize("name", ["azure", "openrouter", "fastapi", "a filter of the server's own"])
def test_a_moderated_prompt_is_asked_once_and_is_no_error(name: str) -> None:
    status, told = MODERATED[name]
    script = sending(http(json.dumps(told).encode(), status=f"{status} Refused"))
    with misbehaving(Misbehaving(script=script)) as server:
        chosen = spec(server, args={"retries": 8})  # type: ignore[arg-type]
        broker = asked(chosen, *(generate(f"Prompt {number}") for number in range(40)))
    assert server.asked == 40
    assert broker.stopped is None
    outcomes = {(answer.completion.outcome, answer.completion.error) for answer in broker.answers.values()}
    assert outcomes == {("moderated", None)}
    assert broker.budget.spent.prompt_tokens == 0
    assert "moderated" in broker.warnings


@pytest.mark.parametrize("name", ["an error", "an error of vLLM", "a choice that failed"])
def test_an_error_with_status_200_is_asked_again(name: str) -> None:
    reply, words = ERRORS[name]
    script = sending(http(json.dumps(reply).encode()))
    with misbehaving(Misbehaving(script=script, proper_from=1)) as server:
        assert only(asked(spec(server, args={"retries": 1}), generate("Hello"))).completion.text == "A"  # type: ignore[arg-type]
    with misbehaving(Misbehaving(script=script)) as server:
        completion = only(asked(spec(server, args={"retries": 1}), generate("Hello"))).completion  # type: ignore[arg-type]
    assert (server.asked, completion.text, completion.outcome) == (2, None, "error")
    assert words in str(completion.error)


@pytest.mark.parametrize(
    ("code", "times", "stopped"), [(400, 1, False), (402, 1, True), ("401", 1, True), ("server_error", 3, False)]
)
def test_an_error_with_status_200_means_what_its_code_says(code: object, times: int, stopped: bool) -> None:
    script = sending(http(json.dumps({"error": {"message": "No credits left", "code": code}}).encode()))
    with misbehaving(Misbehaving(script=script)) as server:
        broker = asked(spec(server, args={"retries": 2}), generate("Hello"))  # type: ignore[arg-type]
    assert (server.asked, bool(broker.stopped)) == (times, stopped)
    assert "No credits left" in f"{only(broker).completion.error} {broker.stopped}"


def test_a_reply_that_cannot_be_read_is_malformed_and_shows_what_came() -> None:
    with misbehaving(Misbehaving(script=sending(http(b'{"detail": "model is loading"}')))) as server:
        completion = only(asked(spec(server), generate("Hello"))).completion  # type: ignore[arg-type]
    assert completion.outcome == "malformed"
    assert "model is loading" in str(completion.error)


def test_a_moderated_prompt_says_nothing_of_a_form(server: Endpoint) -> None:
    server.takes = ("json_schema",)
    server.faults, server.error = {0: "status 400"}, {"code": "content_filter"}
    questions = [
        Question(kind="generate", prompt=f"Prompt {number}", labels=("A", "B"), form="json_schema")
        for number in range(3)
    ]
    broker = PlainBroker()
    tried = OpenAI().open(spec(server)).try_out(questions, ("json_schema", "plain"), broker, changes={})
    assert tried == ("json_schema", {})
    assert max(server.asked.values()) == 1
    outcomes = [(question.form, answer.completion.outcome) for question, answer in broker.answers.items()]
    assert outcomes == [("plain", "moderated"), ("json_schema", "answered")]
