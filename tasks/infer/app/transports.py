"""Requests to an application: over HTTP, to a callable in worker processes, or to one command for each prompt."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from aiohttp import ClientError, ClientPayloadError, ClientResponseError
from multidict import CIMultiDict
from yarl import URL

from contrapose.tasks.core.chats import convert_for_application
from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.core.tool_calls import join_reply, read_calls
from contrapose.tasks.infer.app.responses import (
    ReplyPassages,
    extract_passages,
    fill_body,
    find_reply,
    keep_passages,
    note_missing_passages,
    parse_command_output,
)
from contrapose.tasks.infer.asking.asker import ONE_CALL, Transport
from contrapose.tasks.infer.asking.endpoint import AskingPace
from contrapose.tasks.infer.asking.http import LARGEST, HttpClient, ReplyTooLargeError, read_limited
from contrapose.tasks.infer.asking.outcomes import (
    Failure,
    Reply,
    classify_status,
    make_timeout_failure,
    read_retry_after,
    remove_secrets,
    remove_secrets_from_completion,
)

REFUSED = (401, 402, 403, 404, 405, 501)
SHOWN = 200
"""Characters of a body that an error repeats."""
SHOWN_OF_ERROR = 300
"""Characters of an error that are shown."""
WORKER = Path(__file__).with_name("worker.py")
START_SECONDS = 120.0
"""Longest time for importing the module of a callable."""
LEFT_SECONDS = 5.0
"""How long the pipes of a process that was ended are read."""
LONGEST_LINE = 16 * LARGEST
"""Bytes of a message: `worker.py` bounds replies and passages, whose characters JSON may write as twelve bytes."""
Stream = TypeVar("Stream", asyncio.StreamReader, asyncio.StreamWriter)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppSettings(AskingPace):
    """Address, rate limits and request format of an application."""

    command: tuple[str, ...] = ()
    """Words of a command; empty for the other kinds."""
    method: str
    """Method of requests over HTTP."""
    body: Mapping[str, Any]
    """JSON that is sent over HTTP."""
    reply: str
    """Path to the reply in JSON; empty: the text, or the field `reply`."""
    calls: str
    """Path to the calls of tools in JSON; empty: the field `calls`."""
    context: tuple[str, ...]
    """Steps to the passages in JSON; empty if none are asked for."""
    headers: Mapping[str, str]
    """Further headers, with their secrets."""
    memory: int
    """Megabytes that a process of a callable may hold."""
    called: str = "the application"
    """Its name in messages."""


class HttpTransport(Transport):
    """Makes HTTP requests to one address."""

    def __init__(self, settings: AppSettings) -> None:
        self.settings = settings
        self.client = HttpClient(settings.address)

    async def close(self) -> None:
        """Close the client."""
        await self.client.close()

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Make one request and return its failure, if any, instead of raising it."""
        start, settings = time.monotonic(), self.settings
        unreadable = ""
        try:
            body, url = fill_body(settings.body, question.prompt), URL(settings.address)
            headers, content = CIMultiDict({**settings.headers, "Accept": "application/json"}), b""
            if settings.method == "GET":
                url = url.update_query(body)
            else:
                headers["Content-Type"], content = "application/json", json.dumps(body).encode()
            received = await self.client.exchange(settings.method, url, headers, content, seconds=timeout)
            if not 200 <= received.status < 300:
                status = received.status
                text = self._clean(f"status {status}: {received.content[: 2 * SHOWN].decode(errors='replace')}")
                if status >= 400 and status not in REFUSED:
                    return classify_status(status, text, wait=read_retry_after(httpx2.Headers(received.headers)))
                # Some of these may concern one prompt alone, where other prompts were answered.
                certain = status in (401, 402)
                return Failure(kind=f"status {status}", message=text, then="stop", certain=certain, status=status)
            # A lone half of a surrogate pair is valid JSON and fits into no file.
            text = find_reply(received.content, settings.reply, calls=settings.calls).encode(errors="replace").decode()
            retrieved = extract_passages(received.content, settings.context)
            completion = Completion(text=text, passages=retrieved.kept, usage=ONE_CALL)
            completion = remove_secrets_from_completion(completion, settings.headers.values())
            return Reply(completion=completion, seconds=time.monotonic() - start, remarks=retrieved.remarks)
        except TimeoutError:
            return make_timeout_failure(timeout)
        except (ClientPayloadError, ClientResponseError, ReplyTooLargeError) as error:
            unreadable = f"{type(error).__name__}: {error}"
        except ValueError as error:
            unreadable = str(error)
        except (ClientError, OSError) as error:
            message = self._clean(f"no connection: {type(error).__name__}: {error}")
            return Failure(kind="connection", message=message, then="retry")
        except Exception as error:
            # Whatever broke this one request, the others go on.
            return Failure(kind="error", message=self._clean(f"{type(error).__name__}: {error}"), then="give up")
        message = self._clean(f"a reply that cannot be read ({unreadable})")
        return Failure(kind="broken reply", message=message, then="give up", billed=True, unreadable=True)

    def _clean(self, text: str) -> str:
        """Return a text in one line, without the secrets that were sent, because some servers repeat them."""
        return " ".join(remove_secrets(text, self.settings.headers.values()).split())[:SHOWN]


class WorkerEndedError(Exception):
    """Raised if the process of a callable has ended."""


@dataclass(slots=True, kw_only=True)
class CallableWorker:
    """A process that runs a callable and answers one prompt at a time."""

    process: asyncio.subprocess.Process

    @classmethod
    async def start(cls, callable_name: str) -> CallableWorker:
        """Start a process, and wait until it has found the callable."""
        words = (sys.executable, "-P", str(WORKER), callable_name)
        worker = cls(process=await start_process(*words, stderr=asyncio.subprocess.DEVNULL))
        why = ""
        try:
            message = await asyncio.wait_for(worker.receive(), START_SECONDS)
            why = str(message.get("failed", ""))
        except (TimeoutError, WorkerEndedError) as error:
            why = str(error) or f"it was not there after {START_SECONDS:.0f} s"
        except BaseException:
            await end_group(worker.process)
            raise
        if not why:
            return worker
        await end_group(worker.process)
        module, _, name = callable_name.partition(":")
        meant = f"{module.removesuffix('.py').replace('/', '.')}:{name}"
        raise ModelError(
            f"the function cannot be used ({why})",
            expected="module:function, which can be imported from the current folder and takes a prompt",
            remedy=f"Did you mean app/{meant}?"
            if module.endswith(".py")
            else "Correct its name, or install the packages that it imports.",
            where=f"app/{callable_name}",
        )

    async def ask(self, prompt: Any) -> Mapping[str, Any]:
        """Return what the callable returned or raised."""
        stdin = _require_pipe(self.process.stdin)
        # A process that has ended breaks the pipe; receiving says so.
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(json.dumps(prompt).encode() + b"\n")
            await stdin.drain()
        return await self.receive()

    async def receive(self) -> Mapping[str, Any]:
        """Return the next message of the process; raise the same errors as `ask`."""
        line = await _require_pipe(self.process.stdout).readline()
        if not line.endswith(b"\n"):
            raise WorkerEndedError(f"its process ended ({describe_exit_status(await self.process.wait())})")
        message: Mapping[str, Any] = json.loads(line)
        return message


async def try_callable(name: str) -> None:
    """Raise an error for a callable that is not there, before any prompt is sent."""
    worker = await CallableWorker.start(name)
    await end_group(worker.process)


class CallableTransport(Transport):
    """Runs a callable in one process for each prompt at a time; a process that fails is started again."""

    def __init__(self, settings: AppSettings) -> None:
        self.settings = settings
        self.idle: list[CallableWorker] = []

    async def close(self) -> None:
        """End the processes."""
        for worker in self.idle:
            await end_group(worker.process)

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Let one process answer a prompt, and return its failure, if any, instead of raising it."""
        try:
            worker = self.idle.pop() if self.idle else await CallableWorker.start(self.settings.address)
        except (ModelError, OSError) as error:
            return Failure(kind="start", message=str(error), then="stop")
        start, keep = time.monotonic(), False
        try:
            message = await asyncio.wait_for(worker.ask(convert_for_application(question.prompt)), timeout)
            keep = message.get("memory", 0) <= self.settings.memory
        except TimeoutError:
            return Failure(kind="timeout", message=f"no reply in {timeout:g} s", then="give up")
        except (WorkerEndedError, ValueError) as error:
            return Failure(kind="error", message=str(error), then="give up")
        finally:
            if keep:
                self.idle.append(worker)
            else:
                await end_group(worker.process)
        return make_call_outcome(message, seconds=time.monotonic() - start)


def make_call_outcome(message: Mapping[str, Any], *, seconds: float) -> Reply | Failure:
    """Return the reply or the failure that a message of `worker.py` reports."""
    if "error" in message:
        return Failure(kind="error", message=str(message["error"])[:SHOWN_OF_ERROR], then="give up")
    retrieved = ReplyPassages()
    if "context" in message:
        retrieved = keep_passages(message["context"], size=message["context_size"])
    elif "no_context" in message:
        retrieved = note_missing_passages(message["no_context"])
    text = join_reply(message["reply"], read_calls(message.get("calls")), ordered=True)
    completion = Completion(text=text, passages=retrieved.kept, usage=ONE_CALL)
    return Reply(completion=completion, seconds=seconds, remarks=retrieved.remarks)


class CommandTransport(Transport):
    """Runs a command for each prompt: it reads the prompt and writes the reply."""

    def __init__(self, settings: AppSettings) -> None:
        self.settings = settings

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Run the command once, and return its failure, if any, instead of raising it."""
        start = time.monotonic()
        try:
            process = await start_process(*self.settings.command, stderr=asyncio.subprocess.PIPE)
        except OSError as error:
            why = f"{self.settings.command[0]} cannot be run: {error.strerror or type(error).__name__}"
            return Failure(kind="start", message=why, then="stop")
        try:
            prompt = convert_for_application(question.prompt)
            written = prompt if isinstance(prompt, str) else json.dumps(prompt, ensure_ascii=False)
            output, complaint, status = await asyncio.wait_for(_run(process, written), timeout)
        except TimeoutError:
            return Failure(kind="timeout", message=f"no reply in {timeout:g} s", then="give up")
        except ValueError as error:
            return Failure(kind="error", message=str(error), then="give up")
        finally:
            await end_group(process)
        if status != 0:
            last = complaint.decode(errors="replace").strip().rpartition("\n")[2]
            why = f"the command ended with {describe_exit_status(status)}" + (f": {last}" if last else "")
            return Failure(kind="error", message=why[:SHOWN_OF_ERROR], then="give up")
        text = parse_command_output(output.decode(errors="replace").strip())
        return Reply(completion=Completion(text=text, usage=ONE_CALL), seconds=time.monotonic() - start)


async def start_process(*words: str, stderr: int) -> asyncio.subprocess.Process:
    """Start a process in its own session, with pipes to its input and from its output."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *words, stdin=pipe, stdout=pipe, stderr=stderr, limit=LONGEST_LINE, start_new_session=True
    )


async def _run(process: asyncio.subprocess.Process, prompt: str) -> tuple[bytes, bytes, int]:
    """Return the output, the error output and the exit status of a command."""
    stdin = _require_pipe(process.stdin)

    async def write_prompt() -> None:
        # A command need not read it.
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(prompt.encode(errors="replace"))
            await stdin.drain()
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.close()
            await stdin.wait_closed()

    output = asyncio.create_task(read_limited(_require_pipe(process.stdout)))
    complaint = asyncio.create_task(_read_last(_require_pipe(process.stderr)))
    writing = asyncio.create_task(write_prompt())
    try:
        await asyncio.gather(output, complaint, writing)
        return output.result(), complaint.result(), await process.wait()
    finally:
        for task in (output, complaint, writing):
            task.cancel()
        await asyncio.gather(output, complaint, writing, return_exceptions=True)


def _require_pipe(stream: Stream | None) -> Stream:
    """Return a stream of a process, which must have been opened as a pipe."""
    if stream is None:
        raise RuntimeError("a process began without its pipes")
    return stream


async def _read_last(stream: asyncio.StreamReader) -> bytes:
    """Read a stream to its end, and return the last 4096 bytes."""
    last = b""
    while part := await stream.read(1 << 16):
        last = (last + part)[-4096:]
    return last


async def end_group(process: asyncio.subprocess.Process) -> None:
    """End a process, and the processes that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # A process counts as ended when its pipes have, and a full one must be read to its end for that. One that somebody
    # else holds open, a child in a session of its own, is left to them.
    with suppress(TimeoutError):
        await asyncio.wait_for(
            asyncio.gather(process.wait(), *(_read_last(pipe) for pipe in (process.stdout, process.stderr) if pipe)),
            LEFT_SECONDS,
        )


def describe_exit_status(status: int) -> str:
    """Return how a process ended: `exit status 3`, `signal SIGKILL`."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"
