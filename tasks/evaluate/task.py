"""Prefect tasks of the evaluate stage: find unread replies, score trials, decide the verdict of each test."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypedDict

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.config.plan import Plan
from contrapose.tasks.core.outcome import DataSummary, Outcome
from contrapose.tasks.core.policy import room_task
from contrapose.tasks.core.records import FollowUp, TextSample, Trial
from contrapose.tasks.core.registry import probe
from contrapose.tasks.evaluate.embeddings import make_embedder
from contrapose.tasks.evaluate.gate import Rules
from contrapose.tasks.evaluate.reruns import Reruns, simulate_reruns
from contrapose.tasks.evaluate.scoring import calibrate_plan, read_controls, score_trials, yield_follow_ups
from contrapose.tasks.evaluate.summarise import summarise
from contrapose.tasks.probes.answers.answer_probe import classify_text_form
from contrapose.tasks.tables.columnar import split_batches
from contrapose.tasks.tables.passages import COMPARED, has_known_passages, has_passage_columns
from contrapose.tasks.tables.results import list_figure_columns, make_result_schema
from contrapose.tasks.tables.table import (
    ROWS,
    Table,
    batches,
    iterate,
    join_tables,
    list_column_names,
    read_arrow,
    write,
    write_arrow,
)
from contrapose.tasks.text.cleaning import cut_text

PROBE = {"probes": "{plan.test}"}
"""The code of the test's probe is found by its name."""
SCORED_BY = ("regex", "scipy", "sentence-transformers", "torch")
"""Packages that find marks in replies, and compute divergences and embeddings."""


class Unread(TypedDict):
    """Questions to the reader model about replies of one test."""

    questions: Table
    """About those that could not be read."""
    checks: Table
    """About those that rules read, for a test to draw from."""


@room_task("evaluate", by_name=PROBE, rests_on=SCORED_BY, run_name="evaluate {plan.test}")
def evaluate(plan: Plan, trials: list[Table], model: str, embedding_model: str, embedding_revision: str) -> Table:
    """Score the trials of one test, which come in the order of their cases."""
    embed = make_embedder(embedding_model)
    plan = calibrate_plan(plan, read_controls(trials), embed=embed)
    records = (trial for table in trials for trial in iterate(table, Trial))
    passages = any(map(has_known_passages, trials))
    parts = (
        score_trials(portion, plan, model=model, embed=embed, passages=passages)
        for portion in split_batches(records, ROWS)
    )
    return write_arrow(parts, make_result_schema(probe(plan.test), passages=passages))


@room_task("calibrate", by_name=PROBE, rests_on=SCORED_BY, run_name="calibrate {plan.test}")
def calibrate(plan: Plan, trials: list[Table], embedding_model: str, embedding_revision: str) -> dict[str, Any]:
    """Return a test's settings with thresholds from all its controls, for a test that is scored in portions."""
    chosen = calibrate_plan(plan, read_controls(trials), embed=make_embedder(embedding_model))
    settings: dict[str, Any] = chosen.model_dump(mode="json")["settings"]
    return settings


@room_task("join results", by_name={"probes": "{test}"}, run_name="join results of {test}")
def join_results(test: str, results: list[Table]) -> Table:
    """Join the results of a test that was scored in portions into one table."""
    passages = any(has_passage_columns(list_column_names(table)) for table in results)
    return join_tables(results, make_result_schema(probe(test), passages=passages))


@room_task("find unread replies", by_name=PROBE, rests_on=SCORED_BY, run_name="find unread replies of {plan.test}")
def find_unread(plan: Plan, trials: Table, embedding_model: str, embedding_revision: str) -> Unread:
    """Return questions about replies that rules and embeddings cannot read, and some that check the reader model."""
    portions = split_batches(iterate(trials, Trial), ROWS)
    questions = list(yield_follow_ups(portions, plan, embed=make_embedder(embedding_model)))
    return Unread(
        questions=write((question for question in questions if question.known is None), FollowUp),
        checks=write((question for question in questions if question.known is not None), FollowUp),
    )


class Judged(TypedDict):
    """The outcome of one test, and the verdicts of its simulated reruns."""

    outcome: Outcome
    reruns: Reruns | None
    """None where no case was asked."""


@room_task("judge", by_name=PROBE, rests_on=("scipy",), run_name="judge {plan.test}")
def judge(plan: Plan, cases: Table, results: Table, data: DataSummary, rules: Rules) -> Judged:
    """Return the outcome of one test from its cases, skipped ones too, and its results; simulate reruns."""
    left = read_skipped_cases(cases)
    kinds = count_kinds(cases) if len(left) and probe(plan.test).sample_type is TextSample else {}
    figures = read_scored(results, plan.test)
    outcome = summarise(figures, left, plan, data=data, rules=rules, kinds=kinds)
    if outcome["unscored"] and (example := find_unscored(results)):
        outcome["unscored_example"] = example
    return Judged(outcome=outcome, reruns=simulate_reruns(figures, plan, rules))


EXAMPLE = 120
"""Characters of each reply in an example."""


def find_unscored(results: Table) -> tuple[str, str] | None:
    """Return both replies of the first case that was answered and could not be scored, or None if all are empty."""
    for part in batches(results, columns=["expected_result", "actual_result", "error", "control", *DECIDING]):
        passed, undecided = (part[name] for name in DECIDING)
        open_ = pc.and_(pc.is_null(part["error"]), pc.or_kleene(pc.is_null(passed), undecided))
        rows = part.filter(pc.and_(open_, pc.invert(part["control"]))).select(["expected_result", "actual_result"])
        for before, after in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            if before or after:
                return cut_text(before or "", EXAMPLE), cut_text(after or "", EXAMPLE)
    return None


def read_figures(results: Table, test: str) -> pa.Table:
    """Return the results of a test without texts and names; reasons only of cases that could not be scored."""
    parts = batches(results, columns=_list_figure_names(results, test))
    return pa.concat_tables(map(_without_reasons, parts))


def read_scored(results: Table, test: str) -> pd.DataFrame:
    """Return the figures of a test as a data frame, read column by column to save memory."""

    def column(name: str) -> pa.ChunkedArray:
        if name != "reason":
            return read_arrow(results, columns=[name])[name]
        parts = map(_without_reasons, batches(results, columns=[name, *DECIDING]))
        return pa.concat_tables(part.select([name]) for part in parts)[name]

    return pd.DataFrame({name: column(name).to_pandas() for name in _list_figure_names(results, test)}, copy=False)


def _list_figure_names(results: Table, test: str) -> list[str]:
    passages = COMPARED if has_passage_columns(list_column_names(results)) else ()
    return [*list_figure_columns(probe(test)), "reason", *passages]


DECIDING = ("pass", "undecided")
"""Columns that decide which rows keep their reasons."""


def _without_reasons(part: pa.Table) -> pa.Table:
    """Drop the reasons of scored rows to save memory."""
    place = part.schema.get_field_index("reason")
    passed, undecided = (part[name] for name in DECIDING)
    silent = pc.or_kleene(pc.is_null(passed), undecided)
    kept = pc.if_else(silent, part["reason"], pa.scalar(None, pa.string()))
    return part.set_column(place, part.schema.field(place), kept)


def read_skipped_cases(cases: Table) -> pd.DataFrame:
    """Return `sample_id` and `skip_reason` of the cases that were skipped."""
    parts = batches(cases, columns=["sample_id", "skip_reason"])
    kept = pa.concat_tables(part.filter(pc.is_valid(part["skip_reason"])) for part in parts)
    return pd.DataFrame(kept.to_pandas())


def count_kinds(cases: Table) -> dict[str, tuple[int, int]]:
    """Count samples by kind of text: those with asked cases, and all."""
    asked, all_ = Counter[str](), Counter[str]()
    last = None
    for part in batches(cases, columns=["sample_id", "original", "skip_reason", "control"]):
        rows = zip(*(part[name].to_pylist() for name in part.column_names), strict=True)
        for sample, text, reason, control in rows:
            # All cases of a sample stand together.
            if control or sample == last:
                continue
            last, kind = sample, classify_text_form(text).replace("true or false", "question")
            all_[kind] += 1
            asked[kind] += reason is None
    return {kind: (asked[kind], count) for kind, count in all_.most_common()}
