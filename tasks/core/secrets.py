"""Secrets: a configuration names them, the process that needs one reads it, and nothing stores it."""

from __future__ import annotations

import os
import re
from functools import cache

from contrapose.tasks.core.errors import ConfigError

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BLOCK = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SCHEME = "secret://"
"""Begins the value of an environment variable that names a Prefect Secret block."""
USER = re.compile(r"([A-Za-z0-9+.-]+)://([^/\s]*)@")
"""The user in an address: its scheme and what stands before the host."""
ADDRESS = re.compile(r"""[A-Za-z0-9+.-]+://[^/\s'"]\S*""")
"""An address with a server in it, and what stands behind it; a file's, such as `sqlite:///a.db`, has none."""
SECRET_PART = re.compile(r"[?&;#](?:sig|auth|[^=&;#]*(?:signature|token|key|secret|password|passwd|pwd))=[^&;#]", re.I)
"""A part of a query that is named as secrets are, with a value."""


def read_environment_secret(name: str, *, where: str) -> str:
    """Return the text of an environment variable, empty if it is not set, or raise ConfigError for an invalid name."""
    _refuse_value(name, VARIABLE, where, expected="the name of an environment variable, such as OPENAI_API_KEY")
    return os.environ.get(name, "").strip()


def read_secret_block(name: str, *, where: str) -> str:
    """Return the text of a Prefect Secret block from the Prefect server, or raise ConfigError.

    It is read anew each time, so that a changed secret counts at once, and in each process, so that it never travels.
    """
    value = read_block(name, where=where)
    if not isinstance(value, str):
        raise _block_error(name, "holds no text", where, "Put the secret itself into it, as text.")
    return value.strip()


def read_block(name: str, *, where: str) -> object:
    """Return the value of a Prefect Secret block of any type, as `read_secret_block` does for texts."""
    _refuse_value(name, BLOCK, where, expected="the name of a Prefect Secret block: lower case, digits and dashes")
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    try:
        with get_client(sync_client=True) as client:
            value: object = client.read_block_document_by_name(name, "secret").data.get("value")
    except ObjectNotFound:
        remedy = "Make it in the Prefect UI under Blocks, type Secret."
        raise _block_error(name, "does not exist", where, remedy) from None
    except Exception as error:
        # Its text may repeat what was read; the name of its class never does.
        observed = f"cannot be read ({type(error).__name__})"
        remedy = "See that the Prefect server can be reached: contrapose doctor."
        raise _block_error(name, observed, where, remedy) from None
    if value is None or (isinstance(value, str) and not value.strip()):
        raise _block_error(name, "holds no text", where, "Put the secret itself into it, as text.")
    return value


def resolve_secret(value: str, *, where: str) -> str:
    """Return a value unchanged, or the text of the block in `secret://<block>`, which is read once in a process."""
    return _read_once(value.removeprefix(SCHEME), where=where) if value.startswith(SCHEME) else value


_read_once = cache(read_secret_block)


def holds_password(address: str) -> bool:
    """Return whether an address, or a part of a chain such as `zip://a.csv::https://…`, contains a secret.

    That is a user with a password, any user of a web address, whose name may be a token, or a part of a query that is
    called so, such as the signature of a signed address.
    """
    users = (match.groups() for match in USER.finditer(address))
    named = any(scheme.lower() in ("http", "https") or ":" in user for scheme, user in users)
    return named or ("://" in address and SECRET_PART.search(address) is not None)


def remove_credentials(text: str) -> str:
    """Return an address, or a text with addresses, without users and passwords, so that it can be shown."""
    return USER.sub(r"\1://", text)


def remove_addresses(text: str) -> str:
    """Return a text of another library in one line, without server addresses, because these may contain secrets."""
    return " ".join(ADDRESS.sub("…", text).split())


def _refuse_value(name: str, names: re.Pattern[str], where: str, *, expected: str) -> None:
    """Raise ConfigError if a value is not a valid name."""
    if not names.fullmatch(name):
        # It is not shown: somebody may have put the secret where its name belongs.
        raise ConfigError(
            "it is not a valid name",
            expected=expected,
            remedy="Write the name of a variable or a Secret block, such as MY_KEY, never the secret itself.",
            where=where,
        )


def _block_error(name: str, observed: str, where: str, remedy: str) -> ConfigError:
    """Return the error about a block."""
    return ConfigError(
        f"Prefect Secret block {name!r} {observed}", expected="a block that holds text", remedy=remedy, where=where
    )
