"""Read recorded verdicts on single answers (pass, fail or a score), some with labels by people."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

import pandas as pd

from contrapose.tasks.certify.verdict_log import NAMES as PAIR_NAMES
from contrapose.tasks.certify.verdict_log import find_columns, list_columns, read_rows
from contrapose.tasks.core.errors import DataError

NAMES: Mapping[str, tuple[str, ...]] = {
    "label": ("label", "human", "gold", "human_label", "human_verdict", "people", "ground_truth", "expected"),
    "verdict": (
        *("verdict", "judge_verdict", "judgment", "judgement", "passed", "judge_label", "prediction", "score"),
        *("judge_score", "rating", "reply", "response", "output"),
    ),
    "judge": ("judge", "judge_model", "judge_name"),
    "cluster": (*PAIR_NAMES["cluster"], "question_id", "prompt_id"),
}
"""Our names of the parts of a row, to the usual names of their columns."""
NEEDED = ("verdict", "label")
PASSES = ("pass", "passed", "yes", "true", "good", "correct", "right")
FAILS = ("fail", "failed", "no", "false", "bad", "incorrect", "wrong")
WORDS: Mapping[str, float] = {**dict.fromkeys(PASSES, 1.0), **dict.fromkeys(FAILS, 0.0)}
MARK = re.compile(r"\[\[(-?\d+(?:\.\d+)?)\]\]")
"""The mark of a score as MT-bench asks for it."""


def has_single_answers(source: str) -> bool:
    """Return whether a file has verdicts on one answer: a verdict and a label, and no names of two answers."""
    columns = {column.casefold() for column in list_columns(read_rows(source))}
    two = all(columns & set(PAIR_NAMES[name]) for name in ("first", "second"))
    return not two and all(columns & set(NAMES[name]) for name in NEEDED)


def read_single_answers(sources: Iterable[str]) -> pd.DataFrame:
    """Return the verdicts in files as rows of judge, verdict, label and cluster.

    `verdict` is 1 for a pass and 0 for a fail, or a score; NaN where it could not be read. `label` is from 0 to 1, NaN
    without one. Without a column for the cluster each row is one.

    Raises DataError for a label that is neither, words and scores of one judge, no verdict, or no label.
    """
    kinds: dict[str, dict[str, str]] = {}
    rows = [row for source in sources for row in _parse_source(source, kinds)]
    verdicts = pd.DataFrame(rows, columns=["judge", "verdict", "label", "cluster"])
    for name, expected in (("verdict", "pass, fail, yes, no, 1, 0 or a score"), ("label", "pass, fail, 1 or 0")):
        for judge, own in verdicts.groupby("judge", sort=False):
            if own[name].isna().all():
                where = f"{', '.join(sources)}, judge {judge}"
                remedy = f"Write at least one into the column {name}."
                raise DataError(f"no {name} that can be read", expected=expected, remedy=remedy, where=where)
    return verdicts


def _parse_source(source: str, kinds: dict[str, dict[str, str]]) -> list[tuple[str, float, float, str]]:
    """Return the rows of a file; `kinds` records whether each judge uses words or scores."""
    usual, rows = PurePath(source).name.partition(".")[0], list(read_rows(source))
    columns = find_columns(list_columns(rows), source, NAMES, NEEDED)
    read = []
    for number, row in rows:
        values = {name: row.get(column) for name, column in columns.items()}
        verdict, label = parse_verdict(values["verdict"]), parse_verdict(values["label"])
        where = f"{source}, row {number}, column "
        if not is_empty(values["label"]) and not 0 <= label <= 1:
            expected = "pass, fail, yes, no, or a number from 0 to 1; nothing for a reply without a label"
            remedy = "Write 1 for a reply that people pass."
            where += columns["label"]
            raise DataError(f"the label {values['label']}", expected=expected, remedy=remedy, where=where)
        judge, text = str(values.get("judge") or usual), str(values["verdict"])
        own = kinds.setdefault(judge, {})
        if text.strip().casefold() in WORDS:
            own.setdefault("word", text)
        elif verdict not in (0, 1) and math.isfinite(verdict):
            own.setdefault("score", text)
        if len(own) > 1:
            raise DataError(
                f"the verdicts {own['word']} and {own['score']} of judge {judge}",
                expected="words or scores",
                remedy="Write one kind of verdict for each judge.",
                where=where + columns["verdict"],
            )
        cluster = values.get("cluster")
        group = f"{source}, row {number}" if is_empty(cluster) else str(cluster)
        read.append((judge, verdict, label, group))
    return read


def is_empty(value: Any) -> bool:
    """Return whether a cell has no value."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or not str(value).strip()


def parse_verdict(value: Any) -> float:
    """Return 1 for a pass, 0 for a fail, or a score; NaN for anything else."""
    text = str(value).strip().strip("\"'.").casefold()
    marks = set(MARK.findall(text))
    if text in WORDS or marks:
        return WORDS[text] if text in WORDS else float(marks.pop()) if len(marks) == 1 else math.nan
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan
