"""The HTTP client under the official one: straight to aiohttp, without the layers that a run of prompts never uses.

The client's own aiohttp transport spends more time in URL, header, cookie and redirect objects than in the request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
import yarl
from multidict import CIMultiDict

Headers = Sequence[tuple[bytes, bytes]]

LARGEST = 4 << 20
"""Bytes of a reply, unpacked: 128 for each token of the longest reply that a configuration may ask for."""
LONGEST = 10.0
"""Seconds for a request of the official client's own, which asks whether anybody is there."""
NEVER = aiohttp.ClientTimeout(total=None, sock_connect=None)
"""The limit is over the whole exchange, below."""

ENCODINGS = {"Accept-Encoding": "gzip, deflate"}
"""What is unpacked without further libraries."""


def proxy_for(address: str) -> str | None:
    """The proxy that the environment names for an address; None where it names none."""
    url = urlsplit(address)
    if url.hostname is None or proxy_bypass(url.hostname):
        return None
    proxies = getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


class ReplyTooLargeError(ValueError):
    """A reply is longer than any that was asked for."""


class Received(NamedTuple):
    """A whole reply."""

    status: int
    headers: Headers
    content: bytes


async def _whole(reply: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    while part := await reply.content.readany():
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise ReplyTooLargeError(f"a reply of more than {LARGEST >> 20} MiB")
    return b"".join(parts)


class LeanClient(httpx2.AsyncClient):
    """One aiohttp session; errors of aiohttp pass through it unchanged.

    Whatever an endpoint does, a request ends: its time and the size of its reply are bounded here, and nowhere else.
    """

    def __init__(self, base_url: str) -> None:
        # The transport is never used; naming one keeps a second set of certificates from being read.
        super().__init__(transport=httpx2.AsyncBaseTransport(), trust_env=False, timeout=None, headers=ENCODINGS)
        # Looked up once: aiohttp's own `trust_env` reads environment and netrc again for every request.
        self._proxy = proxy_for(base_url)
        self._secure = "https:" in f"{base_url} {self._proxy}"
        self._session: aiohttp.ClientSession | None = None
        self._held: list[httpx2.Request] | None = None

    @contextmanager
    def holding(self) -> Iterator[list[httpx2.Request]]:
        """Keep requests of the official client instead of sending them; it takes each for answered."""
        self._held = []
        try:
            yield self._held
        finally:
            self._held = None

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """Send what the official client has built, and read the whole reply."""
        if self._held is not None:
            self._held.append(request)
            return httpx2.Response(200, request=request)
        headers = CIMultiDict(request.headers.multi_items())
        url = yarl.URL(str(request.url))
        received = await self.exchange(request.method, url, headers, request.content, seconds=LONGEST)
        return httpx2.Response(received.status, headers=received.headers, content=received.content, request=request)

    async def exchange(
        self, method: str, url: yarl.URL, headers: CIMultiDict[str], body: bytes, *, seconds: float
    ) -> Received:
        """Send a request, and read the whole reply.

        Raises:
            TimeoutError: it took longer, wherever it hung: before the headers, or in the middle of the body.
            ReplyTooLargeError: the reply is longer than `LARGEST`.
        """
        requested = self._opened().request(
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
            # The content is decompressed already; whoever reads the headers must not try again.
            kept = [(name, value) for name, value in reply.raw_headers if name.lower() != b"content-encoding"]
            return Received(reply.status, kept, await _whole(reply))

    async def aclose(self) -> None:
        """Close the session and its connections."""
        await super().aclose()
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        """Made by the first request, within its event loop."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # How many requests run at a time is decided above.
                connector=aiohttp.TCPConnector(limit=0, ssl=not self._secure or httpx2.create_ssl_context()),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session
