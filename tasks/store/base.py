"""What every part of the store shares: receipts of its changes, and what to do while a database does not answer."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from contrapose.tasks.core.errors import ContraposeError, CutShortError
from contrapose.tasks.store.engine import file_of, is_damage, is_full, shown, without_address
from contrapose.tasks.store.opening import heal, receipts_of
from contrapose.tasks.store.receipts import to_line
from contrapose.tasks.store.replay import applied

TRIES = 5
FIRST_WAIT = 0.5
LONGEST_WAIT = 5.0
AWAY_SECONDS = 300.0
"""How long a server that was there may be away: its restart takes minutes. A file that fails seldom mends itself."""

_away: WeakKeyDictionary[Engine, float] = WeakKeyDictionary()
"""Since when a database has not answered: whoever asks it next waits with the others, not as long again."""

Method = TypeVar("Method", bound=Callable[..., Any])


class AwayError(ContraposeError):
    """The database did not answer; it may come back."""


class StorePart:
    """A part of the store.

    Args:
        engine: a database with the tables of `schema`.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.reading = engine.execution_options(reading=True)
        self.receipts = receipts_of(url_of(engine))
        """Of a SQLite file, those of all changes that cost something; of a server, of what it did not take."""
        self.has_receipts = file_of(url_of(engine)) is not None

    def record(self, connection: Connection, *entries: Mapping[str, Any]) -> None:
        """Write receipts of what a transaction has changed, before it ends.

        Raises:
            CutShortError: they cannot be written.
        """
        if not self.has_receipts:
            return
        now = time.time()
        try:
            written = self.receipts.append([to_line({"at": now, **entry}) for entry in entries])
        except OSError as error:
            raise unwritten(error, self.engine) from error
        applied(connection, self.receipts, written)


def put(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """The receipt of a row that was inserted, or that replaced another one."""
    return {"do": "put", "table": table, "row": dict(row)}


def change(table: str, by: str, of: Collection[str], **values: object) -> dict[str, Any]:
    """The receipt of a change of rows, which one column tells."""
    return {"do": "change", "table": table, "by": by, "of": list(of), "values": values}


def patient(method: Method) -> Method:
    """A transaction that is tried again where the database was away, damaged, or ended one of two that met.

    The method is one of a `StorePart`.

    Raises:
        AwayError: it did not answer for long.
        CutShortError: it has no room; told at once.
        ContraposeError: it cannot be used.
    """

    @wraps(method)
    def tried(self: Any, *args: Any, **kwargs: Any) -> Any:
        longest = 0 if self.engine.dialect.name == "sqlite" else AWAY_SECONDS
        number = 0
        while True:
            number += 1
            began = time.monotonic()
            try:
                returned = method(self, *args, **kwargs)
            except SQLAlchemyError as error:
                if not _healed(self.engine, error, number):
                    _refuse_hopeless(self.engine, error)
                    since = _away.setdefault(self.engine, began)
                    if number >= TRIES and time.monotonic() >= since + longest:
                        raise _unusable(AwayError, error, self.engine) from error
            else:
                _away.pop(self.engine, None)
                return returned
            time.sleep(min(FIRST_WAIT * number, LONGEST_WAIT))

    return cast(Method, tried)


def _healed(engine: Engine, error: SQLAlchemyError, number: int) -> bool:
    """Whether a store was damaged, and is made anew now; tried twice, the second time whatever SQLite says of it."""
    path = file_of(url_of(engine))
    if path is None or not is_damage(error) or number > 2:
        return False
    heal(path, url_of(engine), anyway=number == 2)
    # Connections that are in use are exchanged when they are used next.
    engine.dispose()
    return True


def _refuse_hopeless(engine: Engine, error: SQLAlchemyError) -> None:
    """Raise an error that waiting does not help against."""
    if is_full(error, file_of(url_of(engine))):
        raise _unusable(CutShortError, error, engine) from error
    if not isinstance(error, OperationalError):
        raise _unusable(ContraposeError, error, engine) from error


def url_of(engine: Engine) -> str:
    """The address of a database, with its password."""
    return engine.url.render_as_string(hide_password=False)


def _unusable(kind: type[ContraposeError], error: SQLAlchemyError, engine: Engine) -> ContraposeError:
    return kind(
        f"the response store cannot be used ({without_address(error)})",
        expected="a database that can be reached, with room for more answers",
        remedy="Mend it, or name another one in CONTRAPOSE_STORE; what was kept stays.",
        where=shown(url_of(engine)),
    )


def unwritten(error: OSError, engine: Engine) -> CutShortError:
    """What to say where no receipt can be written."""
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return CutShortError(
        "the disk of the response store is full"
        if is_full
        else f"no receipt of an answer can be written beside the response store ({error.strerror})",
        expected="a folder that can be written to, with room for more answers",
        remedy="Make room, or name another store in CONTRAPOSE_STORE; what was kept stays.",
        where=shown(url_of(engine)),
    )
