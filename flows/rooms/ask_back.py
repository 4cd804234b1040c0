"""The model is asked about the replies that could not be read: which option do they choose?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from contrapose.flows.account import usage_summary
from contrapose.flows.entrance import Run
from contrapose.flows.progress import watched
from contrapose.flows.rooms.trials import Trials, terms
from contrapose.tasks.evaluate.embeddings import revision
from contrapose.tasks.evaluate.task import find_unread
from contrapose.tasks.infer.task import Asked, ask_about
from contrapose.tasks.plan import Plan
from contrapose.tasks.policy import call
from contrapose.tasks.report.artifacts import artifact_key
from contrapose.tasks.report.wording import spent
from contrapose.tasks.tables import Table


def ask_back(run: Run, trials: Mapping[str, Trials], *, stopped: str | None) -> dict[str, Trials]:
    """The trials, with what the model says of the replies whose choice neither rules nor embeddings can read.

    It comes after all other questions, so that it takes nothing from their budget. What is not answered leaves its
    reply unread, and no verdict incomplete: a warning tells how many there are.

    Args:
        run: the run.
        trials: of every test.
        stopped: why nothing more is to be asked, where asking was stopped.
    """
    unread = {plan.test: _unread(run, plan, trials[plan.test]) for plan in _asking(run)}
    total = sum(table["rows"] for tables in unread.values() for table in tables)
    key = f"{artifact_key(run.config.suite, run.config.model)}-asking-back"
    found = dict(trials)
    with watched(total, title="asking about unread replies", ended=lambda: spent(usage_summary(run)), key=key):
        for test, tables in unread.items():
            found[test], stopped = _about(run, test, trials[test], tables, stopped=stopped)
    return found


def _asking(run: Run) -> Iterator[Plan]:
    likelihoods = run.provider.likelihoods(run.spec)
    return (plan for plan in run.plans if plan.probe_settings.asks_back(likelihoods))


def _unread(run: Run, plan: Plan, trials: Trials) -> list[Table]:
    """Questions about the replies in each table of trials."""
    name = run.config.embedding_model
    model = {"embedding_model": name, "embedding_revision": revision(name)}
    again = run.config.refresh
    return [call(find_unread, refresh=again, plan=plan, trials=table, **model).value for table in trials.tables]


def _about(
    run: Run, test: str, trials: Trials, follow_ups: list[Table], *, stopped: str | None
) -> tuple[Trials, str | None]:
    """The trials of one test with the answers, and why asking was stopped, if it was."""
    tables, of_model, open_ = list(trials.tables), dict(trials.of_model), 0
    for place, questions in enumerate(follow_ups):
        if not questions["rows"]:
            continue
        label = f"{questions['rows']:,} replies of {test}"
        asked: Asked = call(
            ask_about, label=label, trials=tables[place], follow_ups=questions, stopped=stopped, **terms(run)
        ).value
        tables[place], stopped = asked["table"], asked["stopped"]
        open_ += questions["rows"] - asked["answered"]
        of_model = {**asked["warnings"], **of_model}
    warnings = [*trials.warnings, *_warnings(test, open_, follow_ups, stopped)]
    return replace(trials, tables=tables, warnings=warnings, of_model=of_model), stopped


def _warnings(test: str, missing: int, follow_ups: list[Table], stopped: str | None) -> list[str]:
    """That replies stay unread because the model was not asked about them, or failed to answer."""
    if not missing:
        return []
    total = sum(table["rows"] for table in follow_ups)
    why = stopped or "the calls failed"
    return [f"{test}: {missing:,} of {total:,} replies that could not be read were not asked about either: {why}."]
