"""A webhook whose receiver can tell who sent it, when, and whether it was sent before."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from contrapose.tasks.errors import ContraposeError

HEADER = "X-Contrapose-Signature"
"""`t=<Unix time>,v1=<HMAC-SHA256 of "<Unix time>.<body>", in hexadecimal>`."""
DELIVERY = "X-Contrapose-Delivery"
"""The same for every try, and after a crash: a receiver that has seen it has been told."""
TRIES = 3
WAIT = 2.0
"""Seconds before the second try; twice as long before the third."""
TIMEOUT = 10.0
TOLERANCE = 300
"""Seconds that a receiver lets the time of a signature and its own clock differ."""


def signature(body: bytes, secret: str, *, at: int) -> str:
    """The value of the header for a body that is sent at a Unix time."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


def genuine(body: bytes, header: str, secret: str, *, now: float, tolerance: float = TOLERANCE) -> bool:
    """Whether a body was signed with the secret, and not too long ago: for receivers.

    Args:
        body: raw, as it came.
        header: value of `X-Contrapose-Signature`.
        secret: which both sides know.
        now: Unix time.
        tolerance: in seconds.
    """
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    moment = parts.get("t", "")
    if not (moment.isascii() and moment.isdecimal() and len(moment) < 16 and abs(now - int(moment)) <= tolerance):
        return False
    return hmac.compare_digest(
        header.encode("utf-8", "surrogatepass"), signature(body, secret, at=int(moment)).encode()
    )


def send(url: str, body: bytes, *, secret: str, delivery: str, pause: Callable[[float], None] = time.sleep) -> None:
    """Post a JSON body, three times at most; redirects are not followed.

    Raises:
        ContraposeError: nobody has taken it.
    """
    for number in range(1, TRIES + 1):
        found, worth = _try(url, body, secret=secret, delivery=delivery)
        if not found:
            return
        if number == TRIES or not worth:
            raise ContraposeError(
                f"the webhook was not taken ({found})",
                expected=f"an answer with a status of 200 to 299 within {TIMEOUT:.0f} s",
                remedy="Mend the receiver, and announce the model again: the verdict stays, only this is repeated.",
                where=urlsplit(url).hostname or "webhook",
            )
        pause(WAIT * number)


def _try(url: str, body: bytes, *, secret: str, delivery: str) -> tuple[str, bool]:
    """What went wrong, empty where nothing did, and whether another try may help."""
    headers = {
        "Content-Type": "application/json",
        HEADER: signature(body, secret, at=int(time.time())),
        DELIVERY: delivery,
    }
    # The settings refuse other schemes than http and https.
    request = Request(url, data=body, headers=headers, method="POST")  # noqa: S310
    try:
        with build_opener(_Direct()).open(request, timeout=TIMEOUT):
            return "", False
    except HTTPError as error:
        error.close()
        return f"status {error.code}", error.code >= 500 or error.code in (408, 425, 429)
    except (OSError, HTTPException) as error:
        cause = getattr(error, "reason", None)
        return type(cause if isinstance(cause, Exception) else error).__name__, True


class _Direct(HTTPRedirectHandler):
    """A redirect is an answer like any other: what is signed for one address is not handed to another."""

    def redirect_request(self, *_: Any) -> None:
        """None: do not follow."""
