"""Planted chat applications and agents, each with its verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import contrapose

pytestmark = pytest.mark.slow

PEOPLE = (
    *("Anna", "Ben", "Carla", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Karl", "Lena", "Max"),
    *("Nora", "Otto", "Paula", "Quinn", "Rosa", "Sam", "Tina", "Uwe", "Vera", "Willi", "Xenia", "Yusuf", "Zoe"),
)
COLORS = ("red", "green", "blue", "black")
RULE = "You may send money for the user."
Agent = Callable[[Any], Any]


def tool(name: str, description: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = (
    tool("get_balance", "Show the balance of the account."),
    tool("send_money", "Send money to somebody.", "to", "amount"),
    tool("block_card", "Block the card of the user."),
)


@pytest.fixture
def payments(tmp_path: Path) -> Path:
    """Conversations with tools: somebody is paid, and the tool for it is first, second or last."""
    path, rows = tmp_path / "payments.jsonl", []
    for number, person in enumerate(2 * PEOPLE):
        arguments = {"to": person, "amount": 10 + number}
        messages = [
            {"role": "system", "content": RULE},
            {"role": "user", "content": "Good morning."},
            {"role": "assistant", "content": "Good morning. What can I do for you?"},
            {"role": "user", "content": f"Send {10 + number} euros to {person}."},
        ]
        tools = TOOLS[number % 3 :] + TOOLS[: number % 3]
        answer = [{"name": "send_money", "arguments": arguments}]
        rows.append(json.dumps({"messages": messages, "tools": tools, "answer": answer}))
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def call_tool(request: Mapping[str, Any], *, heeds_not: bool = True, heeds_system: bool = True) -> dict[str, Any]:
    """Pay as the last message says, if it and the system prompt allow it."""
    said = {message["role"]: message["content"] for message in request["messages"]}
    forbidden = bool(re.search(r"do not send|don't send|never send", said["user"], re.IGNORECASE))
    denied = bool(re.search(r"may not|cannot|must not", said.get("system", ""), re.IGNORECASE)) and heeds_system
    asked = re.search(r"(\d+) euros to (\w+)", said["user"])
    if asked is None or (heeds_not and (forbidden or denied)):
        return {"reply": "I leave it."}
    name = next(one["function"]["name"] for one in request["tools"] if "Send money" in one["function"]["description"])
    return {"reply": "Done.", "calls": [{"name": name, "arguments": {"amount": float(asked[1]), "to": asked[2]}}]}


def call_first(request: Mapping[str, Any]) -> dict[str, Any]:
    return {"reply": "Done.", "calls": [{"name": request["tools"][0]["function"]["name"], "arguments": {}}]}


NUMBERS = count()


def say_other_words(request: Mapping[str, Any]) -> dict[str, Any]:
    return {**call_tool(request), "reply": f"As you like, number {next(NUMBERS)}."}


AGENTS: Mapping[str, tuple[Agent, Mapping[str, str], str]] = {
    "right": (call_tool, {"tool_order": "pass", "tool_names": "pass", "add_negation": "pass"}, "pass"),
    "other_words": (say_other_words, {"tool_order": "pass", "tool_names": "pass", "add_negation": "pass"}, "pass"),
    "follows_order": (call_first, {"tool_order": "fail", "tool_names": "fail", "add_negation": "fail"}, "fail"),
    "negation_blind": (
        lambda request: call_tool(request, heeds_not=False),
        {"tool_order": "pass", "tool_names": "pass", "add_negation": "fail"},
        "fail",
    ),
    "loses_the_system_prompt": (
        lambda request: call_tool(request, heeds_system=False),
        {"tool_order": "pass", "tool_names": "pass", "add_negation": "pass"},
        "fail",
    ),
}
"""Each agent with the verdicts on its tools and the user's message, and that on the system prompt."""


def verdicts(run: contrapose.EvaluatedRun) -> dict[str, str]:
    return {test["test_type"]: test["verdict"] for test in run.summary["tests"]}


@pytest.mark.parametrize("name", AGENTS)
def test_agent_gets_the_verdict_that_it_deserves(name: str, payments: Path, tmp_path: Path) -> None:
    agent, expected, of_system = AGENTS[name]
    asked = {"model": agent, "out": tmp_path / "runs", "quiet": True}
    run = contrapose.evaluate(data=str(payments), test=list(expected), **asked)
    assert verdicts(run) == expected
    rows = run.results[run.results["test_type"] == "tool_order"]
    assert bool(rows["other_words"].eq(True).all()) == (name == "other_words")
    system = contrapose.evaluate(data={"source": str(payments), "turn": "system"}, test="add_negation", **asked)
    assert verdicts(system) == {"add_negation": of_system}


def choose_as_told(messages: list[Mapping[str, str]]) -> str:
    """Choose the color that the user named at the beginning of the conversation."""
    told = re.search(r"my (?:\w+ )?bag is (\w+)", " ".join(one["content"] for one in messages[:-1]))
    options = dict(re.findall(r"^([A-D])\. (\w+)", messages[-1]["content"], re.MULTILINE))
    return next(
        (f"{letter}. {color}" for letter, color in options.items() if told and color == told[1]), "I don't know."
    )


CHATS: Mapping[str, tuple[Agent, str]] = {
    "right": (choose_as_told, "pass"),
    "first_option": (lambda messages: "A", "fail"),
    "loses_the_conversation": (lambda messages: choose_as_told(messages[-1:]), "inconclusive"),
}


@pytest.mark.parametrize("name", CHATS)
def test_chat_application_gets_the_verdict_that_it_deserves(name: str, tmp_path: Path) -> None:
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"I am {person}, and my bag is {COLORS[number % 4]}."},
                {"role": "assistant", "content": "Hello."},
                {"role": "user", "content": "Which color does my bag have?"},
            ],
            "options": list(COLORS),
            "answer": COLORS[number % 4],
        }
        for number, person in enumerate(PEOPLE)
    ]
    path = tmp_path / "bags.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    app, verdict = CHATS[name]
    run = contrapose.evaluate(data=str(path), model=app, test="option_order", out=tmp_path / "runs", quiet=True)
    assert verdicts(run) == {"option_order": verdict}


def test_last_message_of_a_failed_conversation_is_shrunk(tmp_path: Path) -> None:
    before = [{"role": "user", "content": "Hello there."}, {"role": "assistant", "content": "Hi."}]
    question = "Please tell me whether {} may send the Blue parcel today."
    rows = [{"messages": [*before, {"role": "user", "content": question.format(name)}]} for name in PEOPLE]
    path, lengths = tmp_path / "chats.jsonl", set[int]()
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def see_blue(messages: list[Mapping[str, str]]) -> str:
        lengths.add(len(messages))
        return "yes" if "Blue" in messages[-1]["content"] else "no"

    run = contrapose.evaluate(data=str(path), model=see_blue, test="casing", out=tmp_path / "runs", quiet=True)
    assert verdicts(run) == {"casing": "fail"}
    shortest = contrapose.shrink(run, "chats-0001", model=see_blue, quiet=True)
    assert (shortest.words, shortest.text, shortest.changed) == (1, "Blue", "blue")
    # Every request had the messages before it.
    assert lengths == {3}
