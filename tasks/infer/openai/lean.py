"""The HTTP client under the official one: straight to aiohttp, without the layers that a run of prompts never uses.

The client's own aiohttp transport spends more time in URL, header, cookie and redirect objects than in the request.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import yarl
from multidict import CIMultiDict

from contrapose.tasks.infer.asking.http import HttpClient

LONGEST = 10.0
"""Seconds for a request of the official client's own, which asks whether anybody is there."""
ENCODINGS = {"Accept-Encoding": "gzip, deflate"}
"""What is unpacked without further libraries."""


class LeanClient(httpx2.AsyncClient):
    """Sends what the official client has built; errors of aiohttp pass through it unchanged."""

    def __init__(self, base_url: str) -> None:
        # The transport is never used; naming one keeps a second set of certificates from being read.
        super().__init__(transport=httpx2.AsyncBaseTransport(), trust_env=False, timeout=None, headers=ENCODINGS)
        self.http = HttpClient(base_url)
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
        received = await self.http.exchange(request.method, url, headers, request.content, seconds=LONGEST)
        return httpx2.Response(received.status, headers=received.headers, content=received.content, request=request)

    async def aclose(self) -> None:
        """Close the session and its connections."""
        await super().aclose()
        await self.http.close()
