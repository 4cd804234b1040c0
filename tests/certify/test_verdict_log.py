"""Recorded verdicts of judges are read in the layouts that people have, and mistakes name their place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from contrapose.tasks.certify.verdict_log import read_verdict, read_verdicts
from contrapose.tasks.core.errors import DataError

ROW = {"judge": "j", "pair": "q1|a|b", "first": "a", "second": "b", "repetition": 1, "reply": "So: [[A]]"}


def log_of(path: Path, rows: Sequence[Mapping[str, object]]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("[[A]]", "A"),
        ("A is good, B is better: [[B]]", "B"),
        ("Both are fine. [[C]]", "C"),
        ("[[A]] or [[B]]?", None),
        ("[[A]], so I say [[A]]", "A"),
        ("A", "A"),
        ("b.", "B"),
        ("tie", "C"),
        ("first", "A"),
        ("gpt-4", "A"),
        ("Claude", "B"),
        ("", None),
        ("I like the answer of A more", None),
    ],
)
def test_a_verdict_is_one_mark_or_one_word(reply: str, verdict: str | None) -> None:
    assert read_verdict(reply, "gpt-4", "claude") == verdict


def test_the_choice_is_the_answer_and_not_its_place(tmp_path: Path) -> None:
    swapped = {**ROW, "first": "b", "second": "a", "reply": "[[B]]"}
    verdicts = read_verdicts([log_of(tmp_path / "log.jsonl", [ROW, swapped])])
    assert verdicts["choice"].tolist() == ["a", "a"]
    assert verdicts["place"].tolist() == [1, -1]
    assert verdicts["order"].tolist() == [0, 1]
    assert set(verdicts["cluster"]) == {"q1"}


def test_other_names_of_columns_and_a_cluster_of_its_own(tmp_path: Path) -> None:
    row = {"model": "m", "id": "7", "assistant_a": "x", "assistant_b": "y", "verdict": "tie", "question": "q"}
    (verdict,) = read_verdicts([log_of(tmp_path / "log.jsonl", [row])]).to_dict("records")
    assert verdict == {
        "judge": "m", "pair": "7", "cluster": "q", "order": 0, "asking": None, "choice": "tie", "place": 0.0,
        "answers": ("x", "y"), "label": None,
    }  # fmt: skip


def test_without_a_judge_the_file_names_it(tmp_path: Path) -> None:
    row = {name: value for name, value in ROW.items() if name != "judge"}
    assert set(read_verdicts([log_of(tmp_path / "my-judge.jsonl", [row])])["judge"]) == {"my-judge"}


def test_both_orders_in_one_row(tmp_path: Path) -> None:
    row = {"id": "1", "model": "m", "strategy": "s", "reply_correct_first": "A", "reply_correct_second": "A"}
    verdicts = read_verdicts([log_of(tmp_path / "log.jsonl", [row])])
    assert verdicts["judge"].tolist() == ["m s"] * 2
    assert verdicts["choice"].tolist() == ["correct", "other"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"pair": 1, "reply": "A"}], r"columns pair, reply; expected first and second, too"),
        ([{**ROW, "first": ""}], r"row 1, column first: no value; expected a name"),
        ([{**ROW, "reply": "Hm."}], r"no reply holds a verdict; expected replies with \[\[A\]\]"),
    ],
)
def test_a_log_that_cannot_be_read_names_what_is_missing(
    tmp_path: Path, rows: Sequence[Mapping[str, object]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_verdicts([log_of(tmp_path / "log.jsonl", rows)])


def test_an_unknown_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a file that ends in \.txt; expected a file that ends in \."):
        read_verdicts([log_of(tmp_path / "log.txt", [ROW])])
