"""Regular expressions that are compiled at first use, since most commands use few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Uncompiled:
    """Stands in for a compiled expression, and becomes one with its first use."""

    def __init__(self, text: str, flags: int) -> None:
        self._made_of = (text, flags)

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._made_of)
        for attribute in dir(compiled):
            if not attribute.startswith("_"):
                setattr(self, attribute, getattr(compiled, attribute))
        return getattr(compiled, name)


def expression(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like that of `re.compile`, compiled at its first use, where a mistake in the text raises.

    Functions of `re` that take a compiled expression do not take this one: call its methods.
    """
    return cast("re.Pattern[str]", _Uncompiled(text, flags))


def expressions(*texts: str) -> tuple[re.Pattern[str], ...]:
    """Return one expression for each text."""
    return tuple(map(expression, texts))
