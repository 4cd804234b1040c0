"""Prefect's server as we start it: transactions of its SQLite wait, and its pages reach this machine alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prefect.server.database import dependencies
from prefect.server.database.configurations import AioSqliteConfiguration
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL, PREFECT_SERVER_API_PORT, temporary_settings
from sqlalchemy import text

from contrapose.flows.serve import prefect_app
from contrapose.flows.serve.queued_sqlite import QueuedSqlite


async def read_then_write(database: AioSqliteConfiguration, times: int) -> int:
    """Two writers, each of which reads before it writes; the sum that both have counted to."""
    engine = await database.engine()
    async with engine.begin() as setup:
        await setup.execute(text("CREATE TABLE counter (n INTEGER)"))
        await setup.execute(text("INSERT INTO counter VALUES (0)"))

    async def count() -> None:
        for _ in range(times):
            session = await database.session(engine)
            async with session, database.begin_transaction(session):
                now = (await session.execute(text("SELECT n FROM counter"))).scalar_one()
                await asyncio.sleep(0.01)
                await session.execute(text("UPDATE counter SET n = :n"), {"n": now + 1})

    await asyncio.gather(count(), count())
    async with engine.connect() as reader:
        counted = (await reader.execute(text("SELECT n FROM counter"))).scalar_one()
    await engine.dispose()
    return int(counted)


def test_transactions_wait_for_each_other(tmp_path: Path) -> None:
    queued = QueuedSqlite(connection_url=f"sqlite+aiosqlite:///{tmp_path}/queued.db")
    assert asyncio.run(read_then_write(queued, 5)) == 10


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, str]]]:
    """The port that was served, and the class of the database's configuration then."""
    seen: list[tuple[int, str]] = []

    def run(application: str, *, port: int, **_: object) -> None:
        assert application == f"{prefect_app.__name__}:{prefect_app.create.__name__}"
        configured = type(dependencies.MODELS_DEPENDENCIES["database_config"]).__name__
        seen.append((port, configured))

    monkeypatch.setattr("uvicorn.run", run)
    monkeypatch.setitem(dependencies.MODELS_DEPENDENCIES, "database_config", None)
    yield seen
    assert dependencies.MODELS_DEPENDENCIES["database_config"] is None


@pytest.mark.parametrize(
    ("url", "configured"),
    [
        ("sqlite+aiosqlite:////tmp/prefect.db", "QueuedSqlite"),
        ("postgresql+asyncpg://user:secret@localhost/prefect", "NoneType"),
    ],
)
def test_only_sqlite_is_queued(started: list[tuple[int, str]], url: str, configured: str) -> None:
    with temporary_settings({PREFECT_API_DATABASE_CONNECTION_URL: url, PREFECT_SERVER_API_PORT: 4711}):
        prefect_app.main()
    assert started == [(4711, configured)]


async def application(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"page"})


def policy_of_a_page() -> dict[str, list[str]]:
    """Sources that the policy of a page allows, by what is loaded."""
    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    asyncio.run(prefect_app.without_telemetry(application, 4200)({"type": "http"}, None, keep))  # type: ignore[arg-type]
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
