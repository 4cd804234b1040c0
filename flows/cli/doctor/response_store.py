"""The response store: reachable, of this version, and what it holds. Nothing is created in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from contrapose.flows.cli.doctor.base import DoctorFinding, ok, problem
from contrapose.tasks.core.bounds import within
from contrapose.tasks.core.errors import ContraposeError

NAME = "response store"


class Content(NamedTuple):
    """What a store holds."""

    answers: int
    megabytes: float
    unfinished: int
    """Runs that did not come to their end."""


def findings(_: object) -> Iterator[DoctorFinding]:
    """Where the store is, and what it holds."""
    from contrapose.tasks.store.engine import shown, store_url

    try:
        url = within(store_url)
        place = shown(url)
        content = None if _is_to_be_made(url) else within(lambda: _content(url))
    except TimeoutError as error:
        yield problem(NAME, str(error), "See that the database runs, or correct CONTRAPOSE_STORE.")
    except ContraposeError as error:
        yield problem(NAME, ": ".join(filter(None, (error.where, error.found))), error.remedy)
    else:
        yield _described(place, content)


def _is_to_be_made(url: str) -> bool:
    from sqlalchemy import make_url

    path = make_url(url).database if url.startswith("sqlite") else None
    return path is not None and not Path(path).is_file()


def _content(url: str) -> Content | None:
    """What is there; None where its tables are not."""
    from sqlalchemy import inspect

    from contrapose.tasks.store.engine import reach
    from contrapose.tasks.store.housekeeping import Housekeeping
    from contrapose.tasks.store.runs import Runs
    from contrapose.tasks.store.schema import ANSWERS, RUNS

    engine = reach(url)
    if not {ANSWERS.name, RUNS.name} <= set(inspect(engine.execution_options(reading=True)).get_table_names()):
        return None
    kept = Housekeeping(engine)
    return Content(
        answers=sum(entry.answers for entry in kept.held()),
        megabytes=kept.size() / 1_000_000,
        unfinished=len(Runs(engine).unfinished()),
    )


def _described(place: str, content: Content | None) -> DoctorFinding:
    from contrapose.tasks.text.wording import counted

    if content is None:
        return ok(NAME, f"{place}; the first run makes it")
    message = f"{place}, {counted('answers', content.answers)}, {content.megabytes:,.1f} MB"
    if not content.unfinished:
        return ok(NAME, message)
    return ok(
        NAME, f"{message}, {counted('unfinished runs', content.unfinished)}", "To go on with one: contrapose resume"
    )
