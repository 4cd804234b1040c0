"""Names of flow runs: made from their parameters, unless a person set a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from prefect.context import FlowRunContext


def make_namer(describe: Callable[[Mapping[str, Any]], str]) -> Callable[[], str]:
    """Return the function with which Prefect names a flow run; `describe` makes the name from the parameters.

    A name that somebody gave stays, such as by `prefect deployment run --flow-run-name`.
    """

    def choose_name() -> str:
        context = FlowRunContext.get()
        if context is None or context.flow_run is None:
            return "run"
        if not is_generated(context.flow_run.name):
            return str(context.flow_run.name)
        return " ".join(describe(context.parameters or {}).split())

    return choose_name


def is_generated(name: str) -> bool:
    """Return True if Prefect generated a name from two words of its list, such as `brave-otter`."""
    words = name.split("-")
    return len(words) == 2 and all(word in _read_words() for word in words)


@cache
def _read_words() -> frozenset[str]:
    from coolname.data import config

    parts: Mapping[str, Any] = config
    return frozenset(word for part in parts.values() for word in part.get("words", ()))
