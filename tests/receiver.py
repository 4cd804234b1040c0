"""A receiver of webhooks on loopback, in a thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from small_server import Asked, answering


@dataclass
class Receiver:
    """Where it listens, and what it was sent."""

    statuses: list[int]
    """Of its answers, in order; 200 after the last."""
    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)


@contextmanager
def receiving(statuses: Sequence[int] = (), *, location: str = "") -> Iterator[Receiver]:
    """Start it on a free port; stop it at the end.

    Args:
        statuses: of its answers.
        location: where it sends those on whom it redirects.
    """
    receiver = Receiver(statuses=list(statuses))

    def answer(asked: Asked) -> None:
        receiver.bodies.append(asked.read())
        receiver.headers.append(dict(asked.headers))
        status = receiver.statuses.pop(0) if receiver.statuses else 200
        asked.reply(status=status, headers={"Location": location})

    with answering(answer) as url:
        receiver.url = f"{url}/hook"
        yield receiver
