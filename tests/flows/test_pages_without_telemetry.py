"""Prefect's pages reach this machine alone, whatever they try."""

from __future__ import annotations

import asyncio
from typing import Any

from contrapose.flows.serve.prefect_app import without_telemetry


async def application(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"page"})


def policy_of_a_page() -> dict[str, list[str]]:
    """Sources that the policy of a page allows, by what is loaded."""
    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    asyncio.run(without_telemetry(application, 4200)({"type": "http"}, None, keep))  # type: ignore[arg-type]
    headers = dict(sent[0]["headers"])
    assert headers[b"content-type"] == b"text/html"
    rules = headers[b"content-security-policy"].decode().split("; ")
    return {rule.split()[0]: rule.split()[1:] for rule in rules}


def test_a_page_sends_nothing_elsewhere_and_loads_no_script_from_there() -> None:
    policy = policy_of_a_page()
    assert {"connect-src", "script-src", "worker-src", "frame-src"} == set(policy)
    sources = {source for allowed in policy.values() for source in allowed}
    here = {"'self'", "'unsafe-inline'", "'unsafe-eval'", "blob:", "data:"}
    assert sources - here == {"ws://127.0.0.1:4200", "ws://localhost:4200"}
