"""Functions of this process: asked in threads, whatever they are and do; known by their revision, or for one call."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest
from plain_broker import PlainBroker, ask_prompts

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Answer, Question
from contrapose.tasks.infer.function import Function, FunctionLoop, find_offered, make_function_name, offer_function

TENANT: ContextVar[str] = ContextVar("tenant", default="nobody")


class Bot:
    def __init__(self, said: str) -> None:
        self.said = said

    def answer(self, prompt: str) -> str:
        return f"{self.said}: {prompt}"

    async def later(self, prompt: str) -> str:
        await asyncio.sleep(0)
        return self.answer(prompt)

    def __call__(self, prompt: str) -> str:
        return self.answer(prompt)


def misbehaving(prompt: str) -> Any:
    match prompt:
        case "raise":
            raise RuntimeError("it broke\non two lines")
        case "exit":
            sys.exit(3)
        case "interrupt":
            raise KeyboardInterrupt
        case "nothing":
            return None
        case "huge":
            return "x" * 5_000_000
        case "surrogate":
            return "\ud800."
        case "hang":
            time.sleep(3)
    return f"Said: {prompt}"


async def misbehaving_later(prompt: str) -> Any:
    if prompt == "hang":
        await asyncio.sleep(600)
    if prompt == "cancel":
        raise asyncio.CancelledError
    return misbehaving(prompt)


def asked(function: Callable[[str], Any], prompts: Sequence[str], **args: Any) -> list[Answer]:
    """What becomes of each prompt."""
    with offer_function(function) as name:
        broker = ask_prompts(ModelSpec(id=name, args=args), *prompts)
    assert broker.stopped is None, broker.stopped
    return broker.replies(*prompts)


def texts(function: Callable[[str], Any], prompts: Sequence[str], **args: Any) -> list[str | None]:
    return [answer.completion.text for answer in asked(function, prompts, **args)]


@pytest.mark.parametrize(
    "function",
    [
        Bot("Bot").answer,
        Bot("Bot").later,
        Bot("Bot"),
        lambda prompt: f"Bot: {prompt}",
        partial(lambda said, prompt: f"{said}: {prompt}", "Bot"),
    ],
    ids=["bound method", "async method", "instance", "lambda", "partial"],
)
def test_whatever_can_be_called_is_asked(function: Callable[[str], Any]) -> None:
    prompts = [f"Prompt {number}." for number in range(20)]
    assert texts(function, prompts) == [f"Bot: {prompt}" for prompt in prompts]


@pytest.mark.parametrize("function", [misbehaving, misbehaving_later])
@pytest.mark.parametrize(
    ("prompt", "error"),
    [
        ("raise", "RuntimeError: it broke on two lines"), ("exit", "SystemExit: 3"),
        ("interrupt", "KeyboardInterrupt"), ("nothing", "it returned NoneType, where a text should be"),
        ("huge", "more than 4 MiB"), ("hang", "no reply in 0.5 s"),
    ],
)  # fmt: skip
def test_what_befalls_one_prompt_harms_no_other(function: Callable[[str], Any], prompt: str, error: str) -> None:
    answers = asked(function, ["first", prompt, "second", "third"], timeout=0.5, concurrency=2)
    assert error in str(answers[1].completion.error)
    assert [answers[place].completion.text for place in (0, 2, 3)] == ["Said: first", "Said: second", "Said: third"]


def test_an_async_function_that_cancels_itself_is_an_error_of_one_case() -> None:
    answers = asked(misbehaving_later, ["first", "cancel", "second"], timeout=5)
    assert answers[1].completion.error is not None
    assert answers[2].completion.text == "Said: second"


def test_what_a_function_retrieved_is_kept_with_its_reply() -> None:
    [answer] = asked(lambda prompt: {"reply": "It rains.", "context": ["Rain is near.", prompt]}, ["Does it rain?"])
    assert answer.completion.text == "It rains."
    assert answer.completion.passages == ("Rain is near.", "Does it rain?")


def test_a_task_that_ends_the_program_ends_no_event_loop() -> None:
    async def exits() -> None:
        sys.exit(3)

    async def answer(prompt: str) -> str:
        asyncio.get_running_loop().create_task(exits())
        await asyncio.sleep(0.05)
        return "there"

    assert texts(answer, [str(number) for number in range(4)], concurrency=1) == ["there"] * 4


def test_an_async_function_stays_in_one_loop() -> None:
    loops: set[int] = set()

    async def answer(prompt: str) -> str:
        loops.add(id(asyncio.get_running_loop()))
        return "ok"

    with offer_function(answer) as name:
        model = Function().open(ModelSpec(id=name))
        for portion in ("one", "two"):
            model.answer([Question(kind="generate", prompt=portion)], PlainBroker())
    assert len(loops) == 1


def test_no_more_are_called_at_a_time_than_allowed() -> None:
    now, most, lock = [0], [0], threading.Lock()

    def answer(prompt: str) -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.02)
        with lock:
            now[0] -= 1
        return "ok"

    asked(answer, [str(number) for number in range(12)], concurrency=3)
    assert most[0] == 3


def test_a_function_sees_the_context_of_whoever_offers_it() -> None:
    TENANT.set("somebody")
    assert texts(lambda prompt: TENANT.get(), ["Who?"]) == ["somebody"]


def test_a_function_whose_calls_all_hang_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.function.MOST_HANGING", 3)
    over = threading.Event()
    with offer_function(lambda prompt: str(over.wait(30))) as name:
        broker = ask_prompts(ModelSpec(id=name, args={"timeout": 0.2, "concurrency": 1}), *map(str, range(9)))
    over.set()
    assert broker.stopped == "3 calls of the function hang, and no thread can be ended"
    assert len(broker.answers) == 4


def test_threads_that_hang_hold_up_nobody() -> None:
    start = time.monotonic()
    asked(misbehaving, ["hang", "first"], timeout=0.2)
    assert time.monotonic() - start < 2


def test_every_offer_is_another_model_unless_a_revision_names_it() -> None:
    def answer(prompt: str) -> str:
        return prompt

    def identity(**args: Any) -> dict[str, str]:
        with offer_function(answer) as name:
            return dict(Function().identity(ModelSpec(id=name, args=args)))

    assert identity() != identity()
    assert identity(revision="v3") == identity(revision="v3", timeout=5)
    assert identity(revision="v3") != identity(revision="v4")
    assert identity(revision=0) != identity(revision="")


def test_functions_of_one_name_are_two_models() -> None:
    with offer_function(lambda prompt: "one") as first, offer_function(lambda prompt: "two") as second:
        assert (first, second) == tuple(
            f"function/test_functions_of_one_name_are_two_models.lambda{ending}" for ending in ("", "-2")
        )
        [answer] = ask_prompts(ModelSpec(id=second, args={"revision": "v1"}), "Who?").replies("Who?")
        assert answer.completion.text == "two"


@pytest.mark.parametrize(
    ("function", "name"), [(len, "len"), (Bot.answer, "Bot.answer"), (Bot(""), "Bot"), (partial(print, 1), "print")]
)
def test_a_name_is_fit_for_an_id(function: Callable[..., Any], name: str) -> None:
    assert make_function_name(function) == name


def test_a_function_is_there_only_while_it_is_offered() -> None:
    with offer_function(len) as name:
        assert find_offered(name).function is len
        assert Function().check(ModelSpec(id=name)).state == "ok"
    with pytest.raises(ModelError, match=r"^function/len: there is no such function: .* Call contrapose\.evaluate"):
        Function().identity(ModelSpec(id=name))


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ({"args": {"retries": 3}}, "unknown argument 'retries'"),
        ({"args": {"concurrency": 0}}, "concurrency is 0"),
        ({"args": {"timeout": "soon"}}, "timeout is 'soon'"),
        ({"system_instruction": "Be brief."}, "a system instruction"),
    ],
)
def test_wrong_settings_are_one_line(spec: dict[str, Any], error: str) -> None:
    with offer_function(len) as name, pytest.raises(ModelError, match=error) as raised:
        Function().identity(ModelSpec(id=name, **spec))
    assert "\n" not in str(raised.value)


def test_a_loop_that_is_let_go_cancels_what_still_goes_on() -> None:
    loop, ended = FunctionLoop(), threading.Event()

    async def background() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    async def answer() -> str:
        asyncio.get_running_loop().create_task(background())
        await asyncio.sleep(0)
        return "ok"

    assert loop.wait_for(answer(), timeout=5) == "ok"
    loop.stop()
    assert ended.wait(5)
