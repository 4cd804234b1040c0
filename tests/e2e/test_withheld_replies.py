"""Whole runs at endpoints that withhold, refuse, call tools or fail: each has its verdict or tells the cause."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from aiohttp import web
from fake_endpoint import Endpoint, serving_this
from newest_run import asking, results_of, summary_of

from contrapose.flows.cli import main
from contrapose.tasks.infer.asking import outcomes as retrying

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server", "own_store")]

Reply = tuple[int, dict[str, Any]]
BLOCKED = {"message": "The prompt was blocked by the content policy.", "param": "prompt", "code": "content_filter"}
FILTERED: Reply = (400, {"error": BLOCKED})
NO_CHOICES: Reply = (200, {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 0}})
CALL = {"id": "c", "type": "function", "function": {"name": "answer", "arguments": '{"answer":"B"}'}}


def choice(content: object, finish: str, **message: object) -> Reply:
    said = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return 200, {"choices": [said], "usage": {"prompt_tokens": 20, "completion_tokens": 2}}


@dataclass
class Planted(Endpoint):
    """An endpoint that answers some prompts in a way of its own."""

    plant: Callable[[str], Reply | None] = lambda prompt: None
    """What comes in place of its reply to a prompt; None: its reply."""

    def answer(self, body: dict[str, object], prompt: str, kind: str) -> web.Response:
        planted = self.plant(prompt)
        if planted is None:
            return super().answer(body, prompt, kind)
        return web.json_response(planted[1], status=planted[0])


def content_alone(prompt: str) -> str:
    """The letter of the option that comes first in the alphabet: the content decides, not the order."""
    options = re.findall(r"^([A-Z])\. (.+)$", prompt, re.MULTILINE)
    return min(options, key=lambda option: option[1])[0] if options else "It is a fine day."


def every_tenth(prompt: str) -> bool:
    return hashlib.sha256(prompt.encode()).digest()[0] % 10 == 0


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(retrying, "LONGEST_WAIT", 0.02)
    monkeypatch.setattr("contrapose.tasks.infer.asking.endpoint.STREAK_SECONDS", 0.2)


@dataclass(frozen=True)
class Ran:
    """What a run leaves."""

    summary: dict[str, Any]
    results: pd.DataFrame

    @property
    def test(self) -> dict[str, Any]:
        """Its only test."""
        (test,) = self.summary["tests"]
        return dict(test)

    @property
    def told(self) -> str:
        """All that people are told of the test and of the run."""
        return json.dumps([self.test["reason"], self.test["unscored_reasons"], self.summary["warnings"]])


def run(endpoint: Endpoint, folder: Path, test: str, *more: str) -> Ran:
    """A run of one test. It takes some ten seconds on a quiet machine."""
    start, out = time.monotonic(), folder / "runs"
    command = ["run", "--test", test, "--limit", "30", "--exit-zero", "--out", str(out)]
    # A model that follows the content alone is steady, and seldom right.
    settings = ["tests.factuality.option_order.min_right_rate=0"] if test == "option_order" else []
    assert main([*command, *asking(endpoint.port, *settings), *more]) == 0
    assert time.monotonic() - start < 180
    return Ran(summary_of(out), results_of(out))


def held(prompt: str) -> Reply:
    """The same letter, as JSON by a schema."""
    return choice(json.dumps({"answer": content_alone(prompt)}), "stop")


@pytest.mark.parametrize(
    ("reply", "otherwise"),
    [(FILTERED, None), (NO_CHOICES, None), (FILTERED, held)],
    ids=["status 400", "no choices", "letters by a schema"],
)
def test_some_moderated_prompts_leave_a_verdict_and_are_asked_once(
    reply: Reply, otherwise: Callable[[str], Reply] | None, tmp_path: Path
) -> None:
    answered = otherwise or (lambda prompt: None)
    with serving_this(Planted(says=content_alone)) as server:
        server.plant = lambda prompt: reply if every_tenth(prompt) else answered(prompt)
        ran = run(server, tmp_path, "option_order")
        asked = dict(server.asked)
        moderated = {prompt for prompt in asked if every_tenth(prompt)}
        again = run(server, tmp_path, "option_order")
        assert dict(server.asked) == asked
        server.plant = answered
        changed = run(server, tmp_path, "option_order", "--ask-again", "moderated")
        twice = {prompt for prompt, times in server.asked.items() if times > 1}
        run(server, tmp_path, "option_order", "--ask-again", "moderated")
    assert ran.summary["usage"]["calls"] == len(asked)
    assert 0 < len(moderated) < len(asked)
    assert set(asked.values()) == {1}
    assert twice == moderated
    assert max(server.asked.values()) == 2
    test = ran.test
    assert test["verdict"] in ("pass", "inconclusive")
    asked_cases = test["cases"] - test["skipped"]
    assert (test["errors"], test["unscored"]) == (0, asked_cases - test["scored"])
    assert test["unscored"] > 0
    assert test["extremes"] == pytest.approx([test["passed"] / asked_cases, 1.0])
    assert "moderated" in test["unread_replies"]
    assert "--ask-again moderated" in ran.told
    assert "max_new_tokens" not in ran.told
    assert (again.test["reason"], again.test["unread_replies"]) == (test["reason"], test["unread_replies"])
    assert (changed.test["unscored"], changed.test["verdict"]) == (0, "pass")
    outcomes = ran.results[["expected_outcome", "actual_outcome"]]
    assert set(outcomes.to_numpy().ravel()) == {"answered", "moderated"}
    assert ran.results.loc[outcomes.eq("moderated").any(axis=1), "pass"].isna().all()


CAUSES = {
    "a filter": (FILTERED, "moderated", "A content filter of the endpoint withheld"),
    "no choices": (NO_CHOICES, "moderated", "A content filter of the endpoint withheld"),
    "a finish reason": (choice("", "content_filter"), "moderated", "A content filter of the endpoint withheld"),
    "refusals": (choice(None, "stop", refusal="I must decline."), "refused", "marked the reply as a refusal"),
    "tool calls": (choice(None, "tool_calls", tool_calls=[CALL]), "tool_call", "called a tool"),
    "pictures": (choice([{"type": "image_url", "image_url": {"url": "x"}}], "stop"), "malformed", "is no text"),
    "cut off": (choice(None, "length", reasoning_content="Let me see"), "cut_off", "cut off before its first word"),
}


OTHERS = (("a filter", "add_toxic_words"), ("refusals", "add_toxic_words"), ("a filter", "add_negation"))


@pytest.mark.parametrize(("cause", "test"), [*((cause, "option_order") for cause in CAUSES), *OTHERS])
def test_where_nothing_is_answered_the_cause_is_told_and_no_figure(cause: str, test: str, tmp_path: Path) -> None:
    reply, outcome, words = CAUSES[cause]
    with serving_this(Planted(plant=lambda prompt: reply)) as server:
        ran = run(server, tmp_path, test)
        asked = len(server.bodies)
        run(server, tmp_path, test)
        assert len(server.bodies) == asked
    assert max(server.asked.values()) == 1
    if outcome == "refused" and test == "add_toxic_words":
        # A refusal is a reply without a bad word; that alone passes nothing.
        assert ran.test["verdict"] == "inconclusive"
        return
    assert (ran.test["verdict"], ran.test["scored"], ran.test["errors"]) == ("inconclusive", 0, 0)
    assert set(ran.test["unread_replies"]) == {outcome}
    assert words in ran.test["reason"]
    assert outcome in ran.told
    assert ("max_new_tokens" in ran.told) == (outcome == "cut_off")
    shares = {name: value for name, value in ran.test["figures"].items() if not name.startswith("share_moderated")}
    counts = ("samples", "empty_replies", "refused_replies")
    assert {name: value for name, value in shares.items() if value is not None and name not in counts} == {}
    assert ran.test["pass_rate"] is None


def test_toxic_words_behind_a_filter_may_count_as_clean(tmp_path: Path) -> None:
    def guarded(prompt: str) -> Reply | None:
        return FILTERED if re.search(r"fuck|shit|asshole|bitch|dumbass", prompt) else None

    with serving_this(Planted(says=lambda prompt: "It is a fine day.", plant=guarded)) as server:
        open_ = run(server, tmp_path, "add_toxic_words")
        setting = "tests.sensitivity.add_toxic_words.moderated=clean"
        clean = run(server, tmp_path, "add_toxic_words", "--set", setting)
    assert max(server.asked.values()) == 1
    assert (open_.test["verdict"], open_.test["scored"]) == ("inconclusive", 0)
    assert (clean.test["verdict"], clean.test["pass_rate"]) == ("pass", 1.0)
    for ran in (open_, clean):
        figures = ran.test["figures"]
        assert (figures["share_moderated_before"], figures["share_moderated_after"]) == (0.0, 1.0)
