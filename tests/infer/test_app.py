"""Applications: a callable, a command and an address are asked; whatever one of them does harms one prompt alone."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from app_server import AppServer
from fake_endpoint import serving_this
from plain_broker import ask_prompts

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.questions import Answer
from contrapose.tasks.infer.app import App
from contrapose.tasks.infer.app.responses import fill_body, find_reply
from contrapose.tasks.infer.app.transports import WORKER

BOT = """
import asyncio, os, subprocess, sys, time

kept = []

class Bot:
    @staticmethod
    def answer(prompt):
        return f"Bot: {prompt}"

async def later(prompt):
    await asyncio.sleep(0)
    return answer(prompt)

def answer(prompt):
    if "print" in prompt:
        print("x" * 100_000)
        os.write(1, b"x" * 100_000)
        os.write(2, b"x" * 100_000)
    if "read" in prompt:
        return f"read {sys.stdin.read()!r}"
    if "raise" in prompt:
        raise RuntimeError("it broke\\non two lines")
    if "exit" in prompt:
        sys.exit(3)
    if "gone" in prompt:
        os._exit(3)
    if "killed" in prompt:
        os.kill(os.getpid(), 9)
    if "hang" in prompt:
        time.sleep(600)
    if "nothing" in prompt:
        return None
    if "huge" in prompt:
        return "x" * 5_000_000
    if "surrogate" in prompt:
        return "\\ud800."
    if "leak" in prompt:
        kept.append(bytearray(os.urandom(1) * 80_000_000))
    if "who" in prompt:
        return str(os.getpid())
    return f"Said: {prompt}"

number = 5
"""


@pytest.fixture(autouse=True)
def _every_application_may_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_APPS", "*")


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the current folder, which may be run."""
    (tmp_path / "bot_of_tests.py").write_text(BOT)
    monkeypatch.chdir(tmp_path)


def asked(name: str, prompts: Sequence[str], **args: Any) -> list[Answer]:
    """What becomes of each prompt."""
    spec = ModelSpec(id=f"app/{name}", args=args)
    App().identity(spec)
    broker = ask_prompts(spec, *prompts)
    assert broker.stopped is None, broker.stopped
    return broker.replies(*prompts)


def texts(name: str, prompts: Sequence[str], **args: Any) -> list[str | None]:
    return [answer.completion.text for answer in asked(name, prompts, **args)]


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("function", ["answer", "later"])
def test_a_callable_is_asked(function: str) -> None:
    prompts = [f"Prompt {number}." for number in range(20)]
    assert texts(f"bot_of_tests:{function}", prompts) == [f"Said: {prompt}" for prompt in prompts]
    assert texts("bot_of_tests:Bot.answer", ["Hello"]) == ["Bot: Hello"]


FAILING = {
    "raise": "RuntimeError: it broke on two lines",
    "exit": "SystemExit: 3",
    "gone": "its process ended (exit status 3)",
    "killed": "its process ended (signal SIGKILL)",
    "hang": "no reply in 1.5 s",
    "nothing": "it returned NoneType",
    "huge": "more than 4 MiB",
}
"""Prompts that harm a callable, and what is said of each."""


@pytest.fixture(scope="module", params=[1, 2])
def harmed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Answer]:
    """Answers to all of these prompts, each with one after it that harms nobody, so many at a time."""
    prompts = [text for prompt in FAILING for text in (prompt, f"{len(prompt)} after {prompt[:2]}")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONTRAPOSE_APPS", "*")
        patch.chdir(tmp_path_factory.mktemp("harmed"))
        Path("bot_of_tests.py").write_text(BOT)
        answers = asked("bot_of_tests:answer", prompts, timeout=1.5, concurrency=request.param)
    return dict(zip(prompts, answers, strict=True))


@pytest.mark.parametrize("prompt", FAILING)
def test_what_befalls_one_prompt_harms_no_other(prompt: str, harmed: Mapping[str, Answer]) -> None:
    error = str(harmed[prompt].completion.error)
    assert FAILING[prompt] in error
    assert "\n" not in error
    assert all(answer.requests == 1 for answer in harmed.values())
    assert all(answer.completion.text == f"Said: {other}" for other, answer in harmed.items() if other not in FAILING)


@pytest.mark.usefixtures("bot")
def test_what_it_prints_reads_and_writes_goes_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    assert texts("bot_of_tests:answer", ["print", "read", "surrogate"]) == ["Said: print", "read ''", "?."]
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("bot")
def test_a_process_that_holds_too_much_is_begun_anew() -> None:
    first, _, second, third = texts(
        "bot_of_tests:answer", ["who are you?", "leak", "who?", "who now?"], concurrency=1, memory=64
    )
    assert first != second == third
    assert not Path(f"/proc/{first}").exists()
    assert not Path(f"/proc/{third}").exists()


@pytest.mark.usefixtures("bot")
def test_a_process_ends_with_the_one_that_asks() -> None:
    script = (
        "import asyncio, os, sys\n"
        "async def main():\n"
        f"    words = [sys.executable, '-P', {str(WORKER)!r}, 'bot_of_tests:answer']\n"
        "    process = await asyncio.create_subprocess_exec(*words,\n"
        "        stdin=-1, stdout=-1, start_new_session=True)\n"
        "    print(process.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    child = Path("/proc") / parent.stdout.readline().strip()
    assert child.exists()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    end = time.monotonic() + 20
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2] and time.monotonic() < end:
        time.sleep(0.1)
    assert time.monotonic() < end


def test_a_command_reads_the_prompt_and_writes_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_APPS", "cmd:cat; cmd:sh -c 'tr a-z A-Z'")
    assert texts("cmd:cat", ["Hello \u00e9\n", "Two\nlines"]) == ["Hello \u00e9", "Two\nlines"]
    assert texts("cmd:sh -c 'tr a-z A-Z'", ["hello"]) == ["HELLO"]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo first >&2; echo why >&2; exit 3", "the command ended with exit status 3: why"),
        ("kill -9 $$", "signal SIGKILL"),
        ("sleep 600", "no reply in 1 s"),
        ("sleep 600 & cat", "no reply in 1 s"),
        ("yes", "more than 4 MiB"),
    ],
)
def test_a_command_that_fails_is_an_error_of_its_prompt(
    script: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTRAPOSE_APPS", "*")
    start = time.monotonic()
    [answer] = asked(f"cmd:{shlex.join(['sh', '-c', script])}", ["Hello"], timeout=1)
    assert told in str(answer.completion.error)
    assert time.monotonic() - start < 30


def test_a_command_need_not_read() -> None:
    assert texts("cmd:echo yes", ["x" * 1_000_000]) == ["yes"]


@pytest.fixture
def server() -> Iterator[AppServer]:
    with serving_this(AppServer()) as started:
        yield started


BODY = {"question": "{prompt}", "options": {"k": 3, "note": "before {prompt} after"}, "list": ["{prompt}"]}


def test_an_address_is_sent_the_prompt_in_its_places(server: AppServer) -> None:
    prompt = 'Say "{prompt}", }{ and \\ \u00e9.'
    assert texts(server.url, [prompt], body=BODY, reply="answers.0.text", revision="7") == [f"Said: {prompt}"]
    assert server.bodies == [
        {"question": prompt, "options": {"k": 3, "note": f"before {prompt} after"}, "list": [prompt]}
    ]


def test_a_query_holds_the_prompt_too(server: AppServer) -> None:
    assert texts(server.url, ["a b&c"], method="GET", body={"q": "{prompt}", "k": 2}) == ["Said: a b&c"]
    assert server.bodies == [{"q": "a b&c", "k": "2"}]


def test_whatever_breaks_one_request_the_others_go_on(server: AppServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(content: bytes, path: str, **further: str) -> str:
        if b"first" in content:
            raise RuntimeError("it broke")
        return find_reply(content, path, **further)

    monkeypatch.setattr("contrapose.tasks.infer.app.transports.find_reply", broken)
    first, second = asked(server.url, ["first", "second"])
    assert "RuntimeError: it broke" in str(first.completion.error)
    assert second.completion.text == "Said: second"


@pytest.mark.parametrize(
    ("faults", "text", "requests"),
    [
        ({0: 500}, "Said: Hello", 2),
        ({0: 429, 1: 429}, "Said: Hello", 3),
        ({0: 408}, "Said: Hello", 2),
        ({0: 422}, None, 1),
        (dict.fromkeys(range(9), 500), None, 3),
    ],
)
def test_failures_are_tried_again_where_that_may_help(
    faults: Mapping[int, int], text: str | None, requests: int, server: AppServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contrapose.tasks.infer.asking.outcomes.FIRST_WAIT", 0.01)
    server.statuses = dict(faults)
    [answer] = asked(server.url, ["Hello"], retries=2)
    assert (answer.completion.text, answer.requests) == (text, requests)
    assert len(server.bodies) == requests


@pytest.mark.parametrize(
    ("faults", "told"),
    [
        ({0: 401}, "status 401"),
        ({0: 404}, "status 404"),
        ({0: 302}, "status 302"),
    ],
)
def test_what_nothing_mends_stops_at_once(faults: Mapping[int, int], told: str, server: AppServer) -> None:
    server.statuses = dict(faults)
    broker = ask_prompts(ModelSpec(id=f"app/{server.url}"), "Hello")
    assert told in str(broker.stopped)
    assert len(server.bodies) == 1


def test_a_header_holds_a_secret_that_is_for_that_host(server: AppServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_TOKEN", "hunter2")
    headers = {"Authorization": "BOT_TOKEN"}
    with pytest.raises(ContraposeError, match=f"CONTRAPOSE_KEY_HOSTS=BOT_TOKEN={server.origin}"):
        asked(server.url, ["Hello"], headers=headers)
    assert server.bodies == []
    monkeypatch.setenv("CONTRAPOSE_KEY_HOSTS", f"BOT_TOKEN={server.origin}")
    assert texts(server.url, ["Hello"], headers=headers) == ["Said: Hello"]
    assert server.sent[-1]["Authorization"] == "hunter2"
    monkeypatch.setenv("BOT_TOKEN", "Bearer hunter2-hunter2")
    assert texts(server.url, ["It is hunter2-hunter2, or hunter2."], headers=headers) == ["Said: It is …, or hunter2."]
    monkeypatch.setenv("BOT_TOKEN", "hunter2")
    server.statuses = {2: 422}
    [answer] = asked(server.url, ["Hello"], headers=headers)
    assert "hunter2" not in str(answer.completion.error)
    assert "…" in str(answer.completion.error)


@pytest.mark.parametrize(
    ("content", "path", "reply"),
    [
        (b"Hello\n", "", "Hello"), (b'"Hello"', "", "Hello"), (b'{"reply": "Hello"}', "", "Hello"),
        (b'{"a": [{"b": "Hello"}]}', "a.0.b", "Hello"), (b'[["Hello"]]', "0.0", "Hello"),
    ],
)  # fmt: skip
def test_the_reply_is_found(content: bytes, path: str, reply: str) -> None:
    assert find_reply(content, path) == reply


@pytest.mark.parametrize(
    ("content", "path", "told"),
    [
        (b"Hello", "a", "no JSON"),
        (b'{"a": "Hello"}', "", "model_args.reply"),
        (b'{"a": "Hello"}', "b", "nothing at b"),
        (b'{"a": ["Hello"]}', "a.1", "nothing at a.1"),
        (b'{"a": ["Hello"]}', "a", "list at a"),
        (b'{"a": null}', "a", "NoneType at a"),
        (b"[" * 100_000, "a", "no JSON"),
    ],
)
def test_a_reply_that_is_not_there_is_told(content: bytes, path: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        find_reply(content, path)


def test_a_prompt_is_put_into_texts_alone() -> None:
    assert fill_body({"{prompt}": "{prompt}", "n": 1, "none": None}, "{prompt}{prompt}") == {
        "{prompt}": "{prompt}{prompt}",
        "n": 1,
        "none": None,
    }


HERE = "http://127.0.0.1:9/ask"
WRONG: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "no name": ("", {}, "no application"),
    "no function": ("bot_of_tests", {}, "no application"),
    "no module": ("no_such_module:answer", {}, "ModuleNotFoundError"),
    "no such function": ("bot_of_tests:none", {}, "AttributeError"),
    "something that cannot be called": ("bot_of_tests:number", {}, "cannot be called"),
    "a path for a module": ("../bot_of_tests.py:answer", {}, "no application"),
    "no command": ("cmd:", {}, "no command"),
    "a command that is not there": ("cmd:no-such-program -x", {}, "no command no-such-program"),
    "an open quote": ("cmd:sh -c 'x", {}, "cannot be read"),
    "another scheme": ("ftp://host/ask", {}, "no address"),
    "a password": ("http://me:hunter2@host/ask", {}, "password"),
    "a token": ("http://host/ask?token=hunter2", {}, "token"),
    "the address of secrets": ("http://169.254.169.254/latest", {}, "169.254"),
    "a body without a place": (HERE, {"body": {"question": "prompt"}}, "{prompt}"),
    "a body that is none": (HERE, {"body": "{prompt}"}, "a mapping"),
    "a query in depth": (HERE, {"method": "GET", "body": {"q": ["{prompt}"]}}, "texts and numbers"),
    "a query of no text": (HERE, {"method": "GET", "body": {"q": "{prompt}", "flag": True}}, "texts and numbers"),
    "another method": (HERE, {"method": "DELETE"}, "POST"),
    "headers that are none": (HERE, {"headers": "Authorization"}, "a mapping"),
    "a header with a line break": (HERE, {"headers": {"A\nB": "TOKEN"}}, "names of headers"),
    "a secret that is no name": (HERE, {"headers": {"A": "Bearer hunter2"}}, "the name of an environment variable"),
    "a body for a callable": ("bot_of_tests:answer", {"body": {}}, "behind an address"),
    "an unknown argument": (HERE, {"key": "x"}, "key"),
    "no number": (HERE, {"concurrency": "many"}, "concurrency"),
    "no memory": ("bot_of_tests:answer", {"memory": 1}, "memory"),
}


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_in_one_line_before_anything_is_asked(name: str) -> None:
    model, args, told = WRONG[name]
    with pytest.raises(ContraposeError) as caught:
        App().identity(ModelSpec(id=f"app/{model}", args=args))
    message = str(caught.value)
    assert told in message
    assert "\n" not in message
    assert "hunter2" not in message
    assert len(message) < 500


@pytest.mark.usefixtures("bot")
def test_only_what_the_machine_allows_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAPOSE_APPS", "bot_of_tests:other\ncmd:cat")
    for model in ("bot_of_tests:answer", "cmd:touch harm", "cmd:cat x", HERE):
        with pytest.raises(ContraposeError, match=r"may not be (run|asked) here"):
            App().identity(ModelSpec(id=f"app/{model}"))
    assert not Path("harm").exists()


def test_versions_that_the_user_names_are_kept_apart(server: AppServer) -> None:
    def identity(**args: Any) -> Mapping[str, str]:
        return App().identity(ModelSpec(id=f"app/{server.url}", args=args))

    changes: Sequence[Mapping[str, Any]] = [{}, {"revision": "1"}, {"revision": "2"}, {"reply": "a"}, {"body": BODY}]
    identities = [str(identity(**change)) for change in changes]
    assert len(set(identities)) == len(changes)
    assert identity(concurrency=9) == identity()


def test_a_system_instruction_is_refused(server: AppServer) -> None:
    with pytest.raises(ContraposeError, match="system instruction"):
        App().identity(ModelSpec(id=f"app/{server.url}", system_instruction="Be brief."))
