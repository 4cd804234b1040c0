"""Prefect's SQLite database with queued transactions: each waits for its turn instead of failing.

Prefect begins its transactions DEFERRED. One that has read, and then writes after another one has written, is refused
at once (SQLITE_BUSY_SNAPSHOT, however long the timeout), and the server answers 503: a form that is submitted while a
run is under way, or a page that is open, fails now and then. IMMEDIATE transactions queue for Prefect's usual minute.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any

from prefect.server.database.configurations import AioSqliteConfiguration
from prefect.server.database.dependencies import temporary_database_config
from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncSession, AsyncSessionTransaction


class QueuedSqlite(AioSqliteConfiguration):
    """Prefect's SQLite configuration, with transactions that take the write lock when they begin."""

    @asynccontextmanager
    async def begin_transaction(
        self, session: AsyncSession, with_for_update: bool = False
    ) -> AsyncIterator[AsyncSessionTransaction]:
        """Begin a transaction with the write lock, with or without `with_for_update`."""
        async with super().begin_transaction(session, with_for_update=True) as transaction:
            yield transaction


def queue_writes() -> AbstractContextManager[Any]:
    """Let Prefect's server use queued transactions until the end of the context, if its database is SQLite."""
    address = str(PREFECT_API_DATABASE_CONNECTION_URL.value())
    if make_url(address).get_backend_name() != "sqlite":
        return nullcontext()
    return temporary_database_config(QueuedSqlite(connection_url=address))
