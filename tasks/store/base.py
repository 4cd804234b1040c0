"""Base class of the store's parts: writes receipts of changes, and retries while the database does not answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine, Executable, Row
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from contrapose.tasks.core.damage import is_disk_full
from contrapose.tasks.core.errors import ContraposeError, CutShortError
from contrapose.tasks.store.engine import (
    get_store_file,
    get_url,
    is_damage,
    is_out_of_space,
    pack_keys,
    remove_address,
    remove_password,
)
from contrapose.tasks.store.opening import open_receipts, rebuild_damaged
from contrapose.tasks.store.replay import note_receipts

TRIES = 5
FIRST_WAIT = 0.5
LONGEST_WAIT = 5.0
ANOTHER = "stored answers stay. Or name another store in CONTRAPOSE_STORE, which begins without them."
AWAY_SECONDS = 300.0
"""How long a server that was there may be away: its restart takes minutes. A file that fails seldom recovers."""

_away: WeakKeyDictionary[Engine, float] = WeakKeyDictionary()
"""Since when a database has not answered: a caller that asks it next waits with the others, not as long again."""

Method = TypeVar("Method", bound=Callable[..., Any])


class DatabaseAwayError(ContraposeError):
    """The database did not answer; a later try may succeed."""


def retry_transaction(method: Method) -> Method:
    """Decorate a `StorePart` method: retry its transaction after lost connections, damage or a deadlock.

    Raises DatabaseAwayError if it stays down, CutShortError at once if it has no room, or ContraposeError.
    """

    @wraps(method)
    def retried(self: Any, *args: Any, **kwargs: Any) -> Any:
        engine = self.engine
        longest = 0 if engine.dialect.name == "sqlite" else AWAY_SECONDS
        attempt = 0
        while True:
            attempt += 1
            began = time.monotonic()
            try:
                returned = method(self, *args, **kwargs)
            except SQLAlchemyError as error:
                path = get_store_file(get_url(engine))
                if path is not None and is_damage(error) and attempt <= 2:
                    # The second time whatever SQLite says of the file.
                    rebuild_damaged(path, get_url(engine), anyway=attempt == 2)
                    # Connections that are in use are exchanged when they are used next.
                    engine.dispose()
                elif is_out_of_space(error, path):
                    raise _make_unusable_error(CutShortError, error, engine) from error
                elif not isinstance(error, OperationalError):
                    raise _make_unusable_error(ContraposeError, error, engine) from error
                elif attempt >= TRIES and time.monotonic() >= _away.setdefault(engine, began) + longest:
                    raise _make_unusable_error(DatabaseAwayError, error, engine) from error
                else:
                    _away.setdefault(engine, began)
            else:
                _away.pop(engine, None)
                return returned
            time.sleep(min(FIRST_WAIT * attempt, LONGEST_WAIT))

    return cast(Method, retried)


class StorePart:
    """A part of the store, in a database with the tables of `schema`."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self.reading = engine.execution_options(reading=True)
        self.receipts = open_receipts(get_url(engine))
        """Of a SQLite file, those of all changes that cost something; of a server, of what it did not take."""
        self.has_receipts = get_store_file(get_url(engine)) is not None

    def record(self, connection: Connection, *entries: Mapping[str, Any]) -> None:
        """Write receipts of what a transaction has changed, before it ends, or raise CutShortError."""
        if not self.has_receipts or not entries:
            return
        now = time.time()
        try:
            written = self.receipts.append([{"at": now, **entry} for entry in entries])
        except OSError as error:
            raise make_unwritten_error(error, self.engine) from error
        note_receipts(connection, self.receipts, written)

    def keys_parameter(self, keys: Iterable[str]) -> dict[str, object]:
        """Return the parameters of a statement with `keys_subquery`."""
        return pack_keys(self.dialect, keys)

    @retry_transaction
    def fetch(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        """Return all rows of a query."""
        with self.reading.begin() as connection:
            return connection.execute(statement, values).all()

    @retry_transaction
    def execute(self, statement: Executable, *receipts: Mapping[str, Any]) -> None:
        """Execute one change, with its receipts."""
        with self.engine.begin() as connection:
            connection.execute(statement)
            self.record(connection, *receipts)


def _make_unusable_error(kind: type[ContraposeError], error: SQLAlchemyError, engine: Engine) -> ContraposeError:
    return kind(
        f"the response store cannot be used ({remove_address(error)})",
        expected="a database that can be reached, with room for more answers",
        remedy=f"Fix it: {ANOTHER}",
        where=remove_password(get_url(engine)),
    )


def make_unwritten_error(error: OSError, engine: Engine) -> CutShortError:
    """Return the error for receipts that cannot be written."""
    full = is_disk_full(error)
    return CutShortError(
        "the disk of the response store is full"
        if full
        else f"receipts of answers cannot be written next to the response store ({error.strerror})",
        expected="a writable folder with room for more answers",
        remedy=f"{'Free some space' if full else 'Make that folder writable'}: {ANOTHER}",
        where=remove_password(get_url(engine)),
    )
