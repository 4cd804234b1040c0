"""The file of a store lies where it was as long as it is used, or is noticed to be gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError

from contrapose.tasks.core.damage import warn
from contrapose.tasks.store.repair import identity, make, restore


def watch(engine: Engine, path: Path) -> None:
    """See at each use of a connection that the file at an engine's path is still the one that it was opened on.

    A file that was deleted or replaced takes what is written to it along. So whatever the connection can still read is
    put where the store belongs, and all go on there.
    """

    @event.listens_for(engine, "do_connect")
    def see_that_it_is_there(*_: object) -> None:
        # SQLite itself would make an empty file.
        if not path.exists():
            make(path)

    @event.listens_for(engine, "connect")
    def remember(_: object, record: Any) -> None:
        record.info["file"] = identity(path)

    @event.listens_for(engine, "checkout")
    def compare(connection: Any, record: Any, _: object) -> None:
        if record.info["file"] == identity(path):
            return
        gone = not path.exists()
        answers = restore(connection, path)
        if gone:
            warn(f"the response store was deleted under way and made anew with all its {answers:,} answers: {path}")
        raise DisconnectionError("the file of the response store is another one now")
