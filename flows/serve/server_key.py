"""Login key of a local Prefect server: kept in a file while the server runs, so that other commands find it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from contrapose.flows.serve.guard import NAMES
from contrapose.tasks.core.bounds import call_with_timeout
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.secrets import remove_credentials

KEY = "PREFECT_API_AUTH_STRING"
"""Environment variable: the key that every Prefect client brings."""

ADDRESS = "PREFECT_API_URL"
"""Environment variable: the server that is used."""


def find_key_file(port: int) -> Path:
    """Return the file that keeps the key of the server on a port of this machine."""
    # Imported here: it brings the libraries of tables, which a command that only looks for a key does without.
    from contrapose.tasks.core.home import home_folder

    return home_folder() / "ui" / f"{port}.key"


@contextmanager
def keep_key(key: str, port: int) -> Iterator[Path]:
    """Keep a key in a file until the end of the context, readable by its owner alone."""
    path = find_key_file(port)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # One that a killed server left goes first: what is opened is new, and has these rights from the start.
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(key)
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink()


def read_kept_key(url: str | None) -> str:
    """Return the key of the server at a URL; "" if no server of this home runs there."""
    try:
        parts = urlsplit(url or "")
        port = parts.port
    except ValueError:
        return ""
    if parts.hostname not in NAMES or port is None:
        return ""
    with suppress(OSError, UnicodeDecodeError):
        return find_key_file(port).read_text(encoding="utf-8")
    return ""


def bring_key() -> None:
    """Set the key of the server that the environment names, for this process and its children.

    A key that the user has set stays.
    """
    if KEY not in os.environ and (key := read_kept_key(os.environ.get(ADDRESS))):
        os.environ[KEY] = key


def bring_key_as_configured() -> None:
    """Set the key of a server that only Prefect's own configuration names, such as a profile."""
    if lacking := find_lacking_key():
        use_in_process(lacking)


ANSWER_SECONDS = 30.0
"""Seconds that a Prefect server may take to answer."""


def refuse_silent_server(*, temporary: bool = False) -> None:
    """Raise ConfigError if the Prefect server that is named, if any, does not answer.

    `temporary`: a temporary server would do as well.
    """
    from prefect import get_client
    from prefect.settings import PREFECT_API_URL

    def check_health() -> None:
        with get_client(sync_client=True) as client:
            client.api_healthcheck()

    if url := PREFECT_API_URL.value():
        try:
            call_with_timeout(check_health, ANSWER_SECONDS)
        except TimeoutError:
            raise ConfigError(
                f"the Prefect server at {remove_credentials(str(url))} did not answer within {ANSWER_SECONDS:.0f} s",
                expected="a server that answers",
                remedy=f"Start it again, or correct PREFECT_API_URL{', or unset it' if temporary else ''}. "
                "Run the same command again to continue.",
            ) from None


def find_lacking_key() -> dict[str, str]:
    """Return the setting of the key that the configured server asks for and Prefect lacks; "" for none."""
    from prefect.settings import get_current_settings

    api = get_current_settings().api
    key = read_kept_key(api.url) if api.auth_string is None else ""
    return {KEY: key} if key else {}


def use_in_process(settings: Mapping[str, str]) -> None:
    """Set Prefect's settings in this process and its children; only for a command's own process."""
    from prefect.context import refresh_global_settings_context

    os.environ.update(settings)
    refresh_global_settings_context()
