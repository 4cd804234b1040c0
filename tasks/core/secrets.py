"""Secrets: a configuration names them, the process that needs one reads it, and nothing keeps it."""

from __future__ import annotations

import os
import re
from functools import cache

from contrapose.tasks.core.errors import ConfigError

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BLOCK = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SCHEME = "secret://"
"""How the value of an environment variable begins that names a Prefect Secret block."""
USER = re.compile(r"([A-Za-z0-9+.-]+)://([^/\s]*)@")
"""Where an address names a user: its scheme and what stands before the host."""
SECRET_PART = re.compile(r"[?&;#](?:sig|auth|[^=&;#]*(?:signature|token|key|secret|password|passwd|pwd))=[^&;#]", re.I)
"""A part of a query that is named as secrets are, with a value."""


def from_environment(name: str, *, where: str) -> str:
    """The text of an environment variable, empty where it is not set.

    Args:
        name: of the variable.
        where: the setting that names it.

    Raises:
        ConfigError: it is no name.
    """
    _refuse_value(name, VARIABLE, where, expected="the name of an environment variable, such as OPENAI_API_KEY")
    return os.environ.get(name, "").strip()


def from_block(name: str, *, where: str) -> str:
    """The text of a Prefect Secret block, asked of the Prefect server.

    It is read anew each time, so that a changed secret counts at once, and in each process, so that it never travels.

    Args:
        name: of the block.
        where: the setting that names it.

    Raises:
        ConfigError: it is no name, there is no such block, it holds no text, or the server cannot be asked.
    """
    value = read_block(name, where=where)
    if not isinstance(value, str):
        raise _unusable(name, "holds no text", where, "Put the secret itself into it, as text.")
    return value.strip()


def read_block(name: str, *, where: str) -> object:
    """What a Prefect Secret block holds, which is no empty text; as `from_block` for one that may hold more than text.

    Raises:
        ConfigError: as `from_block`.
    """
    _refuse_value(name, BLOCK, where, expected="the name of a Prefect Secret block: lower case, digits and dashes")
    from prefect.client.orchestration import get_client
    from prefect.exceptions import ObjectNotFound

    try:
        with get_client(sync_client=True) as client:
            value: object = client.read_block_document_by_name(name, "secret").data.get("value")
    except ObjectNotFound:
        raise _unusable(name, "does not exist", where, "Make it in the Prefect UI under Blocks, type Secret.") from None
    except Exception as error:
        # Its text may repeat what was read; the name of its class never does.
        observed = f"cannot be read ({type(error).__name__})"
        raise _unusable(
            name, observed, where, "See that the Prefect server can be reached: contrapose doctor."
        ) from None
    if value is None or (isinstance(value, str) and not value.strip()):
        raise _unusable(name, "holds no text", where, "Put the secret itself into it, as text.")
    return value


def resolved(value: str, *, where: str) -> str:
    """A value as it is, or the text of the block that it names as `secret://<block>`, read once a process.

    Raises:
        ConfigError: the block cannot be used.
    """
    return _once(value.removeprefix(SCHEME), where) if value.startswith(SCHEME) else value


@cache
def _once(name: str, where: str) -> str:
    return from_block(name, where=where)


def holds_password(address: str) -> bool:
    """Whether an address, or a part of a chain such as `zip://a.csv::https://…`, holds what only its owner may know.

    That is a user with a password, any user of a web address, whose name may be a token, or a part of a query that is
    called so, such as the signature of a signed address.
    """
    users = (match.groups() for match in USER.finditer(address))
    named = any(scheme.lower() in ("http", "https") or ":" in user for scheme, user in users)
    return named or ("://" in address and SECRET_PART.search(address) is not None)


def without_user(text: str) -> str:
    """An address, or a text with addresses in it, without their users and passwords: it can be shown."""
    return USER.sub(r"\1://", text)


def _refuse_value(name: str, names: re.Pattern[str], where: str, *, expected: str) -> None:
    if not names.fullmatch(name):
        # It is not shown: somebody may have put the secret where its name belongs.
        raise ConfigError(
            "what stands there is no name",
            expected=expected,
            remedy="Name where the secret is kept; never write it down here.",
            where=where,
        )


def _unusable(name: str, observed: str, where: str, remedy: str) -> ConfigError:
    return ConfigError(
        f"Prefect Secret block {name!r} {observed}", expected="a block that holds text", remedy=remedy, where=where
    )
