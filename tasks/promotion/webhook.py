"""Send a signed webhook, so that its receiver can verify sender and time and recognise repeats."""

from __future__ import annotations

import hashlib
import hmac
import os
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from contrapose.tasks.config.hosts import list_variable_entries, origin_of, parse_network, read_rule, refuse_inside
from contrapose.tasks.core.errors import ConfigError, ContraposeError

HEADER = "X-Contrapose-Signature"
"""`t=<Unix time>,v1=<HMAC-SHA256 of "<Unix time>.<body>", in hexadecimal>`."""
DELIVERY = "X-Contrapose-Delivery"
"""The same for every try, and after a crash: a receiver that has seen it has been told."""
HOSTS = "CONTRAPOSE_WEBHOOK_HOSTS"
"""Variable that names the hosts which may be called, and private networks that their names may lead to."""
TRIES = 3
WAIT = 2.0
"""Seconds before the second try; twice as long before the third."""
TIMEOUT = 10.0


def sign_body(body: bytes, secret: str, *, at: int) -> str:
    """Return the signature header of a body that is sent at a Unix time."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


def is_listed(url: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether an environment names the host of an address, or raise ConfigError if it names no host."""
    named = [
        entry
        for entry in list_variable_entries(HOSTS, environment)
        if not {"/", ":"} & {*entry} or parse_network(entry) is None
    ]
    rules, origin = [read_rule(entry, where=HOSTS) for entry in named], origin_of(url)
    return origin is not None and any(rule.allows(origin) for rule in rules)


def refuse_unlisted(url: str) -> None:
    """Raise ConfigError for an address on a host that the environment does not list."""
    origin = origin_of(url)
    if origin is None or not is_listed(url):
        raise ConfigError(
            f"{origin} is not among the hosts that a webhook may call",
            expected=f"a host that {HOSTS} names where the run takes place",
            remedy=f"If you intend this, set {HOSTS}={origin} there, or deploy it: contrapose deploy --webhook URL.",
            where="promotion.webhook",
        )
    try:
        addresses = _resolve_addresses(origin.host, origin.port)
    except OSError:
        # Nobody may know the name here but a proxy; where it must be known, calling it says so.
        return
    refuse_inside(origin.host, addresses, variable=HOSTS)


def refuse_unreachable(url: str) -> None:
    """Raise ConfigError or ContraposeError if an address accepts no connections; nothing is sent."""
    if (origin := origin_of(url)) is None:
        return
    try:
        _connect((origin.host, origin.port), TIMEOUT).close()
    except OSError as error:
        raise ContraposeError(
            f"no server accepts a connection ({error.strerror or type(error).__name__})",
            expected="the receiver of the webhook",
            remedy="Start it, or correct the address.",
            where=str(origin),
        ) from error


def deliver(url: str, body: bytes, *, secret: str, delivery: str, pause: Callable[[float], None] = time.sleep) -> None:
    """Post a JSON body, three times at most, or raise ConfigError or ContraposeError; redirects are not followed."""
    for number in range(1, TRIES + 1):
        headers = {
            "Content-Type": "application/json",
            HEADER: sign_body(body, secret, at=int(time.time())),
            DELIVERY: delivery,
        }
        # The settings refuse other schemes than http and https.
        request = Request(url, data=body, headers=headers, method="POST")  # noqa: S310
        try:
            with build_opener(_NoRedirects, _CheckedHosts).open(request, timeout=TIMEOUT):
                return
        except HTTPError as error:
            error.close()
            outcome, worth = f"status {error.code}", error.code >= 500 or error.code in (408, 425, 429)
        except (OSError, HTTPException) as error:
            cause = getattr(error, "reason", None)
            outcome, worth = type(cause if isinstance(cause, Exception) else error).__name__, True
        if number == TRIES or not worth:
            raise ContraposeError(
                f"the webhook was not taken ({outcome})",
                expected=f"an answer with a status of 200 to 299 within {TIMEOUT:.0f} s",
                remedy="Fix the receiver, and announce the model again: the verdict stays, only this call is repeated.",
                where=urlsplit(url).hostname or "webhook",
            )
        pause(WAIT * number)


def _resolve_addresses(host: str, port: int) -> list[str]:
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def _connect(address: tuple[str, int], *options: Any) -> socket.socket:
    """Connect to a public address that was checked, so that it cannot change between check and use."""
    host, port = address
    addresses = _resolve_addresses(host, port)
    refuse_inside(host.lower(), addresses, variable=HOSTS)
    for number, host_address in enumerate(addresses, start=1):
        try:
            return socket.create_connection((host_address, port), *options)
        except OSError:
            if number == len(addresses):
                raise
    raise OSError(f"{host} has no address")


def _check_hosts(kind: type[HTTPConnection], request: Request) -> Callable[..., HTTPConnection]:
    """Return a factory of connections that check the host; a proxy of the environment resolves names itself."""

    def make(host: str, **options: Any) -> HTTPConnection:
        connection = kind(host, **options)
        if not (request.has_proxy() or getattr(request, "_tunnel_host", None)):
            # Where http.client connects; it has been so since Python 3.4.
            connection._create_connection = _connect  # type: ignore[attr-defined]
        return connection

    return make


class _CheckedHosts(HTTPSHandler, HTTPHandler):
    """Handler of HTTP and HTTPS connections that checks the host."""

    def http_open(self, request: Request) -> HTTPResponse:
        """Called by the opener."""
        return self.do_open(_check_hosts(HTTPConnection, request), request)

    def https_open(self, request: Request) -> HTTPResponse:
        """Called by the opener."""
        context = ssl.create_default_context()
        return self.do_open(_check_hosts(HTTPSConnection, request), request, context=context)


class _NoRedirects(HTTPRedirectHandler):
    """Handler that follows no redirect, because a body is signed for one address only."""

    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect."""
