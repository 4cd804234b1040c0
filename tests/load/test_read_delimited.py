"""Files of text with separators: what separates, how quotes are written, sep= lines, and files without a header."""

from __future__ import annotations

import csv
import gc
import gzip
import io
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from load.sources import is_read_or_refused, loaded, refusal, rows_of, values_of, written

from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.rows import Row

ROWS = [
    {"question": "Is the lake, in June, deep?", "answer": "yes"},
    {"question": 'Who said "no", and why?\nTwo lines; or three|four', "answer": 'The "old" man'},
    {"question": "Tabs\tand C:\\new\\table?", "answer": "no; never"},
]
SEPARATORS = [",", ";", "\t", "|"]
CHOICES = [
    ["Which river is the longest of all?", "Nile", "Rhine", "Po", "Elbe", "A"],
    ["What is known, roughly, about the moon", "it is far", "it is near", "nothing", "it is green", "B"],
    ["The sum of 2 and 3 is", "4", "5", "6", "7", "B"],
]


def rows(folder: Path, content: str | bytes, name: str = "a.csv", **settings: Any) -> list[Row]:
    return rows_of(written(folder / name, content), **settings)


def values(folder: Path, content: str | bytes, name: str = "a.csv", **settings: Any) -> list[Any]:
    return values_of(written(folder / name, content), **settings)


def refused(folder: Path, content: str | bytes, name: str = "a.csv", **settings: Any) -> str:
    line = refusal(written(folder / name, content), read=rows_of, **settings)
    assert line.startswith(str(folder / name))
    return line


def delimited(records: list[list[str]], **form: Any) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, **form).writerows(records)
    return buffer.getvalue()


# -------- Separators


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["unix", "windows", "old mac"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL], ids=["all quoted", "some quoted"])
@pytest.mark.parametrize("separator", SEPARATORS)
def test_separator_is_detected(separator: str, quoting: Any, end: str, name: str, tmp_path: Path) -> None:
    records = [list(ROWS[0]), *(list(row.values()) for row in ROWS)]
    content = delimited(records, delimiter=separator, quoting=quoting, lineterminator=end).encode()
    assert values(tmp_path, gzip.compress(content) if name.endswith(".gz") else content, name) == ROWS


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("other", SEPARATORS)
def test_separator_within_a_quoted_name_separates_nothing(separator: str, other: str, tmp_path: Path) -> None:
    names = [f"question{other} or task{other} as asked", "answer"]
    content = delimited([names, ["Is it so?", "yes"], ["Is it not?", "no"]], delimiter=separator, quoting=csv.QUOTE_ALL)
    assert values(tmp_path, content)[0] == {names[0]: "Is it so?", "answer": "yes"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "\ufefftext;id\nThe box is, heavy;1\n"), ("a.csv", '"text";"id"\r\n"The box is, heavy";"1"\r\n'),
        ("a.csv", "text\tid\nThe box is, heavy\t1\n"), ("a.tsv", 'text,id\n"The box is, heavy",1\n'),
        ("a.tsv", "text\tid; or key\nThe box is, heavy\t1\n"),
        ("a.csv", 'text,"id; or key"\n"The box is, heavy",1\n'), ("a.csv", 'text\n"The box is, heavy"\n'),
    ],
)  # fmt: skip
def test_separator_is_that_of_the_header(name: str, content: str, tmp_path: Path) -> None:
    assert [row["text"] for row in values(tmp_path, content, name)] == ["The box is, heavy"]


def test_name_in_quotes_is_one_name(tmp_path: Path) -> None:
    assert values(tmp_path, '"text;id"\nx\n') == [{"text;id": "x"}]


def test_file_of_nothing_but_a_byte_order_mark_has_no_rows(tmp_path: Path) -> None:
    assert values(tmp_path, "\ufeff") == []


@pytest.mark.parametrize("separator", SEPARATORS)
def test_long_texts_of_several_lines_do_not_mislead(separator: str, tmp_path: Path) -> None:
    text = "One, two; three | four\tfive, and so on.\n" * 40
    content = delimited([["id", "question"], *([str(n), text] for n in range(60))], delimiter=separator)
    assert [row["question"] for row in values(tmp_path, content)] == [text] * 60


def test_first_text_longer_than_what_is_looked_at_is_read(tmp_path: Path) -> None:
    text = "a; b, c\n" * 20_000
    assert values(tmp_path, f'id;question\n1;"{text}"\n2;short\n')[0] == {"id": "1", "question": text}


@pytest.mark.parametrize(
    "content", ["text\nOne, two\nThree, four\n", "text\nOne; two\nThree\n", '"text"\n"One, two"\n']
)
def test_single_column_may_hold_separators(content: str, tmp_path: Path) -> None:
    assert values(tmp_path, content)[0]["text"].startswith("One")


def test_tabs_without_quotes_keep_quotes_of_texts(tmp_path: Path) -> None:
    content = 'question\tanswer\n"Yes" or "no"?\t"yes\nIs 5" long, "or" 6"?\tno\n'
    assert values(tmp_path, content, "a.tsv") == [
        {"question": '"Yes" or "no"?', "answer": '"yes'},
        {"question": 'Is 5" long, "or" 6"?', "answer": "no"},
    ]


@pytest.mark.parametrize("bad", [0, 1])
def test_stray_quote_in_tabs_without_quotes_swallows_nothing(bad: int, tmp_path: Path) -> None:
    lines = [f"Is it so in case {n}?\tyes, it is" for n in range(4_000)]
    lines[1] = '"Is it so\tno'
    lines[2] += "\tmore" * bad
    read = rows(tmp_path, "\n".join(["question\tanswer", *lines]), "a.tsv")
    assert len(read) == 4_000
    assert read[1].values["question"] == '"Is it so'
    assert sum(row.problem is not None for row in read) == bad


@pytest.mark.parametrize(
    ("line", "separator"),
    [
        *(("sep={}", sign) for sign in (*SEPARATORS, ":", "^", "~")),
        *((line, sign) for line in ('"sep={}"', "SEP={}", "sep={0}{0}{0}") for sign in (",", "\t")),
    ],
)
def test_line_that_names_the_separator_is_no_header(line: str, separator: str, tmp_path: Path) -> None:
    body = delimited([["question", "answer"], ["Is it so, or not; at all?", "yes"]], delimiter=separator)
    read = rows(tmp_path, f"{line.format(separator)}\r\n{body}")
    assert [(row.number, row.values) for row in read] == [
        (3, {"question": "Is it so, or not; at all?", "answer": "yes"})
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_excel_s_line_with_a_byte_order_mark(encoding: str, tmp_path: Path) -> None:
    content = "sep=;\nquestion;answer\nIst der See tief, oder nicht – ja?;ja\n".encode(encoding)
    assert values(tmp_path, content)[0]["answer"] == "ja"


@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be"])
def test_excel_s_unicode_text_is_read(mark: str, tmp_path: Path) -> None:
    content = ("\ufeff" + 'question\tanswer\r\n"Är sjön ""djup""?"\tja\r\n😀?\tnej\r\n').encode(mark)
    assert values(tmp_path, content, "a.tsv") == [
        {"question": 'Är sjön "djup"?', "answer": "ja"},
        {"question": "😀?", "answer": "nej"},
    ]


@pytest.mark.parametrize("cut", [b"\x00", b"\xd8", b"\x3d\xd8"])
def test_utf_16_that_ends_within_a_character_is_refused(cut: bytes, tmp_path: Path) -> None:
    content = "\ufefftext\nx\n".encode("utf-16-le") + cut
    assert "UTF-16" in refused(tmp_path, content)


def test_names_that_nothing_known_separates_are_refused_with_what_helps(tmp_path: Path) -> None:
    line = refused(tmp_path, '"question":"answer"\n"Is it so?":"yes"\n')
    assert "such as sep=:" in line
    read = values(tmp_path, 'sep=:\n"question":"answer"\n"Is it so?":"yes"\n')
    assert read == [{"question": "Is it so?", "answer": "yes"}]


# -------- Quotes


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("double", ["\\", ""], ids=["MySQL", "Spark"])
def test_quotes_behind_backslashes_are_read(separator: str, double: str, tmp_path: Path) -> None:
    texts = ['Who said "no", and "why"?', "A path C:\\new; or not?", 'It ends with "quotes"', '"all"', "plain"]
    escaped = [text.replace("\\", double + "\\").replace('"', '\\"') for text in texts]
    lines = [separator.join(f'"{cell}"' for cell in ("question", "answer"))]
    lines += [separator.join(f'"{cell}"' for cell in (text, "yes")) for text in escaped]
    read = values(tmp_path, "\n".join(lines) + "\n")
    assert [row["question"] for row in read] == texts
    assert {row["answer"] for row in read} == {"yes"}


def test_pandas_with_an_escape_character_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS[:2])
    content = frame.to_csv(index=False, doublequote=False, escapechar="\\")
    assert values(tmp_path, content) == ROWS[:2]


def test_quotes_behind_backslashes_far_into_a_file_are_read(tmp_path: Path) -> None:
    plain = '"Is it ""so"", or not?","yes"\n' * 5_000
    read = values(tmp_path, f'"question","answer"\n{plain}"Who said \\"no\\", and why?","he"\n"x","y"\n')
    assert read[-2:] == [{"question": 'Who said "no", and why?', "answer": "he"}, {"question": "x", "answer": "y"}]
    assert read[0]["question"] == 'Is it "so", or not?'


def test_backslash_before_the_closing_quote_is_a_part_of_the_text(tmp_path: Path) -> None:
    content = '"question","answer"\n"Is it in C:\\dir\\","yes"\n"Is it ""so""?","no"\n'
    assert [row["question"] for row in values(tmp_path, content)] == ["Is it in C:\\dir\\", 'Is it "so"?']


def test_missing_values_of_databases_are_null(tmp_path: Path) -> None:
    assert values(tmp_path, "question\tanswer\nIs it so?\t\\N\n", "a.tsv")[0]["answer"] is None


@pytest.mark.parametrize("rest", ["", "x,y\n" * 3, 'x,"y"\n' * 3])
def test_quote_that_is_never_closed_is_refused_with_its_row(rest: str, tmp_path: Path) -> None:
    line = refused(tmp_path, f'text,answer\n{rest}"Is it so,yes\nor not,no\n')
    assert "a quote is never closed" in line
    assert f"row {2 + rest.count(chr(10))}" in line


@pytest.mark.parametrize("separator", SEPARATORS)
def test_text_without_its_quotes_is_a_bad_row(separator: str, tmp_path: Path) -> None:
    lines = ["question,answer", "Is it so?,yes", "Is it so, or not?,yes", "x,y", "v,w"]
    read = rows(tmp_path, "\n".join(line.replace(",", separator) for line in lines))
    assert [(row.number, row.problem is None) for row in read] == [(2, True), (3, False), (4, True), (5, True)]


def test_row_names_of_r_are_left_out(tmp_path: Path) -> None:
    content = '"question","answer"\n"1","Is it so?","yes"\n"2","Is it not?","no"\n'
    assert values(tmp_path, content)[0] == {"question": "Is it so?", "answer": "yes"}


def test_blanks_behind_separators_are_no_part_of_quoted_texts(tmp_path: Path) -> None:
    lines = ['"question", "answer"', '"Is it so, or not?", "yes, it is"', 'Is it "so"?,  " no"']
    read = values(tmp_path, "\n".join(lines))
    assert read == [
        {"question": "Is it so, or not?", "answer": "yes, it is"},
        {"question": 'Is it "so"?', "answer": " no"},
    ]


@pytest.mark.parametrize("header", ["question,answer", "question,answer,"])
def test_separators_at_the_end_of_lines_make_no_column(header: str, tmp_path: Path) -> None:
    read = values(tmp_path, f"{header}\nIs it so?,yes,\nIs it not?,,\n")
    assert read == [{"question": "Is it so?", "answer": "yes"}, {"question": "Is it not?", "answer": None}]


# -------- Files without a header


@pytest.mark.parametrize("options", [2, 4, 10])
@pytest.mark.parametrize("count", [1, 3, 250])
def test_choices_without_a_header_keep_their_first_row(count: int, options: int, tmp_path: Path) -> None:
    letters = "ABCDEFGHIJ"[:options]
    records = [
        [f"Which of these, in case {n}, is the right one?", *(f"thing {n} {letter}" for letter in letters), "B"]
        for n in range(count)
    ]
    read = rows(tmp_path, delimited(records))
    assert [row.number for row in read] == [*range(1, count + 1)]
    assert [*read[0].values] == ["question", *letters, "answer"]
    assert [[*row.values.values()] for row in read] == records


def test_choices_without_a_header_are_asked_and_people_are_informed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(delimited(CHOICES))
    for columns in ({}, {"text": "question", "options": "A,B,C,D", "answer": "answer"}):
        read = loaded(tmp_path / "a.csv", columns=columns)
        assert [sample.answers for sample in read.samples] == [("Nile",), ("it is near",), ("5",)]
        assert "no header: its columns are read as question, A, B, C, D, answer" in read.warnings[0]


@pytest.mark.parametrize("first", [["", "question", "A", "B", "C", "D", "answer"], ["0", *CHOICES[0]]])
def test_numbers_of_rows_before_the_question_are_no_question(first: list[str], tmp_path: Path) -> None:
    records = [first, *([str(n), *cells] for n, cells in enumerate(CHOICES, start=1))]
    assert values(tmp_path, delimited(records))[-1]["question"] == CHOICES[-1][0]


def test_names_of_choices_are_a_header(tmp_path: Path) -> None:
    for names in (["question", "A", "B", "C", "D", "answer"], ["Question", "a", "b", "c", "d", "Key"], [*"QABCDE"]):
        read = values(tmp_path, delimited([names, *CHOICES]))
        assert len(read) == 3
        assert [*read[0]] == names


@pytest.mark.parametrize(
    "records",
    [
        [["history", *cells] for cells in CHOICES],
        [[f"q{n}", *cells] for n, cells in enumerate(CHOICES)],
        [[question, answer] for question, _, answer, *_ in CHOICES[:1] * 3],
        [["x" * 300, "yes"], ["y" * 300, "no"]],
        [["The lake is deep", "1"], ["The hill is steep", "0"], ["The road is long", "1"]],
        [["Name the longest river of all", "Nile"], ["Name the deepest lake of all", "Baikal"]],
        [[*cells[:-1], cells[-1].lower()] for cells in CHOICES[1:]],
    ],
    ids=["subject first", "id first", "questions", "long texts", "labels", "sentences", "small letters"],
)
def test_first_row_that_is_data_is_never_lost(records: list[list[str]], tmp_path: Path) -> None:
    assert "Add a first row with names" in refused(tmp_path, delimited(records))


def test_column_that_the_settings_name_makes_a_header(tmp_path: Path) -> None:
    content = "Is it so?,yes\nIs it not?,no\nIs it?,no\n"
    assert "--set data.columns.text=COLUMN" in refused(tmp_path, content)
    assert len(values(tmp_path, content, columns={"text": "Is it so?"})) == 2


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("count", [1, 3])
def test_questions_beside_lists_of_answers_keep_their_first_row(count: int, name: str, tmp_path: Path) -> None:
    answers = ['["Wilhelm Conrad Röntgen"]', '["1933", "in \'33"]', "['May 18, 2018']"]
    records = [[f"who did it in case {n}", answer] for n, answer in enumerate(answers[:count])]
    lines = "".join(f"{question}\t{answer}\n" for question, answer in records)
    for content in (lines, delimited(records, delimiter="\t")):
        read = values(tmp_path, content, name)
        assert [[*row.values()] for row in read] == records
        assert [*read[0]] == ["question", "answers"]


def test_list_in_a_header_is_refused_unless_all_rows_are_alike(tmp_path: Path) -> None:
    assert "looks like data" in refused(tmp_path, 'who\t["x"]\nwhat\ty\n', "a.tsv")


# -------- What nobody writes


def test_odd_bytes_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    rng = random.Random(7)
    signs = ["a", "text", "A", '"', '""', '\\"', "\\", *",;\t|\n\r ?1é", "\r\n", "sep="]
    odd = ["\0", "\x1f", "\ufeff", "[", "]", '["x"]', "\\N", "\u2028", "=", "😀"]
    for number in range(1_500):
        content = "".join(rng.choices(signs + odd * (number % 3 == 0), k=rng.randrange(1, 40))).encode()
        if number % 5 == 0:
            content = rng.choice([b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xff", b""]) + content
        assert is_read_or_refused(written(tmp_path / rng.choice(["a.csv", "a.tsv"]), content)), content


@pytest.mark.parametrize(
    "content",
    ["text\nx\n", "text,b\nx\nThe box is, heavy, too\n", 'text\nx\n"y\n', "text\nx\na\0b\n", "text,text\nx,y\n"],
)
@pytest.mark.usefixtures("nothing_left_behind")
def test_file_leaves_nothing_to_complain_about_later(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    with suppress(DataError):
        rows(tmp_path, content)
    gc.collect()
    assert complaints == []
