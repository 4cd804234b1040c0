"""What to do while a database does not answer, or never does."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from contrapose.tasks.core.errors import ContraposeError, CutShortError
from contrapose.tasks.store.engine import file_of, heal, is_damage, is_full, shown, without_address

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


def patient(method: Method) -> Method:
    """A transaction that is tried again where the database was away, damaged, or ended one of two that met.

    The method is one of a `StorePart`, or of whatever else has the database as `engine`.

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
                if not (_mended(self.engine, error) and number == 1):
                    _refuse_hopeless(self.engine, error)
                    since = _away.setdefault(self.engine, began)
                    if number >= TRIES and time.monotonic() >= since + longest:
                        raise _unusable(AwayError, error, self.engine) from error
            else:
                _away.pop(self.engine, None)
                return returned
            time.sleep(min(FIRST_WAIT * number, LONGEST_WAIT))

    return cast(Method, tried)


def _mended(engine: Engine, error: SQLAlchemyError) -> bool:
    """Whether a store was damaged, and is repaired now; one in which nothing is left is told as an error."""
    path = file_of(_url(engine))
    if path is None or not is_damage(error):
        return False
    if heal(path, _url(engine)) == 0:
        return False
    # Connections that are in use are exchanged when they are used next.
    engine.dispose()
    return True


def _refuse_hopeless(engine: Engine, error: SQLAlchemyError) -> None:
    """Raise an error that waiting does not help against."""
    if is_full(error, file_of(_url(engine))):
        raise _unusable(CutShortError, error, engine) from error
    if not isinstance(error, OperationalError):
        raise _unusable(ContraposeError, error, engine) from error


def _url(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def _unusable(kind: type[ContraposeError], error: SQLAlchemyError, engine: Engine) -> ContraposeError:
    return kind(
        f"the response store cannot be used ({without_address(error)})",
        expected="a database that can be reached, with room for more answers",
        remedy="Mend it, or name another one in CONTRAPOSE_STORE; what was kept stays.",
        where=shown(_url(engine)),
    )
