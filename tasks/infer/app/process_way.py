"""An application that is run here: a callable in processes of its own, or a command for each prompt."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from contrapose.tasks.core.errors import ModelError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.app.passages import Retrieved, kept_passages, without_passages
from contrapose.tasks.infer.app.settings import AppSettings
from contrapose.tasks.infer.asking.asker import ONE_CALL, WithoutTokens
from contrapose.tasks.infer.asking.http import LARGEST
from contrapose.tasks.infer.asking.outcomes import Failure, Reply

WORKER = Path(__file__).with_name("worker.py")
START_SECONDS = 120.0
"""What importing the module of a callable may take."""
LEFT_SECONDS = 5.0
"""How long the pipes of a process that was ended are read."""
SHOWN = 300
"""Characters of an error that are told."""
Stream = TypeVar("Stream", asyncio.StreamReader, asyncio.StreamWriter)


class EndedError(Exception):
    """The process of a callable has ended."""


@dataclass(slots=True, kw_only=True)
class Worker:
    """A process of a callable, which is asked one prompt at a time."""

    process: asyncio.subprocess.Process
    asked: asyncio.StreamWriter
    answers: asyncio.StreamReader

    @classmethod
    async def started(cls, callable_name: str) -> Worker:
        """A process that has found the callable.

        Raises:
            ModelError: it cannot be found, or takes too long.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            str(WORKER),
            callable_name,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        worker = cls(process=process, asked=_pipe(process.stdin), answers=_pipe(process.stdout))
        try:
            heard = await asyncio.wait_for(worker._heard(), START_SECONDS)
        except (TimeoutError, EndedError) as error:
            await worker.end()
            why = str(error) or f"it was not there after {START_SECONDS:.0f} s"
            raise _not_found(callable_name, why) from error
        except BaseException:
            await worker.end()
            raise
        if "failed" in heard:
            await worker.end()
            raise _not_found(callable_name, str(heard["failed"]))
        return worker

    async def ask(self, prompt: str) -> Mapping[str, Any]:
        """What the callable returned or raised.

        Raises:
            EndedError: its process has ended.
            ValueError: the reply is longer than any may be.
        """
        content = json.dumps(prompt).encode()
        try:
            self.asked.write(struct.pack(">I", len(content)) + content)
            await self.asked.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise EndedError(await self._status()) from error
        return await self._heard()

    async def end(self) -> None:
        """End the process, and those that it has begun."""
        await end_group(self.process)

    async def _heard(self) -> Mapping[str, Any]:
        try:
            size = struct.unpack(">I", await self.answers.readexactly(4))[0]
            if size > LARGEST:
                raise ValueError(f"a reply of more than {LARGEST >> 20} MiB")
            heard: Mapping[str, Any] = json.loads(await self.answers.readexactly(size))
        except asyncio.IncompleteReadError as error:
            raise EndedError(await self._status()) from error
        return heard

    async def _status(self) -> str:
        return f"its process ended ({in_words(await self.process.wait())})"


@dataclass(slots=True, kw_only=True)
class CallableWay(WithoutTokens):
    """A callable, in as many processes as prompts are asked at a time; one that fails is begun anew."""

    settings: AppSettings
    """What is called, and for how long."""
    idle: list[Worker] = field(default_factory=list)
    """Processes that wait."""

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Have one prompt answered. Whatever goes wrong is told, never raised."""
        try:
            worker = self.idle.pop() if self.idle else await Worker.started(self.settings.address)
        except (ModelError, OSError) as error:
            return Failure(kind="start", message=str(error), then="stop")
        start, keep = time.monotonic(), False
        try:
            heard = await asyncio.wait_for(worker.ask(question.prompt), timeout)
            keep = heard.get("memory", 0) <= self.settings.memory
        except TimeoutError:
            return Failure(kind="timeout", message=f"no reply in {timeout:g} s", then="give up")
        except (EndedError, ValueError) as error:
            return Failure(kind="error", message=str(error), then="give up")
        finally:
            if keep:
                self.idle.append(worker)
            else:
                await worker.end()
        if "error" in heard:
            return Failure(kind="error", message=str(heard["error"])[:SHOWN], then="give up")
        return reply_of(heard, seconds=time.monotonic() - start)


def reply_of(heard: Mapping[str, Any], *, seconds: float) -> Reply:
    """What a callable returned, which may be more than a text."""
    retrieved = Retrieved()
    if "context" in heard:
        retrieved = kept_passages(heard["context"], size=heard["context_size"])
    elif "no_context" in heard:
        retrieved = without_passages(heard["no_context"])
    completion = Completion(text=heard["reply"], passages=retrieved.kept, usage=ONE_CALL)
    return Reply(completion=completion, seconds=seconds, remarks=retrieved.remarks)


@asynccontextmanager
async def open_callable(settings: AppSettings) -> AsyncIterator[CallableWay]:
    """Processes for one call, which end with it."""
    way = CallableWay(settings=settings)
    try:
        yield way
    finally:
        for worker in way.idle:
            await worker.end()


async def find_callable(name: str) -> None:
    """Refuse a callable that is not there, before any prompt is asked.

    Raises:
        ModelError: it cannot be found.
    """
    worker = await Worker.started(name)
    await worker.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandWay(WithoutTokens):
    """A command: the prompt is what it reads, the reply is what it writes."""

    settings: AppSettings
    """Its words, and for how long it may run."""

    async def request(self, question: Question, *, timeout: float) -> Reply | Failure:
        """Run the command once. Whatever goes wrong is told, never raised."""
        start = time.monotonic()
        try:
            process = await asyncio.create_subprocess_exec(
                *self.settings.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            why = f"{self.settings.command[0]} cannot be run: {error.strerror or type(error).__name__}"
            return Failure(kind="start", message=why, then="stop")
        try:
            written, complaint, status = await asyncio.wait_for(_run(process, question.prompt), timeout)
        except TimeoutError:
            return Failure(kind="timeout", message=f"no reply in {timeout:g} s", then="give up")
        except ValueError as error:
            return Failure(kind="error", message=str(error), then="give up")
        finally:
            await end_group(process)
        if status != 0:
            last = complaint.decode(errors="replace").strip().rpartition("\n")[2]
            why = f"the command ended with {in_words(status)}" + (f": {last}" if last else "")
            return Failure(kind="error", message=why[:SHOWN], then="give up")
        text = written.decode(errors="replace").strip()
        return Reply(completion=Completion(text=text, usage=ONE_CALL), seconds=time.monotonic() - start)


async def _run(process: asyncio.subprocess.Process, prompt: str) -> tuple[bytes, bytes, int]:
    """What a command writes, what it complains of, and how it ends."""
    written = asyncio.create_task(_bounded(_pipe(process.stdout)))
    complaint = asyncio.create_task(_last_of(_pipe(process.stderr)))
    said = asyncio.create_task(_say(_pipe(process.stdin), prompt))
    try:
        await asyncio.gather(written, complaint, said)
        return written.result(), complaint.result(), await process.wait()
    finally:
        for task in (written, complaint, said):
            task.cancel()
        await asyncio.gather(written, complaint, said, return_exceptions=True)


def _pipe(stream: Stream | None) -> Stream:
    """A stream that was asked for when its process began."""
    if stream is None:
        raise RuntimeError("a process began without its pipes")
    return stream


async def _say(stream: asyncio.StreamWriter, prompt: str) -> None:
    """A command need not read what it is asked."""
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(prompt.encode(errors="replace"))
        await stream.drain()
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.close()
        await stream.wait_closed()


async def _bounded(stream: asyncio.StreamReader) -> bytes:
    parts, size = [], 0
    while part := await stream.read(1 << 16):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise ValueError(f"a reply of more than {LARGEST >> 20} MiB")
    return b"".join(parts)


async def _last_of(stream: asyncio.StreamReader) -> bytes:
    last = b""
    while part := await stream.read(1 << 16):
        last = (last + part)[-4096:]
    return last


async def end_group(process: asyncio.subprocess.Process) -> None:
    """End a process, and those that it has begun."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    # A process counts as ended when its pipes have, and a full one must be read to its end for that. One that somebody
    # else holds open, a child in a session of its own, is left to them.
    with suppress(TimeoutError):
        await asyncio.wait_for(
            asyncio.gather(process.wait(), *(_last_of(pipe) for pipe in (process.stdout, process.stderr) if pipe)),
            LEFT_SECONDS,
        )


def in_words(status: int) -> str:
    """How a process ended: `exit status 3`, `signal SIGKILL`."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


@asynccontextmanager
async def open_command(settings: AppSettings) -> AsyncIterator[CommandWay]:
    """Nothing is kept between prompts."""
    yield CommandWay(settings=settings)


def _not_found(name: str, why: str) -> ModelError:
    return ModelError(
        f"the callable cannot be used ({why})",
        expected="module:function, which can be imported from the current folder and takes a prompt",
        remedy="Correct its name, or install what it needs.",
        where=f"app/{name}",
    )
