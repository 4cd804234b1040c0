"""Read recorded verdicts of judges on pairs of answers, in both orders and repeated askings."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    "label": ("label", "human", "gold", "human_label", "human_preference", "preference", "winner", "people"),
}
"""Our names of the parts of a row, to the usual names of their columns."""
NEEDED = ("pair", "first", "second", "reply")
WIDE = ("reply_correct_first", "reply_correct_second")
"""Columns of a table with the replies to both orders in one row, the better answer first and second."""
BY_PEOPLE = ("correct", "other")
"""Names of the answers in such a table: people call the first one better."""
MARK = re.compile(r"\[\[([ABC])\]\]")
"""The mark of a verdict as MT-bench asks for it; C is a tie."""
WORDS: Mapping[str, str] = {"a": "A", "1": "A", "first": "A", "b": "B", "2": "B", "second": "B", "c": "C", "tie": "C"}
"""Whole replies that are verdicts without a mark."""
LABELS: Mapping[str, str] = {"model_a": "A", "model_b": "B", "tie (bothbad)": "C", "equal": "C", "both": "C"}
"""Further words of people."""
TIE = "tie"


COLUMNS = ["judge", "pair", "cluster", "order", "asking", "choice", "place", "answers", "label"]


def read_verdicts(sources: Iterable[str]) -> pd.DataFrame:
    """Return the verdicts in files as rows of judge, pair, cluster, order, asking, choice, place, answers and label.

    `order` is 0 or 1, by which answer stood first; `choice` is the name of the chosen answer, `tie`, or None where the
    reply holds no verdict, or two; `place` is 1 for the first position, -1 for the second, 0 for a tie, else None.
    Pairs of one question share a cluster: a column names it, or what stands before the first "|" of the pair.
    `answers` are the names of both, in order; `label` is the one that people prefer, `tie`, or None without a label. A
    label on one row of a pair counts for all.

    Raises DataError for a file without these columns, a row without a value, two labels of a pair that differ, or no
    verdict at all.
    """
    rows = [row for source in sources for row in _yield_verdicts(source)]
    verdicts = pd.DataFrame(rows, columns=COLUMNS)
    verdicts["label"] = _share_labels(verdicts)
    if verdicts["choice"].isna().all():
        raise DataError(
            "no reply holds a verdict",
            expected="replies with [[A]], [[B]] or [[C]] for a tie, or one of these letters alone",
            remedy="Write one of these letters in place of each reply.",
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


def _yield_verdicts(source: str) -> Iterator[tuple[Any, ...]]:
    usual, rows = PurePath(source).name.partition(".")[0], list(read_rows(source))
    apart = [(number, row) for number, row in rows if WIDE[0] not in row]
    yield from (verdict for _, row in rows if WIDE[0] in row for verdict in _yield_both_orders(row, usual))
    columns = find_columns(list_columns(apart), source, NAMES, NEEDED) if apart else {}
    # Numbers from 0 to 2 are the usual ones of tie, first and second; 0 and 1 alone could mean anything.
    zero = any(_to_text(row.get(columns.get("label", ""))) == "2" for _, row in apart)
    for number, row in apart:
        values = {name: row.get(column) for name, column in columns.items()}
        for name in NEEDED[:3]:
            if values[name] in (None, ""):
                where = f"{source}, row {number}, column {columns[name]}"
                raise DataError("no value", expected="a name", remedy="Fill it in, or leave the row out.", where=where)
        pair, first, second = (str(values[name]) for name in NEEDED[:3])
        verdict = read_verdict(str(values["reply"] or ""), first, second)
        cluster = str(values.get("cluster") or pair.partition("|")[0])
        where = f"{source}, row {number}, column {columns.get('label')}"
        label = _read_label(_to_text(values.get("label")), first, second, zero=zero, where=where)
        yield (
            *(str(values.get("judge") or usual), pair, cluster, int(first > second), values.get("repetition")),
            *(*_choice(verdict, first, second), tuple(sorted((first, second))), label),
        )


def _to_text(value: Any) -> str:
    """Return a value as text: whole numbers without a decimal point, "" for a missing value."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


def _read_label(text: str, first: str, second: str, *, zero: bool, where: str) -> str | None:
    """Return the name of the answer that people prefer, `tie`, or None without a label."""
    if not text:
        return None
    letter = read_verdict(text, first, second) or LABELS.get(text.casefold()) or ("C" if zero and text == "0" else None)
    if letter is None:
        expected = f"{first}, {second}, first, second or tie"
        raise DataError(f"the label {text}", expected=expected, remedy="Write the answer's name.", where=where)
    return _choice(letter, first, second)[0]


def _share_labels(verdicts: pd.DataFrame) -> pd.Series[Any]:
    """Return the label of each row's pair, from any row of the pair."""
    known = verdicts[verdicts["label"].notna()]
    labels: dict[tuple[Any, ...], str] = {}
    for pair, answers, label in zip(known["pair"], known["answers"], known["label"], strict=True):
        if labels.setdefault((pair, answers), label) != label:
            raise DataError(
                f"the labels {labels[pair, answers]} and {label} of one pair",
                expected="one label for each pair of answers",
                remedy="Write the same answer's name in all its rows: first and second mean the order of the row.",
                where=f"pair {pair}",
            )
    keys = zip(verdicts["pair"], verdicts["answers"], strict=True)
    return pd.Series([labels.get(key) for key in keys], index=verdicts.index, dtype=object)


def _yield_both_orders(row: Row, usual: str) -> Iterator[tuple[Any, ...]]:
    """Yield the two verdicts of a row that holds the replies to both orders."""
    judge = " ".join(str(row[name]) for name in ("model", "strategy") if row.get(name)) or usual
    for order, column in enumerate(WIDE):
        answers = BY_PEOPLE if order == 0 else BY_PEOPLE[::-1]
        letter = row.get(column.replace("reply", "read")) or read_verdict(str(row[column] or ""), *answers)
        yield judge, str(row["id"]), str(row["id"]), order, None, *_choice(letter, *answers), BY_PEOPLE, BY_PEOPLE[0]


def _choice(verdict: str | None, first: str, second: str) -> tuple[str | None, float | None]:
    choices = {"A": (first, 1.0), "B": (second, -1.0), "C": (TIE, 0.0)}
    return choices.get(verdict or "", (None, None))


def read_verdict(reply: str, first: str, second: str) -> str | None:
    """Return A, B or C for a tie, or None for a reply without a verdict, or with two that differ."""
    marks = set(MARK.findall(reply))
    if marks:
        return marks.pop() if len(marks) == 1 else None
    whole, one, two = (text.strip().strip("\"'.").casefold() for text in (reply, first, second))
    return {one: "A", two: "B"}.get(whole) or WORDS.get(whole)


def list_columns(rows: Iterable[tuple[int, Row]]) -> list[str]:
    """Return the columns that any row has, in order."""
    return list(dict.fromkeys(str(column) for _, row in rows for column in row))


def find_columns(
    columns: Sequence[str], source: str, names: Mapping[str, tuple[str, ...]], needed: Sequence[str]
) -> Mapping[str, str]:
    """Map our names of a row's parts to the file's columns.

    Raises DataError if a needed one is missing.
    """
    plain = {column.casefold(): column for column in columns}
    own: dict[str, str] = {}
    for name, usual in names.items():
        column = next((plain[one] for one in usual if one in plain and plain[one] not in own.values()), None)
        if column is not None:
            own[name] = column
    if missing := [name for name in needed if name not in own]:
        raise DataError(
            f"columns {', '.join(columns)}",
            expected=f"{' and '.join(missing)}, too",
            remedy=f"Rename the columns: {', '.join(NEEDED)} for two answers, or verdict and label for one.",
            where=source,
        )
    return own


def read_rows(source: str) -> Iterator[tuple[int, Row]]:
    """Yield the number and the values of each row of a file."""
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
