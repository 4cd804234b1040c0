"""Trials of every test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from contrapose.flows.account import usage_summary
from contrapose.flows.entrance import Run
from contrapose.flows.orchestration.progress import watched
from contrapose.flows.rooms.ask_back import ask_back
from contrapose.flows.rooms.timing import timed
from contrapose.flows.rooms.trials import Trials, terms
from contrapose.tasks.core.policy import call
from contrapose.tasks.infer.chunks import chunks, questions_in
from contrapose.tasks.infer.task import Asked
from contrapose.tasks.infer.task import infer as infer_task
from contrapose.tasks.report.artifacts import artifact_key
from contrapose.tasks.tables.table import Table
from contrapose.tasks.text.wording import spent

SILENT = (
    "{test}: {silent:,} of {replies:,} replies have no text. A reasoning model that is cut off while it thinks writes "
    "none: raise gen_kwargs.max_new_tokens."
)


@timed
def infer(run: Run, cases: Mapping[str, Table]) -> dict[str, Trials]:
    """Trials of every test, chunk by chunk. The response store keeps each answer as it comes."""
    answered = {plan.test: Trials(tables=[], asked=0, unasked=0, stopped=None, notes={}) for plan in run.plans}
    stopped = None
    total, title = sum(map(questions_in, cases.values())), f"asking {run.config.model}"
    key = f"{artifact_key(run.config.suite, run.config.model)}-progress"
    with watched(total, title=title, ended=lambda: spent(usage_summary(run)), key=key):
        for plan in run.plans:
            for chunk in chunks(plan.test, cases[plan.test], run.provider.cases_per_task):
                asked: Asked = call(
                    infer_task, label=chunk.label, cases=chunk.table, terms=terms(run), stopped=stopped
                ).value
                stopped = asked["stopped"]
                answered[plan.test] = _add(answered[plan.test], asked)
    return ask_back(run, {test: _told(test, each) for test, each in answered.items()}, stopped=stopped)


def _told(test: str, trials: Trials) -> Trials:
    """The trials of a test, with a warning where replies are empty: no verdict says by itself why it is none."""
    if not trials.silent:
        return trials
    return replace(trials, warnings=[SILENT.format(test=test, silent=trials.silent, replies=2 * trials.asked)])


def _add(trials: Trials, asked: Asked) -> Trials:
    return Trials(
        tables=[*trials.tables, asked["table"]],
        asked=trials.asked + asked["table"]["rows"],
        unasked=trials.unasked + asked["unasked"],
        stopped=asked["stopped"],
        notes={**trials.notes, **asked["notes"]},
        silent=trials.silent + asked["silent"],
        of_model={**asked["warnings"], **trials.of_model},
    )
