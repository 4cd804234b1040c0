"""Where the response store is, and how that is shown: without its password."""

from __future__ import annotations

import os

from contrapose.tasks.config.secrets import resolved
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.tables.table import home


def store_url() -> str:
    """`CONTRAPOSE_STORE`, or SQLite in the user's cache.

    It is an address such as `postgresql+psycopg://user:password@host/name`, or `secret://<block>`, a Prefect Secret
    block that holds one.

    Raises:
        ConfigError: the block cannot be used.
    """
    named = resolved(os.environ.get("CONTRAPOSE_STORE", ""), where="CONTRAPOSE_STORE")
    return named or f"sqlite:///{home() / 'answers.sqlite3'}"


def shown(url: str) -> str:
    """A store's address without its password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        # A query may hold a password, too.
        address = make_url(url).set(query={})
    except (ArgumentError, ValueError):
        return "CONTRAPOSE_STORE"
    return "CONTRAPOSE_STORE" if _misread(address.host) else address.render_as_string(hide_password=True)


def refuse_unreadable(url: str) -> None:
    """Refuse an address that is taken apart in the wrong places: its errors would show parts of the password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        readable = not _misread(make_url(url).host)
    except (ArgumentError, ValueError):
        readable = False
    if not readable:
        raise ConfigError(
            "the address of the response store cannot be read",
            expected="sqlite:///path or postgresql+psycopg://user:password@host/name",
            remedy="Correct the environment variable CONTRAPOSE_STORE; in a password write @ as %40 and : as %3A.",
            where="CONTRAPOSE_STORE",
        )


def _misread(host: str | None) -> bool:
    return "@" in (host or "")
