"""Response store: every paid answer, the questions being asked, finished runs, and decisions."""

from __future__ import annotations

from functools import partial


class Store:
    """The store that the environment names, or ConfigError; its parts share one database, opened once a process."""

    def __init__(self) -> None:
        # Imported here: most who import this module never open the store.
        from contrapose.tasks.store.answers import AnswerTable
        from contrapose.tasks.store.checks import Checks
        from contrapose.tasks.store.claims import Claims
        from contrapose.tasks.store.engine import store_url
        from contrapose.tasks.store.findings import FormTable, LookTable
        from contrapose.tasks.store.housekeeping import Housekeeping
        from contrapose.tasks.store.opening import connect
        from contrapose.tasks.store.prompts import PromptTable
        from contrapose.tasks.store.runs import CallTable, Runs
        from contrapose.tasks.store.teams import Teams

        engine = connect(store_url())
        self.answers = AnswerTable(engine)
        """Answers by their keys."""
        self.calls = CallTable(engine)
        """The calls of runs."""
        self.forms = FormTable(engine)
        """In which form letters are asked."""
        self.housekeeping = Housekeeping(engine)
        """Care for the answers."""
        self.looks = LookTable(engine)
        """By which cases verdicts were left open."""
        self.prompts = PromptTable(engine)
        """Questions that were written into batch files, and the batches."""
        self.runs = Runs(engine)
        """The runs."""
        self.teams = Teams(engine)
        """Portions that are asked at the same time."""
        self.checks = partial(Checks, engine)
        """Checks of retrained models, for a new owner who works in a flow run."""
        self.claims = partial(Claims, engine)
        """Claims of a new owner; `again`: to answered questions, too."""
