"""Versions of installed packages."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata


def installed_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the version of each package that is installed; nothing is imported."""
    installed = dict[str, str]()
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            installed[package] = metadata.version(package)
    return installed
