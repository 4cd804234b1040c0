"""Calls of tools: every layout is read, and calls are compared as order-free JSON."""

from __future__ import annotations

import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contrapose.tasks.core.tool_calls import (
    ToolCall,
    are_same_calls,
    calls_to_json,
    describe_call_difference,
    format_reply,
    is_same_call,
    join_reply,
    read_calls,
)

ARGUMENTS = {"id": 3, "city": "Köln"}
TEXT = json.dumps(ARGUMENTS)
CALL = [ToolCall("find", ARGUMENTS)]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
CALLS = st.lists(
    st.builds(ToolCall, st.sampled_from("ab"), st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2)), max_size=5
)


@pytest.mark.parametrize(
    "reply",
    [
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": TEXT}}],
        },
        {
            "choices": [
                {"message": {"content": None, "tool_calls": [{"function": {"name": "find", "arguments": TEXT}}]}}
            ]
        },
        {"role": "assistant", "content": "", "function_call": {"name": "find", "arguments": TEXT}},
        {
            "output": [
                {"type": "reasoning"},
                {"type": "function_call", "call_id": "1", "name": "find", "arguments": TEXT},
            ]
        },
        {"content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "find", "input": ARGUMENTS}]},
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"functionCall": {"name": "find", "args": ARGUMENTS}}]}}
            ]
        },
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "function": "find", "arguments": ARGUMENTS, "type": "function"}],
        },
        [{"name": "find", "arguments": ARGUMENTS}],
        json.dumps([{"name": "find", "arguments": TEXT}]),
    ],
    ids=["chat", "completion", "function_call", "responses", "anthropic", "gemini", "inspect", "own", "text"],
)
def test_every_layout_has_the_same_call(reply: object) -> None:
    assert read_calls(reply) == CALL


def test_only_calls_of_the_model_count() -> None:
    user = {"role": "user", "tool_calls": [{"name": "reboot", "arguments": {}, "requestor": "user"}]}
    tool = {"role": "tool", "name": "find", "content": TEXT}
    system = {"role": "system", "content": [{"name": "find", "input": {}}]}
    assert read_calls([system, user, {"role": "assistant", "tool_calls": CALL_OF_CHAT}, tool]) == CALL


CALL_OF_CHAT = [{"type": "function", "function": {"name": "find", "arguments": TEXT}}]


@pytest.mark.parametrize("reply", [None, 3, "no JSON", "[1, 2]", [], {}, {"role": "assistant", "content": TEXT}])
def test_a_reply_without_calls_has_none(reply: object) -> None:
    assert read_calls(reply) == []


@pytest.mark.parametrize(
    "text", ["{city: Köln}", "3", '"3"', '{"x": NaN}', "[1]", "[" * 100_000, '{"x":' * 60 + "1" + "}" * 60]
)
def test_arguments_that_are_no_object_stay_as_text(text: str) -> None:
    (call,) = read_calls([{"name": "find", "arguments": text}])
    assert call.arguments == text
    assert read_calls(calls_to_json([call])) == [call]


@pytest.mark.parametrize("nothing", [None, "", " ", {}, "{}"])
def test_missing_arguments_are_an_empty_object(nothing: object) -> None:
    assert read_calls({"function_call": {"name": "now", "arguments": nothing}}) == [ToolCall("now", {})]


def test_gemini_leaves_empty_arguments_out() -> None:
    assert read_calls({"parts": [{"functionCall": {"name": "now"}}]}) == [ToolCall("now", {})]


def test_deep_objects_become_text() -> None:
    deep: object = 1
    for _ in range(60):
        deep = [deep]
    (call,) = read_calls([{"name": "find", "arguments": {"x": deep}}])
    assert call.arguments == json.dumps({"x": deep}).replace(" ", "")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": 1, "b": [1, 2]}, {"b": [1.0, 2], "a": 1}),
        ({"a": 0.1 + 0.2}, {"a": 0.3}),
        ({"a": -0.0}, {"a": 0}),
        ({"a": None}, {}),
        ({"a": {"b": None}}, {"a": {}}),
        ({"a": " Cafe\u0301 "}, {"a": "Café"}),
        ({"a": 10**400}, {"a": 10**400}),
        (" text ", "text"),
    ],
)
def test_same_arguments(first: object, second: object) -> None:
    assert is_same_call(ToolCall("f", first), ToolCall("f", second))
    assert are_same_calls([ToolCall("f", first)], [ToolCall("f", second)], ordered=False)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": "3"}, {"a": 3}),
        ({"a": True}, {"a": 1}),
        ({"a": 0.3}, {"a": 0.3001}),
        ({"id": 12_345_678_901}, {"id": 12_345_678_902}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [1]}, {"a": [1, 1]}),
        ({"a": []}, {"a": {}}),
        ({"a": ""}, {}),
        ({"a": 10**400}, {"a": 0.5}),
    ],
)
def test_other_arguments(first: object, second: object) -> None:
    assert not is_same_call(ToolCall("f", first), ToolCall("f", second))
    assert not are_same_calls([ToolCall("f", first)], [ToolCall("f", second)], ordered=False)


@settings(max_examples=50)
@given(CALLS, st.randoms(use_true_random=False))
def test_comparison_is_reflexive_and_order_free(calls: list[ToolCall], rng: random.Random) -> None:
    turned = [ToolCall(call.name, dict(reversed(call.arguments.items()))) for call in calls]
    assert are_same_calls(calls, turned, ordered=True)
    assert describe_call_difference(calls, turned) == ""
    rng.shuffle(turned)
    assert are_same_calls(calls, turned, ordered=False)
    assert describe_call_difference(calls, turned, ordered=False) == ""


@settings(max_examples=50)
@given(CALLS, CALLS, st.booleans())
def test_comparison_is_symmetric(first: list[ToolCall], second: list[ToolCall], ordered: bool) -> None:
    same = are_same_calls(first, second, ordered=ordered)
    assert same == are_same_calls(second, first, ordered=ordered)
    assert bool(describe_call_difference(first, second, ordered=ordered)) != same
    if are_same_calls(first, second, ordered=True):
        assert are_same_calls(first, second, ordered=False)


@settings(max_examples=50)
@given(CALLS)
def test_json_is_canonical_and_read_again(calls: list[ToolCall]) -> None:
    text = calls_to_json(calls)
    assert are_same_calls(read_calls(text), calls, ordered=True)
    assert calls_to_json(read_calls(text)) == text
    text.encode()


def test_json_normalises_numbers_and_keys() -> None:
    call = ToolCall("f", {"b": 1.0, "a": -0.0, "c": math.nan, 3: (1,)})
    assert calls_to_json([call]) == '[{"arguments":{"3":[1],"a":0,"b":1,"c":"nan"},"name":"f"}]'


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ([("f", {"x": 2})], [("f", {"x": 3})], "Call 1: f, argument x is 3 instead of 2."),
        ([("f", {})], [("g", {})], "Call 1: g instead of f."),
        ([("f", {})], [("f", {}), ("g", {})], "One call more: g."),
        ([("f", {}), ("g", {}), ("h", {})], [("f", {})], "2 calls fewer: g, h."),
        ([("f", {})], [], "It calls no tool instead of f."),
        ([], [("f", {}), ("g", {})], "It calls f, g instead of no tool."),
        (
            [("f", {}), ("g", {"x": [{"y": "a"}]})],
            [("f", {}), ("g", {"x": [{}]})],
            "Call 2: g, argument x[0].y is missing.",
        ),
        ([("f", {})], [("f", {"x": "a"})], 'Call 1: f, argument x is "a".'),
        ([("f", {"x": 1})], [("f", "x=1")], 'Call 1: f, arguments are "x=1" instead of {"x":1}.'),
    ],
)
def test_the_first_difference_is_one_sentence(
    first: list[tuple[str, object]], second: list[tuple[str, object]], sentence: str
) -> None:
    assert (
        describe_call_difference([ToolCall(*call) for call in first], [ToolCall(*call) for call in second]) == sentence
    )


def test_parallel_calls_differ_in_those_without_partner() -> None:
    first = [ToolCall("f", {"x": 1}), ToolCall("g", {})]
    second = [ToolCall("g", {}), ToolCall("f", {"x": 2})]
    assert describe_call_difference(first, second, ordered=False) == "A call: f, argument x is 2 instead of 1."


def test_people_read_calls_like_those_of_a_function() -> None:
    reply = join_reply("Done.", [ToolCall("pay", {"to": "Ann", "amount": 5.0}), ToolCall("log", "no JSON")])
    assert format_reply(reply) == 'pay(amount=5, to="Ann")\nlog(no JSON)\nDone.'
    assert format_reply("A plain reply.") == "A plain reply."
