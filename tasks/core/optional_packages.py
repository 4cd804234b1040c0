"""Packages that are installed only where somebody asked for them: the extras of pyproject.toml."""

from __future__ import annotations

from importlib.util import find_spec

from contrapose.tasks.core.errors import ConfigError


def require(package: str, *, extra: str, where: str) -> None:
    """Refuse a setting whose package is not installed; the package is not imported.

    Args:
        package: as it is imported.
        extra: of contrapose, which installs it.
        where: the setting, or its value, that asks for it.

    Raises:
        ConfigError: it is not installed.
    """
    if find_spec(package) is None:
        raise ConfigError(
            f"the package {package} is not installed",
            expected=f"it, which {where} needs",
            remedy=f'Install it with pip install "contrapose[{extra}]".',
            where=where,
        )
