"""Response store: a database of all paid answers, of questions being asked, of runs, and of promotion decisions."""

from __future__ import annotations

from functools import partial


class Store:
    """The store named by the environment; its parts share one database. Raises ConfigError if it cannot be opened."""

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
        """How each model's endpoint must be asked for letters."""
        self.housekeeping = Housekeeping(engine)
        """Maintenance of the answers."""
        self.looks = LookTable(engine)
        """Looks after which a verdict was still open."""
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
