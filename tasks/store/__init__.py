"""The response store: every answer that was paid for, who is asking what, which runs ended, and what was decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contrapose.tasks.store.answers import AnswerTable
    from contrapose.tasks.store.calls import CallTable
    from contrapose.tasks.store.checks import Checks
    from contrapose.tasks.store.claims import Claims
    from contrapose.tasks.store.forms import FormTable
    from contrapose.tasks.store.housekeeping import Housekeeping
    from contrapose.tasks.store.runs import Runs


class Store:
    """The store that the environment names; its parts share one database, which a process opens once.

    Raises:
        ConfigError: it cannot be opened.
    """

    def __init__(self) -> None:
        from contrapose.tasks.store.engine import connect, store_url

        self._engine = connect(store_url())

    @property
    def answers(self) -> AnswerTable:
        """Answers by their keys."""
        from contrapose.tasks.store.answers import AnswerTable

        return AnswerTable(self._engine)

    @property
    def calls(self) -> CallTable:
        """The calls of runs."""
        from contrapose.tasks.store.calls import CallTable

        return CallTable(self._engine)

    @property
    def forms(self) -> FormTable:
        """In which form letters are asked."""
        from contrapose.tasks.store.forms import FormTable

        return FormTable(self._engine)

    @property
    def housekeeping(self) -> Housekeeping:
        """Care for the answers."""
        from contrapose.tasks.store.housekeeping import Housekeeping

        return Housekeeping(self._engine)

    @property
    def runs(self) -> Runs:
        """The runs."""
        from contrapose.tasks.store.runs import Runs

        return Runs(self._engine)

    def checks(self, *, flow_run: str) -> Checks:
        """Checks of retrained models, for a new owner who works in a flow run."""
        from contrapose.tasks.store.checks import Checks

        return Checks(self._engine, flow_run=flow_run)

    def claims(self, *, again: bool = False) -> Claims:
        """Claims of a new owner; `again`: to answered questions, too."""
        from contrapose.tasks.store.claims import Claims

        return Claims(self._engine, again=again)
