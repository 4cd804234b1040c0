from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from factories import frame, report, row
from hypothesis import given
from hypothesis import strategies as st

from contrapose.tasks.report.base import Report
from contrapose.tasks.report.csv import inert, render, restore
from contrapose.tasks.tables.results import COMMON


def whole(of: Report) -> bytes:
    return b"".join(render(of))


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
@pytest.mark.parametrize("before", ["", " ", "\t", "\r", "\n", '"', "' ", "\u200b", "\u00a0"])
def test_no_text_starts_a_formula(before: str, sign: str) -> None:
    assert inert(f"{before}{sign}1+1").startswith("'")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        *((text, text) for text in ("plain", "a=b", "1-2", "", "A. one\nB. two", "a; b - c")),
        # Some programs part columns at semicolons.
        *(("a;=1", "a;'=1"), ("a\n=1", "a\n'=1"), ("a\tb; @x", "a\tb;' @x"), ('a;"=1', "a;'\"=1")),
    ],
)
def test_harmless_texts_stay_what_they_are_and_no_column_starts_a_formula(text: str, safe: str) -> None:
    assert inert(text) == safe


@given(st.text(alphabet="=-+@'\"; \n\ta\u200b", max_size=12))
def test_any_text_can_be_restored(text: str) -> None:
    assert restore(inert(text)) == text


def test_pandas_reads_what_was_written() -> None:
    texts = ["=1+1", "'=1+1", "a;=1", "- one\n- two", 'say "no", then', "plain", "NA"]
    rows = [row(case_id=str(number), original=text) for number, text in enumerate(texts)]
    found = pd.read_csv(io.BytesIO(whole(report(results=frame(rows)))), keep_default_na=False)
    assert [restore(text) for text in found["original"]] == texts


def test_numbers_stay_numbers_and_missing_values_are_empty() -> None:
    (found,) = read(whole(report(results=frame([row(eval_score=-0.25, **{"pass": None})]))))
    assert (found["eval_score"], found["pass"]) == ("-0.25", "")


def test_toxic_words_are_raw() -> None:
    assert "what the fuck is this shit?" in whole(report()).decode()


def test_no_rows_leave_the_header() -> None:
    assert whole(report(results=pd.DataFrame())).decode() == ",".join(COMMON) + "\n"
