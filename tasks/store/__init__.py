"""The response store: every answer that was paid for, who is asking what, which runs ended, and what was decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contrapose.tasks.store.engine import connect, store_url

if TYPE_CHECKING:
    from contrapose.tasks.store.answers import AnswerTable
    from contrapose.tasks.store.calls import CallTable
    from contrapose.tasks.store.checks import Checks
    from contrapose.tasks.store.claims import Claims
    from contrapose.tasks.store.forms import FormTable
    from contrapose.tasks.store.housekeeping import Housekeeping
    from contrapose.tasks.store.runs import Runs

__all__ = [
    "open_answers",
    "open_calls",
    "open_checks",
    "open_claims",
    "open_forms",
    "open_housekeeping",
    "open_runs",
]


def open_answers() -> AnswerTable:
    """The answers in the store that the environment names.

    Raises:
        ConfigError: it cannot be opened.
    """
    from contrapose.tasks.store.answers import AnswerTable

    return AnswerTable(connect(store_url()))


def open_calls() -> CallTable:
    """The calls of runs in that store.

    Raises:
        ConfigError: it cannot be opened.
    """
    from contrapose.tasks.store.calls import CallTable

    return CallTable(connect(store_url()))


def open_checks(*, flow_run: str) -> Checks:
    """Checks of retrained models in that store, for a new owner who works in a flow run.

    Raises:
        ConfigError: it cannot be opened.
    """
    from contrapose.tasks.store.checks import Checks

    return Checks(connect(store_url()), flow_run=flow_run)


def open_claims(*, again: bool = False) -> Claims:
    """Claims of a new owner in that store; `again`: to answered questions, too.

    Raises:
        ConfigError: it cannot be opened.
    """
    from contrapose.tasks.store.claims import Claims

    return Claims(connect(store_url()), again=again)


def open_forms() -> FormTable:
    """In which form letters are asked, in that store.

    Raises:
        ConfigError: it cannot be opened.
    """
    from contrapose.tasks.store.forms import FormTable

    return FormTable(connect(store_url()))


def open_housekeeping() -> Housekeeping:
    """Care for the answers in that store.

    Raises:
        ConfigError: it cannot be opened.
    """
    from contrapose.tasks.store.housekeeping import Housekeeping

    return Housekeeping(connect(store_url()))


def open_runs() -> Runs:
    """The runs in that store.

    Raises:
        ConfigError: it cannot be opened.
    """
    from contrapose.tasks.store.runs import Runs

    return Runs(connect(store_url()))
