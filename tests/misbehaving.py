"""A server on loopback that sends whatever bytes it is told, well-formed or not."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Script = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes what is sent in place of a reply; the connection is closed after it."""


@dataclass
class Misbehaving:
    """Where it listens, what it sends, and how often it was asked."""

    script: Script
    """What befalls every request but those that are answered properly."""
    proper_from: int | None = None
    """Number of the first request that is answered properly; None: none is."""
    on_connect: bool = False
    """Whether it speaks before it is asked, as a server of another protocol does."""
    port: int = 0
    asked: int = 0
    headers: list[bytes] = field(default_factory=list)
    """Of each request."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        with suppress(OSError, asyncio.IncompleteReadError):
            if not self.on_connect:
                await self._read(reader)
            number, self.asked = self.asked, self.asked + 1
            script = self.script if self.proper_from is None or number < self.proper_from else sending(reply())
            await script(writer)
            await writer.drain()
        with suppress(OSError):
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.headers.append(head)
        sizes = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
        await reader.readexactly(int(sizes[0]) if sizes else 0)


@contextmanager
def misbehaving(server: Misbehaving) -> Iterator[Misbehaving]:
    """Start it on a free port, in a thread; stop it at the end."""
    loop, ready = asyncio.new_event_loop(), threading.Event()

    async def start() -> None:
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 20)
        server.port = listening.sockets[0].getsockname()[1]
        ready.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.create_task(start())
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def sending(content: bytes, *, reset: bool = False) -> Script:
    """Send some bytes, and close; or break the connection off."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()
        if reset:
            writer.transport.abort()

    return send


def dripping(content: bytes, *, seconds: float) -> Script:
    """Send byte after byte, so slowly that no single wait is long, and the whole has no end."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        for byte in content:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(seconds)

    return drip


def endless(head: bytes, part: bytes) -> Script:
    """Send the same again and again, as fast as it is read."""

    async def flood(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(part)
            await writer.drain()

    return flood


def http(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """An HTTP reply. A `length` below 0 leaves the header out."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close", *headers]
    if size >= 0:
        lines.append(f"Content-Length: {size}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def reply(content: object = "A", *, usage: object = None, **choice: object) -> bytes:
    """A reply of the chat API."""
    counted = {"prompt_tokens": 10, "completion_tokens": 2} if usage is None else usage
    message = {"role": "assistant", "content": content}
    return http(json.dumps({"choices": [{"message": message, **choice}], "usage": counted}).encode())


def bomb(size: int) -> bytes:
    """A packed reply of that many bytes when it is unpacked."""
    return http(gzip.compress(b'{"choices": [' + b" " * size, compresslevel=1), "Content-Encoding: gzip")
