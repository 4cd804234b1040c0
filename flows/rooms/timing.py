"""How long each room took."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from time import monotonic
from typing import Concatenate, ParamSpec, TypeVar, cast

from contrapose.flows.entrance import Run
from contrapose.flows.orchestration.at_work import at_work

P = ParamSpec("P")
R = TypeVar("R")


def timed(room: Callable[Concatenate[Run, P], R]) -> Callable[Concatenate[Run, P], R]:
    """A room that notes in `Run.timings` how long it took, and is told of at a terminal."""

    @wraps(room)
    def inside(run: Run, *args: P.args, **kwargs: P.kwargs) -> R:
        start = monotonic()
        try:
            with at_work(room.__name__):
                return room(run, *args, **kwargs)
        finally:
            run.timings[room.__name__] = round(monotonic() - start, 3)

    return cast(Callable[Concatenate[Run, P], R], inside)
