"""What to do while a database does not answer, or never does."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sqlalchemy.exc import OperationalError, SQLAlchemyError

from contrapose.tasks.errors import ContraposeError
from contrapose.tasks.infer.store.address import shown
from contrapose.tasks.infer.store.engine import told

TRIES = 5
FIRST_WAIT = 0.5


Method = TypeVar("Method", bound=Callable[..., Any])


def patient(method: Method) -> Method:
    """A transaction that is tried again where the database was away, or ended one of two that met.

    The method's object has the database as `engine`.

    Raises:
        ContraposeError: it cannot be used.
    """

    @wraps(method)
    def tried(self: Any, *args: Any, **kwargs: Any) -> Any:
        for number in range(1, TRIES + 1):
            try:
                return method(self, *args, **kwargs)
            except SQLAlchemyError as error:
                if number == TRIES or not isinstance(error, OperationalError):
                    raise ContraposeError(
                        f"the response store cannot be used ({told(error)})",
                        expected="a database that can be reached, with room for more answers",
                        remedy="Mend it, or name another one in CONTRAPOSE_STORE; what was kept stays.",
                        where=shown(self.engine.url.render_as_string(hide_password=False)),
                    ) from error
                time.sleep(FIRST_WAIT * number)
        raise AssertionError("unreachable")

    return cast(Method, tried)
