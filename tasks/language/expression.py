"""Regular expressions that are compiled when first used, because most commands use few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Uncompiled:
    """Placeholder for a compiled expression; its first use compiles it."""

    def __init__(self, text: str, flags: int) -> None:
        self._made_of = (text, flags)

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._made_of)
        for attribute in dir(compiled):
            if not attribute.startswith("_"):
                setattr(self, attribute, getattr(compiled, attribute))
        return getattr(compiled, name)


def expression(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when first used: call its methods, not functions of `re`."""
    return cast("re.Pattern[str]", _Uncompiled(text, flags))


def expressions(*texts: str) -> tuple[re.Pattern[str], ...]:
    """Return one expression for each text."""
    return tuple(map(expression, texts))
