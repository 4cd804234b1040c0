"""Make result rows: the columns of results.parquet, with the names of the design documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from contrapose.tasks.core.records import CONTROL_KIND, Score, Trial
from contrapose.tasks.probes.base import Column, ColumnType, Probe, label_options, letters
from contrapose.tasks.probes.choices import MASSES
from contrapose.tasks.tables.passages import PASSAGES, make_passage_columns

COMMON: Mapping[str, Column] = {
    "test_type": Column("string", "Name of the test."),
    "category": Column("string", "What the test looks at, such as sensitivity."),
    "sample_id": Column("string", "The sample that the case was made from."),
    "case_id": Column("string", "The case; unique in a run."),
    "original": Column("string", "The unchanged text, raw.", holds_text=True),
    "test_case": Column("string", "The changed text, raw.", holds_text=True),
    "context": Column(
        "string", "What stands above the text in both prompts, raw; missing where nothing does.", holds_text=True
    ),
    "options": Column("string", "Options of the unchanged prompt, a line each; empty for open text.", holds_text=True),
    "expected_result": Column("string", "Reply to the unchanged prompt, raw.", holds_text=True),
    "actual_result": Column("string", "Reply to the changed prompt, raw.", holds_text=True),
    "eval_score": Column(
        "float",
        "The score, missing where there is none: 1 - cosine for `embedding`, nats for `loss` and `langtest_loss`, bits "
        "for `choice`, bad words for `count`, 1 or 0 for a choice that is right or not.",
        "depends on scorer",
    ),
    "pass": Column("bool", "Whether the case passed; missing where it has no score."),
    "reason": Column("string", "What decided, or why there is no score.", holds_text=True),
    "scorer": Column("string", "How the case was scored."),
    "model": Column("string", "Id of the model."),
    "probe_version": Column("string", "Version of the test that made and scored the case."),
    "expected_outcome": Column(
        "string",
        "What became of the reply to the unchanged prompt: answered, refused, "
        "moderated, cut_off, tool_call, malformed or error.",
    ),
    "actual_outcome": Column("string", "What became of the reply to the changed prompt."),
    "undecided": Column(
        "bool",
        "Whether the replies leave open whether the case passed, as one does that could not be read: a verdict holds "
        "whichever way it would have gone.",
    ),
    "chance": Column(
        "float", "Probability that a model passes which guesses; missing where nothing can be guessed.", "1"
    ),
    **MASSES,
    "control": Column("bool", "Whether it is a control, which keeps the meaning and counts apart."),
    "control_kind": Column("string", "How a control differs from the original, where there are several kinds."),
    "answer_known": Column("bool", "Whether the right answer is known."),
    "repeat": Column("int", "Which of several replies to the same prompts it is, from 0."),
    "changed": Column(
        "bool", "Whether the answer of a case differs from the one before; missing of controls, and where unknown."
    ),
    "before_pairs": Column("int", "Pairs of replies to the unchanged prompt that were compared, if asked again.", "1"),
    "before_changed": Column("int", "Those of them whose answers differ.", "1"),
    "after_pairs": Column("int", "Pairs of replies to the changed prompt that were compared.", "1"),
    "after_changed": Column("int", "Those of them whose answers differ.", "1"),
    "across_pairs": Column("int", "Pairs of a reply to each of the two prompts that were compared.", "1"),
    "across_changed": Column("int", "Those of them whose answers differ.", "1"),
    "wording": Column("int", "Number of the wording that asks it, from 1; missing where the test has one wording."),
    "confidence": Column("string", "How sure the change is to mean what it should: high or medium."),
    "slice": Column("string", "Value of the tag column."),
    "cluster": Column("string", "Cases that share it are not independent of each other."),
    "error": Column("string", "Why the model gave no answer; missing where it gave one."),
}
"""Columns that the results of every test have."""

TYPES: Mapping[ColumnType, pa.DataType] = {
    "string": pa.string(),
    "float": pa.float64(),
    "int": pa.int64(),
    "bool": pa.bool_(),
}

NAMES = frozenset({"test_type", "category", "case_id", "model", "probe_version"})
"""Columns that name a row or its test: no figure of one test is computed from them either."""


def has_verdict(results: pd.DataFrame) -> pd.Series:
    """Return which rows have a clear pass or fail; results of older versions have no column `undecided`."""
    known = results["pass"].notna() & results["error"].isna()
    return known & ~results["undecided"].eq(True) if "undecided" in results else known


def clusters_of(results: pd.DataFrame) -> np.ndarray:
    """Return a number for each row, equal for rows of the same cluster or sample, which are not independent; (rows,).

    A cluster may be named as a sample of another one is.
    """
    cluster, sample = (pd.factorize(results[name])[0] for name in ("cluster", "sample_id"))
    return np.where(cluster >= 0, cluster, len(results) + sample)


def count_unread_replies(results: pd.DataFrame) -> dict[str, int]:
    """Return the number of replies without an answer by outcome; empty for older versions, which lack the column."""
    counts = Counter[str]()
    for name in ("expected_outcome", "actual_outcome"):
        if name in results:
            counts.update(results.loc[results[name].notna() & results[name].ne("answered"), name])
    return dict(counts.most_common())


def make_result_schema(probe: Probe, *, passages: bool = False) -> pa.Schema:
    """Return the schema of results: common columns, the probe's own, and with `passages` those about passages."""
    return make_schema({**list_result_columns(probe), **(PASSAGES if passages else {})})


def make_schema(columns: Mapping[str, Column]) -> pa.Schema:
    """Return the Arrow schema of columns in their order."""
    return pa.schema([pa.field(name, TYPES[column.type]) for name, column in columns.items()])


def list_result_columns(probe: Probe) -> Mapping[str, Column]:
    """Return the columns of a test's results: the common ones, then the probe's own."""
    return {**COMMON, **probe.columns}


def list_figure_columns(probe: Probe) -> list[str]:
    """Return the columns that a test's figures are computed from, without texts and names."""
    return [name for name, column in list_result_columns(probe).items() if not column.holds_text and name not in NAMES]


def make_result_table(
    trials: Sequence[Trial],
    scores: Sequence[Score],
    *,
    probe: Probe,
    model: str,
    pairs: Sequence[Mapping[str, int]] = (),
    passages: bool = False,
) -> pa.Table:
    """Return a row for each trial of a test; a number that is not finite is stored as missing, never as NaN.

    `pairs`: for each trial the pairs of replies that were compared, by their columns; empty: none.
    `passages`: whether some trial of the test has any.
    """
    rows = [
        {"category": probe.category, "model": model, **_list_common_values(trial, score)}
        | {"changed": None if trial.case.control else probe.has_changed(score), **count}
        | _list_own_values(trial, score, probe.columns)
        for trial, score, count in zip(trials, scores, pairs or [{}] * len(trials), strict=True)
    ]
    columns = {name: [row.get(name) for row in rows] for name in list_result_columns(probe)}
    columns |= make_passage_columns(trials) if passages else {}
    schema = make_result_schema(probe, passages=passages)
    return pa.Table.from_arrays([_to_array(columns[field.name], field.type) for field in schema], schema=schema)


def _list_own_values(trial: Trial, score: Score, columns: Mapping[str, Column]) -> dict[str, Any]:
    """Return the values of a trial in the probe's own columns; without a score only those that identify the case."""
    if score.columns:
        return {name: score.columns.get(name) for name in columns}
    details = trial.case.details
    return {name: details.get(name) if column.type == "string" else None for name, column in columns.items()}


def _list_common_values(trial: Trial, score: Score) -> dict[str, Any]:
    """Return the values of a trial in the common columns."""
    case, expected, actual = trial.case, trial.expected, trial.actual
    outcomes = {
        f"{side}_outcome": "error" if reply.error is not None and reply.outcome == "answered" else reply.outcome
        for side, reply in (("expected", expected), ("actual", actual))
    }
    return {
        "test_type": case.probe,
        "sample_id": case.sample_id,
        "case_id": case.id,
        "original": case.original,
        "test_case": case.perturbed,
        "context": case.context,
        "options": label_options(case.options, case.labels or letters(len(case.options))),
        "expected_result": expected.text if score.expected_result is None else score.expected_result,
        "actual_result": actual.text if score.actual_result is None else score.actual_result,
        "eval_score": score.value,
        "pass": score.passed,
        "reason": score.reason,
        "scorer": case.scorer,
        "probe_version": case.version,
        **outcomes,
        "undecided": score.undecided,
        "chance": case.chance if score.chance is None else score.chance,
        "expected_label_mass": expected.label_mass,
        "actual_label_mass": actual.label_mass,
        "control": case.control,
        "control_kind": case.details.get(CONTROL_KIND) if case.control else None,
        "answer_known": bool(case.answers),
        "repeat": case.repeat,
        "wording": case.wording,
        "confidence": case.confidence,
        "slice": case.slice,
        "cluster": case.cluster,
        "error": expected.error or actual.error,
    }


def _to_array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Return values as an array in which nothing is NaN or infinite."""
    if pa.types.is_integer(kind):
        values = [None if isinstance(value, float) and not math.isfinite(value) else value for value in values]
    array = pa.array(values, kind, from_pandas=True)
    return pc.if_else(pc.is_finite(array), array, None) if pa.types.is_floating(kind) else array
