"""Recorded verdicts of judges on pairs of answers, in both orders and over several askings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import fsspec
import pandas as pd

from contrapose.tasks.config.data_settings import EveryColumn
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.registry import find, names

Row = Mapping[str, Any]

NAMES: Mapping[str, tuple[str, ...]] = {
    "judge": ("judge", "judge_model", "judge_name", "model"),
    "pair": ("pair", "pair_id", "sample_id", "question_id", "id"),
    "cluster": ("cluster", "question", "group", "instruction_id"),
    "first": ("first", "first_by", "model_1", "answer_1_by", "assistant_a", "model_a"),
    "second": ("second", "second_by", "model_2", "answer_2_by", "assistant_b", "model_b"),
    "repetition": ("repetition", "repeat", "asking", "trial", "run"),
    "reply": ("reply", "verdict", "response", "judgment", "judgement", "output"),
}
"""Our names of the parts of a row, to the usual names of their columns."""
NEEDED = ("pair", "first", "second", "reply")
WIDE = ("reply_correct_first", "reply_correct_second")
"""Columns of a table with the replies to both orders in one row, the better answer first and second."""
MARK = re.compile(r"\[\[([ABC])\]\]")
"""The mark of a verdict as MT-bench asks for it; C is a tie."""
WORDS: Mapping[str, str] = {"a": "A", "1": "A", "first": "A", "b": "B", "2": "B", "second": "B", "c": "C", "tie": "C"}
"""Whole replies that are verdicts without a mark."""
TIE = "tie"


def read_verdicts(sources: Iterable[str]) -> pd.DataFrame:
    """Return the verdicts in files as rows of judge, pair, cluster, order, asking, choice and place.

    `order` is 0 or 1, by which answer stood first; `choice` is the name of the chosen answer, `tie`, or None where the
    reply holds no verdict, or two; `place` is 1 for the first position, -1 for the second, 0 for a tie, else None.
    Pairs of one question share a cluster: a column names it, or what stands before the first "|" of the pair.

    Raises DataError for a file without these columns, a row without a value, or no verdict at all.
    """
    rows = [row for source in sources for row in _verdicts_in(source)]
    verdicts = pd.DataFrame(rows, columns=["judge", "pair", "cluster", "order", "asking", "choice", "place"])
    if verdicts["choice"].isna().all():
        raise DataError(
            "no reply holds a verdict",
            expected="replies with [[A]], [[B]] or [[C]] for a tie, or one of these letters alone",
            remedy="Write the verdicts into a column verdict.",
            where=", ".join(sources),
        )
    return verdicts


def hash_sources(sources: Iterable[str]) -> str:
    """Return the sha256 of the bytes of all files, in order."""
    digest = hashlib.sha256()
    for source in sources:
        with fsspec.open(source, "rb") as file:
            while part := file.read(2**20):
                digest.update(part)
    return digest.hexdigest()


def _verdicts_in(source: str) -> Iterator[tuple[Any, ...]]:
    usual = PurePath(source).name.partition(".")[0]
    columns: Mapping[str, str] | None = None
    for number, row in _rows(source):
        if WIDE[0] in row:
            yield from _both_orders(row, usual)
            continue
        columns = columns or _find_columns(row, source)
        values = {name: row.get(column) for name, column in columns.items()}
        for name in NEEDED[:3]:
            if values[name] in (None, ""):
                where = f"{source}, row {number}, column {columns[name]}"
                raise DataError("no value", expected="a name", remedy="Fill it in, or leave the row out.", where=where)
        pair, first, second = (str(values[name]) for name in NEEDED[:3])
        verdict = read_verdict(str(values["reply"] or ""), first, second)
        cluster = str(values.get("cluster") or pair.partition("|")[0])
        yield (
            *(str(values.get("judge") or usual), pair, cluster, int(first > second), values.get("repetition")),
            *_choice(verdict, first, second),
        )


def _both_orders(row: Row, usual: str) -> Iterator[tuple[Any, ...]]:
    """Yield the two verdicts of a row that holds the replies to both orders."""
    judge = " ".join(str(row[name]) for name in ("model", "strategy") if row.get(name)) or usual
    for order, column in enumerate(WIDE):
        answers = ("correct", "other") if order == 0 else ("other", "correct")
        letter = row.get(column.replace("reply", "read")) or read_verdict(str(row[column] or ""), *answers)
        yield judge, str(row["id"]), str(row["id"]), order, None, *_choice(letter, *answers)


def _choice(verdict: str | None, first: str, second: str) -> tuple[str | None, float | None]:
    choices = {"A": (first, 1.0), "B": (second, -1.0), "C": (TIE, 0.0)}
    return choices.get(verdict or "", (None, None))


def read_verdict(reply: str, first: str, second: str) -> str | None:
    """Return A, B or C for a tie; None for a reply without a verdict, or with two that differ."""
    marks = set(MARK.findall(reply))
    if marks:
        return marks.pop() if len(marks) == 1 else None
    whole = reply.strip().strip("\"'.").casefold()
    named = {first.casefold(): "A", second.casefold(): "B"}
    return named.get(whole) or WORDS.get(whole)


def _find_columns(row: Row, source: str) -> Mapping[str, str]:
    """Return our names of the parts of a row, to its columns."""
    plain = {str(column).casefold(): column for column in row}
    columns: dict[str, str] = {}
    for name, usual in NAMES.items():
        column = next((plain[own] for own in usual if own in plain and plain[own] not in columns.values()), None)
        if column is not None:
            columns[name] = column
    if missing := [name for name in NEEDED if name not in columns]:
        raise DataError(
            f"columns {', '.join(map(str, row))}",
            expected=f"{' and '.join(missing)}, too",
            remedy=f"Rename the columns of the file: {', '.join(NEEDED)}, and judge, repetition and cluster.",
            where=source,
        )
    return columns


def _rows(source: str) -> Iterator[tuple[int, Row]]:
    suffix = PurePath(source.removesuffix(".gz")).suffix.removeprefix(".").lower()
    formats = [known for known in names("sources") if known not in ("bundled", "hf")]
    if suffix not in formats:
        expected = f"a file that ends in .{', .'.join(formats)}"
        raise DataError(
            f"a file that ends in .{suffix}", expected=expected, remedy="Save it as JSON lines.", where=source
        )
    for row in find("sources", suffix)(EveryColumn(source=source, format=suffix)):
        if (problem := row.problem) is not None:
            where = f"{source}, row {row.number}"
            raise DataError(problem.observed, expected=problem.expected, remedy=f"{problem.remedy}.", where=where)
        yield row.number, row.values
