"""A run of the infer stage at an endpoint that is adapted to: what becomes of its cases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.questions import Form
from contrapose.tasks.core.records import Case, Trial
from contrapose.tasks.infer.adapting import adapt_to_cases
from contrapose.tasks.infer.ask import ask
from contrapose.tasks.infer.base import Model
from contrapose.tasks.infer.broker import StoreBroker
from contrapose.tasks.infer.budget import Budget
from contrapose.tasks.infer.keys import Keys
from contrapose.tasks.infer.openai import OpenAI
from contrapose.tasks.store import Store

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Ran:
    """Outcome of a run."""

    trials: list[Trial]
    form: Form | None
    changes: Mapping[str, Any]
    warnings: dict[str, str]
    stopped: str | None
    run: str

    @property
    def answered(self) -> bool:
        return not any(reply.error for trial in self.trials for reply in (trial.expected, trial.actual))

    @property
    def held(self) -> list[bool]:
        return [each.constrained for trial in self.trials for each in (trial.expected, trial.actual)]

    @property
    def texts(self) -> set[str | None]:
        return {each.text for trial in self.trials for each in (trial.expected, trial.actual)}

    @property
    def counts(self) -> tuple[int, int, int]:
        """Requests, answers and failures in the store."""
        row = Store().runs.get(self.run)
        assert row is not None
        return row.requests, row.answers, row.failures


def run_cases(chosen: ModelSpec, cases: Sequence[Case], *, again: bool = False, budget: Budget | None = None,
              only_likelihoods: bool = False) -> Ran:  # fmt: skip
    """Do with some cases what the task does, in a run of their own."""
    name = Store().runs.begin("run", config="{}", folder=".")
    keys = Keys(chosen, {"revision": str(chosen.args["base_url"]), "max_tokens_field": "max_tokens"})
    broker = StoreBroker(keys, run=name, model=chosen.id, budget=budget or Budget(), again=again)
    opened = cache(lambda spec: OpenAI().open(ModelSpec.model_validate_json(spec)))

    def model() -> Model:
        return opened(broker.keys.spec.model_dump_json())

    with broker:
        settled = adapt_to_cases(cases, broker, model=model, provider=OpenAI(), only_likelihoods=only_likelihoods)
        trials = ask(settled.cases, broker, model=model, form=settled.form or "plain")
    changes, warnings = dict(settled.changes), broker.warnings
    return Ran(trials=trials, form=settled.form, changes=changes, warnings=warnings, stopped=broker.stopped, run=name)


def both_at_once(work: Callable[[int], Result]) -> list[Result]:
    """What two threads come to, which begin together and are numbered 0 and 1."""
    found: dict[int, Result] = {}

    def one(number: int) -> None:
        found[number] = work(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[0], found[1]]
