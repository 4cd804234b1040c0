"""HTTP client over aiohttp: returns the complete reply within limits of time and size, or raises an error."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

from contrapose.tasks.config.hosts import open_socket

if TYPE_CHECKING:
    import yarl
    from multidict import CIMultiDict

LARGEST = 4 << 20
"""Bytes of a reply, unpacked: 128 for each token of the longest reply that a configuration may ask for."""
NEVER = aiohttp.ClientTimeout(total=None, sock_connect=None)
"""The limit is over the complete exchange, below."""


def find_proxy(address: str) -> str | None:
    """Return the proxy that the environment names for an address, or None if it names none."""
    url = urlsplit(address)
    if url.hostname is None or proxy_bypass(url.hostname):
        return None
    proxies = getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


class ReplyTooLargeError(ValueError):
    """Raised if a reply is longer than the size limit."""


class HttpReply(NamedTuple):
    """A complete HTTP reply."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    content: bytes


async def read_limited(stream: asyncio.StreamReader | aiohttp.StreamReader) -> bytes:
    """Return all bytes of a stream, or raise ReplyTooLargeError."""
    parts, size = [], 0
    while part := await (stream.readany() if isinstance(stream, aiohttp.StreamReader) else stream.read(1 << 16)):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise ReplyTooLargeError(f"a reply of more than {LARGEST >> 20} MiB")
    return b"".join(parts)


class HttpClient:
    """One aiohttp session; its errors are raised unchanged.

    Whatever a server does, a request ends: its time and the size of its reply are bounded here, and nowhere else.
    """

    def __init__(self, address: str) -> None:
        # Looked up once: aiohttp's own `trust_env` reads environment and netrc again for every request.
        self._proxy = find_proxy(address)
        self._secure = "https:" in f"{address} {self._proxy}"
        self._session: aiohttp.ClientSession | None = None

    async def exchange(
        self, method: str, url: yarl.URL, headers: CIMultiDict[str], body: bytes, *, seconds: float
    ) -> HttpReply:
        """Send a request, and read the complete reply."""
        if self._session is None:
            # Made by the first request, within its event loop. How many requests run at a time is decided above.
            connector = aiohttp.TCPConnector(
                limit=0, ssl=not self._secure or httpx2.create_ssl_context(), socket_factory=open_socket
            )
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        requested = self._session.request(
            method,
            url,
            headers=headers,
            data=body or None,
            skip_auto_headers=("User-Agent",),
            timeout=NEVER,
            proxy=self._proxy,
            allow_redirects=False,
        )
        async with asyncio.timeout(seconds), requested as reply:
            # The content is decompressed already: a reader of the headers must not try again.
            kept = [(name, value) for name, value in reply.raw_headers if name.lower() != b"content-encoding"]
            return HttpReply(reply.status, kept, await read_limited(reply.content))

    async def close(self) -> None:
        """Close the session and its connections."""
        if self._session is not None:
            await self._session.close()
