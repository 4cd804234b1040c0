"""Call file servers: retry if a server does not answer, but not if it refuses."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import fsspec

from contrapose.tasks.core.damage import is_disk_full, warn
from contrapose.tasks.core.errors import ConfigError, ContraposeError, CutShortError

R = TypeVar("R")

PATIENCE_SECONDS = 60.0
"""How long a server that does not answer is asked again."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""Seconds between two tries; each pause is twice the one before."""
CONNECT_SECONDS, READ_SECONDS = 10, 30
"""How long a server may take until it is connected, and between two parts of an answer."""
SURE = (
    *(FileNotFoundError, PermissionError, FileExistsError, IsADirectoryError, NotADirectoryError),
    *(ContraposeError, ValueError, TypeError, AttributeError, ImportError, NotImplementedError),
)
"""Errors that another try would not change."""
PACKAGES = {"smbclient": "smbprotocol"}
"""Modules that fsspec imports, to the packages that bring them where these are called otherwise."""
CREDENTIALS = ("Credential", "Authentication", "RefreshError", "ParamValidation", "InvalidRegion", "ProfileNotFound")
"""Parts of the names of libraries' own errors of which the same is true."""


def find_missing_package(error: BaseException) -> str:
    """Return the package that fsspec cannot import, or an empty text if the error does not name it."""
    module = str(getattr(error.__cause__ or error, "name", None) or "")
    return PACKAGES.get(module, module)


def make_time_limits(address: str) -> dict[str, dict[str, Any]]:
    """Return fsspec's options by scheme that stop waiting for a silent server; the user's configuration wins."""
    chosen: dict[str, dict[str, Any]] = {}
    for scheme in ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "http", "https"):
        if f"{scheme}://" not in address:
            continue
        options: dict[str, Any]
        if scheme.startswith("s3"):
            # s3fs itself asks several times.
            waits = {"connect_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS, "retries": {"max_attempts": 0}}
            options = {"config_kwargs": waits}
        elif scheme.startswith("a"):
            options = {"connection_timeout": CONNECT_SECONDS, "read_timeout": READ_SECONDS}
        else:
            from aiohttp import ClientTimeout

            limit = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=READ_SECONDS)
            options = {"requests_timeout": limit} if scheme.startswith("g") else {"client_kwargs": {"timeout": limit}}
        configured = fsspec.config.conf.get(scheme, {})
        # Some options hold others.
        within = {name: {**options[name], **configured[name]} for name in ("config_kwargs",) if name in configured}
        chosen[scheme] = options | configured | within
    return chosen


def ask_with_retries(ask: Callable[[], R], *, where: str) -> R:
    """Call a file server, and retry while it may only be unreachable for a moment; the first retry logs a warning.

    Raises FileNotFoundError, ConfigError if the server refuses, or CutShortError if it does not answer.
    """
    begun, pause = time.monotonic(), FIRST_PAUSE
    while True:
        try:
            return ask()
        except (FileNotFoundError, ContraposeError):
            raise
        except Exception as error:
            name = type(error).__name__
            if is_disk_full(error) or isinstance(error, SURE) or any(part in name for part in CREDENTIALS):
                raise refusal_error(where, error) from error
            waited = time.monotonic() - begun
            if waited + pause > PATIENCE_SECONDS:
                raise CutShortError(
                    f"no answer within {max(waited, PATIENCE_SECONDS):.0f} s ({name})",
                    expected="a server that answers",
                    remedy="When it is back, run the same command again to continue; what was answered is not "
                    "asked again.",
                    where=where,
                ) from error
            if pause == FIRST_PAUSE:
                warn(f"{where} does not answer ({name}); it is asked again for {PATIENCE_SECONDS:.0f} s")
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def refusal_error(where: str, error: Exception) -> ConfigError:
    """Return the error that a file server refuses a request or cannot be called."""
    # The text of a library's error may hold what nobody else should read.
    remedy = "Correct the address, its permissions or the credentials in the environment"
    remedy = "Make room there" if is_disk_full(error) else remedy
    return ConfigError(
        f"it cannot be used ({type(error).__name__})",
        expected="a place that may be read and written",
        remedy=f"{remedy}; run the same command again to continue.",
        where=where,
    )
