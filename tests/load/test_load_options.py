"""Options of a question in every way in which people store them."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from load.sources import loaded, refusal, stored

from contrapose.tasks.core.records import TextSample
from contrapose.tasks.load.options import read_options
from contrapose.tasks.load.rows import CellError, parse_literal

QUESTION = "Which of these is the colour of fresh grass?"
COLOURS = ("red", "green", "blue", "black")


def stored_table(folder: Path, rows: Sequence[dict[str, Any]]) -> str:
    """A CSV file; a cell is written as its text, as pandas does."""
    path = folder / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def load(source: str, **settings: Any) -> list[TextSample]:
    return loaded(source, **settings).samples


def options_of(folder: Path, **columns: Any) -> tuple[str, ...]:
    """Options of one row, in JSON lines."""
    return load(stored(folder, [{"question": QUESTION, **columns}]))[0].options


# Options in columns of their own.


@pytest.mark.parametrize(
    "names",
    [
        ["A", "B", "C", "D"], ["a", "b", "c", "d"], ["option_a", "option_b", "option_c", "option_d"],
        ["Option A", "Option B", "Option C", "Option D"], ["optionA", "optionB", "optionC", "optionD"],
        ["opt1", "opt2", "opt3", "opt4"], ["option1", "option2"], ["choice0", "choice1", "choice2", "choice3"],
        ["choice1", "choice2"], ["choice_a", "choice_b", "choice_c"], ["answerA", "answerB", "answerC"],
        ["answer0", "answer1", "answer2", "answer3"], ["ans0", "ans1", "ans2"], ["sol1", "sol2"],
        ["opa", "opb", "opc", "opd"], ["ending0", "ending1", "ending2", "ending3"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_columns_that_are_counted_hold_the_options(names: list[str], tmp_path: Path) -> None:
    columns = dict(zip(names, COLOURS, strict=False))
    (sample,) = load(stored(tmp_path, [{"question": QUESTION, **columns, "label": "green"}]))
    assert sample.options == COLOURS[: len(names)]
    assert sample.answers == ("green",)


def test_columns_of_options_are_taken_in_the_order_of_their_letters(tmp_path: Path) -> None:
    assert options_of(tmp_path, D="black", C="blue", B="green", A="red") == COLOURS


def test_single_column_with_a_letter_is_no_option(tmp_path: Path) -> None:
    # Tables of questions and answers call them Q and A.
    assert options_of(tmp_path, A="green") == ()


def test_last_columns_of_options_may_be_empty(tmp_path: Path) -> None:
    rows = [
        {"question": QUESTION, "A": "red", "B": "green", "C": "blue", "D": "", "answer": "B"},
        {"question": QUESTION, "A": "red", "B": "green", "C": "", "D": "", "answer": "B"},
        {"question": QUESTION, "A": "red", "B": "green", "C": "blue", "D": "black", "answer": "D"},
    ]
    samples = load(stored_table(tmp_path, rows))
    assert [len(sample.options) for sample in samples] == [3, 2, 4]
    assert [sample.answers for sample in samples] == [("green",), ("green",), ("black",)]


def test_blank_option_between_two_others_is_refused(tmp_path: Path) -> None:
    # Left out without a word, it would move every later letter by one.
    row = {"question": QUESTION, "A": "red", "B": "", "C": "blue", "answer": "C"}
    assert "blank" in refusal(stored(tmp_path, [row]))


# Options in one column.


@pytest.mark.parametrize(
    "value",
    [
        ["red", "green", "blue"],
        {"A": "red", "B": "green", "C": "blue"},
        {"a": "red", "b": "green", "c": "blue"},
        {"1": "red", "2": "green", "3": "blue"},
        {"text": ["red", "green", "blue"], "label": ["A", "B", "C"]},
        {"label": ["1", "2", "3"], "text": ["red", "green", "blue"]},
        {"choices": ["red", "green", "blue"], "labels": [0, 1, 0]},
        [{"label": "A", "text": "red"}, {"label": "B", "text": "green"}, {"label": "C", "text": "blue"}],
        [{"key": "A", "value": "red"}, {"key": "B", "value": "green"}, {"key": "C", "value": "blue"}],
    ],
    ids=json.dumps,
)
def test_lists_and_objects_hold_options(value: Any, tmp_path: Path) -> None:
    assert options_of(tmp_path, choices=value) == ("red", "green", "blue")


@pytest.mark.parametrize(
    "value",
    [
        '["red", "green", "blue"]', "['red', 'green', 'blue']", "['red' 'green' 'blue']", "['red' 'green'\n 'blue']",
        "('red', 'green', 'blue')", '{"A": "red", "B": "green", "C": "blue"}',
        "{'A': 'red', 'B': 'green', 'C': 'blue'}", "{'text': ['red', 'green', 'blue'], 'label': ['A', 'B', 'C']}",
        "{'text': array(['red', 'green', 'blue'], dtype=object), 'label': array(['A', 'B', 'C'], dtype=object)}",
    ],
)  # fmt: skip
def test_cell_of_a_table_holds_options_as_json_python_or_numpy_write_them(value: str, tmp_path: Path) -> None:
    (sample,) = load(stored_table(tmp_path, [{"question": QUESTION, "choices": value, "answer": "green"}]))
    assert sample.options == ("red", "green", "blue")


@pytest.mark.parametrize(
    ("value", "options"),
    [
        ("[\"it's red\", 'green']", ("it's red", "green")),
        ("[\"it's red\" 'green']", ("it's red", "green")),
        ("['red, or blue' 'green']", ("red, or blue", "green")),
        ("['a [deep] red', 'green']", ("a [deep] red", "green")),
        ("['red', 'grün 🌿']", ("red", "grün 🌿")),
        (r"['the \'red\' one', 'green']", ("the 'red' one", "green")),
    ],
)
def test_quotes_and_commas_within_an_option_part_nothing(value: str, options: tuple[str, ...], tmp_path: Path) -> None:
    (sample,) = load(stored_table(tmp_path, [{"question": QUESTION, "choices": value, "answer": options[-1]}]))
    assert sample.options == options


LITERALS = [
    ("['a', 'b']", ["a", "b"]),
    ("['a' 'b'\n 'c']", ["a", "b", "c"]),
    ("('a', \"it's\")", ["a", "it's"]),
    ("(1,)", [1]),
    ("[1, -2.5, nan]", [1, -2.5, None]),
    ("{'A': 'it\\'s', 2: None}", {"A": "it's", "2": None}),
    (r"['C:\\dir', 'tab\t', '\xe9', '\u4e2d']", ["C:\\dir", "tab\t", "é", "中"]),
    ("{'text': array(['x', 'y'], dtype=object), 'n': [True, False]}", {"text": ["x", "y"], "n": [True, False]}),
    ('{"text": ["a"]}', {"text": ["a"]}),
]


@pytest.mark.parametrize(("cell", "value"), LITERALS)
def test_what_python_and_numpy_write_is_read(cell: str, value: Any) -> None:
    assert parse_literal(cell) == value


@pytest.mark.parametrize(
    "cell",
    ["[a]", "[,]", "{:}", "['open]", "[print('x')]", "[1 + 1]", "[" * 200_000 + "]" * 200_000, r"[\'" * 200_000 + "]"],
    ids=lambda cell: cell[:12],
)
def test_any_other_text_stays_a_text(cell: str) -> None:
    assert parse_literal(cell) is cell


@pytest.mark.parametrize(
    "marks",
    [
        "A. B. C.", "a. b. c.", "A) B) C)", "a) b) c)", "A: B: C:", "(A) (B) (C)", "(a) (b) (c)", "[A] [B] [C]",
        "1. 2. 3.", "1) 2) 3)", "(1) (2) (3)",
    ],
)  # fmt: skip
def test_marks_of_options_are_taken_off(marks: str, tmp_path: Path) -> None:
    items = [f"{mark} {colour}" for mark, colour in zip(marks.split(), COLOURS, strict=False)]
    assert options_of(tmp_path, options=items) == ("red", "green", "blue")
    assert options_of(tmp_path, options="\n".join(items)) == ("red", "green", "blue")
    assert options_of(tmp_path, options=" ".join(items)) == ("red", "green", "blue")


@pytest.mark.parametrize("marks", ["A、 B、 C、", "A． B． C．", "(A) (B) (C)"])
def test_marks_need_no_blank_after_them(marks: str, tmp_path: Path) -> None:
    items = [f"{mark}{colour}" for mark, colour in zip(marks.split(), COLOURS, strict=False)]
    assert options_of(tmp_path, options=items) == ("red", "green", "blue")
    assert options_of(tmp_path, options=" ".join(items)) == ("red", "green", "blue")


@pytest.mark.parametrize(
    "items",
    [
        ["U. Grant", "A. Lincoln"], ["1. FC Vell", "Harbour SC"], ["1.5 m", "2.5 m"], ["10. May", "11. May"],
        ["A", "B", "C"], ["1", "2", "3"], ["A minor", "B minor"], ["Ada", "Ben", "Cleo"], ["(a + b)", "(b + c)"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_that_only_look_as_if_they_had_marks_keep_their_texts(items: list[str], tmp_path: Path) -> None:
    assert options_of(tmp_path, options=items) == tuple(items)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("A. red B. green C. blue", ("red", "green", "blue")), ("(A) red (B) green", ("red", "green")),
        ("A) red; B) green", ("red", "green")), ("A) red, B) green, C) blue", ("red", "green", "blue")),
        ("\nA. red\nB. green\n", ("red", "green")), ("A. red\r\nB. green", ("red", "green")),
        ("A. red\nas a rose\nB. green", ("red\nas a rose", "green")),
        ("A. vitamin A B. vitamin B C. vitamin C", ("vitamin A", "vitamin B", "vitamin C")),
        ("A. red; then green B. green; then red", ("red; then green", "green; then red")),
        ("A. 0.5 B. 1.5 C. 2.5", ("0.5", "1.5", "2.5")), ("(A) f(b) = 1 (B) f(a) = 2", ("f(b) = 1", "f(a) = 2")),
    ],
)  # fmt: skip
def test_one_text_with_marks_is_taken_apart(text: str, options: tuple[str, ...], tmp_path: Path) -> None:
    assert options_of(tmp_path, options=text) == options


@pytest.mark.parametrize(
    ("value", "observed"),
    [
        (["blue"], "1 option"),
        ([f"option {number}" for number in range(27)], "27 options"),
        ("blue, green", "'blue, green' is one text without marks"),
        ("A. blue\nC. green", "is one text without marks"),
        (["blue", None], "null"),
        ("A. blue\nB. ", "an option is blank"),
        (7, "7 is a number"),
        ({"text": ["blue", "green"]}, "is no set of options"),
        ({"label": ["A", "A"], "text": ["blue", "green"]}, "labels"),
    ],
)
def test_unusable_options_are_refused(value: Any, observed: str) -> None:
    with pytest.raises(CellError) as caught:
        read_options(value)
    assert observed in caught.value.problem.observed


def test_numbers_are_good_as_options(tmp_path: Path) -> None:
    assert options_of(tmp_path, options=[12, 15.5, 18]) == ("12", "15.5", "18")
    assert options_of(tmp_path, A=12, B=15.5, C=18) == ("12", "15.5", "18")
    (sample,) = load(stored_table(tmp_path, [{"question": QUESTION, "choices": "[12, 15.5, 18]", "answer": "18"}]))
    assert (sample.options, sample.answers) == (("12", "15.5", "18"), ("18",))


@pytest.mark.parametrize("count", [2, 3, 10])
def test_question_has_two_to_ten_options(count: int, tmp_path: Path) -> None:
    names = [f"shade {number}" for number in range(count)]
    rows = [
        {"question": QUESTION, "options": names, "answer": "ABCDEFGHIJ"[count - 1]},
        {
            "question": QUESTION,
            "options": [f"{'ABCDEFGHIJ'[n]}. {name}" for n, name in enumerate(names)],
            "answer": "A",
        },
    ]
    samples = load(stored(tmp_path, rows))
    assert [sample.options for sample in samples] == [tuple(names), tuple(names)]
    assert [sample.answers for sample in samples] == [(names[-1],), (names[0],)]


def test_rows_may_have_different_numbers_of_options(tmp_path: Path) -> None:
    rows = [{"question": QUESTION, "options": COLOURS[:count], "answer": "B"} for count in (2, 4, 3)]
    assert [len(sample.options) for sample in load(stored(tmp_path, rows))] == [2, 4, 3]


def test_row_without_options_is_an_open_question_among_others(tmp_path: Path) -> None:
    rows = [
        {"question": QUESTION, "options": ["red", "green"], "answer": "green"},
        {"question": QUESTION, "options": None, "answer": "a light green"},
        {"question": QUESTION, "options": [], "answer": "a light green"},
    ]
    samples = load(stored(tmp_path, rows))
    assert [sample.options for sample in samples] == [("red", "green"), (), ()]
    assert [sample.answers for sample in samples] == [("green",), ("a light green",), ("a light green",)]
