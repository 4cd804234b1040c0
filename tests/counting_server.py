"""A server on loopback that counts every request, whatever its path, and keeps the headers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from small_server import Asked, answering


@dataclass
class Counting:
    """Where it listens, and what it was asked."""

    port: int = 0
    redirects_to: str = ""
    """The address that every answer points to; empty: none does."""
    only_methods: tuple[str, ...] = ("GET", "POST")
    """Which requests are redirected."""
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request."""
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """As `base_url` takes it."""
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def counting(*, redirects_to: str = "", only_methods: tuple[str, ...] = ("GET", "POST")) -> Iterator[Counting]:
    """Start it on a free port; stop it at the end."""
    seen = Counting(redirects_to=redirects_to, only_methods=only_methods)

    def answer(asked: Asked) -> None:
        asked.read()
        seen.asked.append((asked.command, asked.path))
        seen.headers.append({name.lower(): value for name, value in asked.headers.items()})
        redirected = seen.redirects_to and asked.command in seen.only_methods
        asked.reply(
            b'{"data": [], "object": "list", "choices": [{"message": {"content": "A"}}]}',
            status=307 if redirected else 200,
            headers={"Content-Type": "application/json", **({"Location": seen.redirects_to} if redirected else {})},
        )

    with answering(answer) as url:
        seen.port = urlsplit(url).port or 0
        yield seen
