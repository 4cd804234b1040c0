"""Tasks: find unread replies, evaluate and judge."""

from __future__ import annotations

from typing import Any, TypedDict

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.outcome import DataSummary, Outcome
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.records import FollowUp, TextSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.embeddings import embedder
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.scoring import calibrated, controls_in, follow_ups, score_trials
from contrapose.tasks.evaluate.summarise import kinds_of, scored, skipped, summarise
from contrapose.tasks.tables.columnar import batched
from contrapose.tasks.tables.passages import came_with_passages, tells_of_passages
from contrapose.tasks.tables.results import schema_for
from contrapose.tasks.tables.table import ROWS, Table, column_names, iterate, joined, write, write_arrow

PROBE = {"probes": "{plan.test}"}
"""The code of the test's probe is found by its name."""


class Unread(TypedDict):
    """What the model is to be asked about some replies."""

    questions: Table
    """About those that could not be read."""
    checks: Table
    """About those that rules read, for a test to draw from."""


@room_task("evaluate", by_name=PROBE, run_name="evaluate {plan.test}")
def evaluate(plan: Plan, trials: list[Table], model: str, embedding_model: str, embedding_revision: str) -> Table:
    """Score the trials of one test, which come in the order of their cases.

    The revision, which is what the name of the embedding model stands for now, counts in the cache key alone.
    """
    embed = embedder(embedding_model)
    plan = calibrated(plan, controls_in(trials), embed=embed)
    records = (trial for table in trials for trial in iterate(table, Trial))
    passages = any(map(came_with_passages, trials))
    parts = (
        score_trials(portion, plan, model=model, embed=embed, passages=passages) for portion in batched(records, ROWS)
    )
    return write_arrow(parts, schema_for(probe(plan.test), passages=passages))


@room_task("calibrate", by_name=PROBE, run_name="calibrate {plan.test}")
def calibrate(plan: Plan, trials: list[Table], embedding_model: str, embedding_revision: str) -> dict[str, Any]:
    """The settings of a test with its thresholds taken from all controls, where its trials are scored in portions.

    The revision, which is what the name of the embedding model stands for now, counts in the cache key alone.
    """
    chosen = calibrated(plan, controls_in(trials), embed=embedder(embedding_model))
    settings: dict[str, Any] = chosen.model_dump(mode="json")["settings"]
    return settings


@room_task("join results", by_name={"probes": "{test}"}, run_name="join results of {test}")
def join_results(test: str, results: list[Table]) -> Table:
    """The results of one test, which were scored in portions, in one table."""
    passages = any(tells_of_passages(column_names(table)) for table in results)
    return joined(results, schema_for(probe(test), passages=passages))


@room_task("find unread replies", by_name=PROBE, run_name="find unread replies of {plan.test}")
def find_unread(plan: Plan, trials: Table, embedding_model: str, embedding_revision: str) -> Unread:
    """Questions about the replies whose choice neither rules nor embeddings can read, and some that check the model.

    The revision, which is what the name of the embedding model stands for now, counts in the cache key alone.
    """
    portions = batched(iterate(trials, Trial), ROWS)
    questions = list(follow_ups(portions, plan, embed=embedder(embedding_model)))
    return Unread(
        questions=write((question for question in questions if question.known is None), FollowUp),
        checks=write((question for question in questions if question.known is not None), FollowUp),
    )


@room_task("judge", by_name=PROBE, run_name="judge {plan.test}")
def judge(plan: Plan, cases: Table, results: Table, data: DataSummary, rules: Rules) -> Outcome:
    """Count, rate and judge one test, by all its cases, the skipped ones too, and its results."""
    left = skipped(cases)
    kinds = kinds_of(cases) if len(left) and probe(plan.test).sample_type is TextSample else {}
    return summarise(scored(results, plan.test), left, plan, data=data, rules=rules, kinds=kinds)
