"""Right answers of a question in every way in which people store them, and what refuses a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from load.sources import loaded, stored
from load.test_load_options import COLOURS, QUESTION, load, stored_table

from contrapose.flows.cli import main
from contrapose.tasks.core.errors import DataError


def answers_of(folder: Path, answer: Any, options: Any = COLOURS, question: str = QUESTION) -> tuple[str, ...]:
    """Answers of one row, in JSON lines; an open question without options."""
    row = {"question": question, **({"options": options} if options else {}), "answer": answer}
    return load(stored(folder, [row]))[0].answers


def right_options(folder: Path, answers: Sequence[Any], options: Sequence[Any] = COLOURS) -> list[tuple[str, ...]]:
    """Answers of several rows that have the same options."""
    rows = [{"question": QUESTION, "options": list(options), "answer": answer} for answer in answers]
    return [sample.answers for sample in load(stored(folder, rows))]


# Answers as letters and as texts.


@pytest.mark.parametrize(
    ("answer", "options", "right"),
    [
        *(
            (mark, COLOURS, "green")
            for mark in ("B", "b", "(B)", "(b)", "B.", "B)", "[B]", " B ", "B. green", "B) green")
        ),
        *(
            (mark, COLOURS, "green")
            for mark in ("(B) green", "b) green", "green", "GREEN", "Green", " green ", "green\n")
        ),
        ("Polish", ["polish", "Polish"], "Polish"),
        ("light green", ["dark  red", "light  green"], "light  green"),
        ("A", ["C", "A", "B"], "A"),
        ("2", {"text": ["4", "3", "2"], "label": ["1", "2", "3"]}, "3"),
        ("E", {"text": ["red", "green"], "label": ["D", "E"]}, "green"),
    ],
)
def test_answer_is_an_options_text_the_sources_label_or_a_letter_in_this_order(
    answer: str, options: Any, right: str, tmp_path: Path
) -> None:
    assert answers_of(tmp_path, answer, options) == (right,)


@pytest.mark.parametrize("answer", ["red", "C", "A. green"])
def test_answer_that_is_none_of_the_options_is_refused(answer: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of the options"):
        answers_of(tmp_path, answer, ["blue", "green"])


def test_labels_that_say_which_choice_is_right_give_the_answers(tmp_path: Path) -> None:
    row = {"question": QUESTION, "choices": {"choices": list(COLOURS), "labels": [0, 1, 0, 0]}}
    assert load(stored(tmp_path, [row]))[0].answers == ("green",)
    row["choices"] = {"choices": list(COLOURS), "labels": [0, 1, 1, 0]}
    assert load(stored(tmp_path, [row]))[0].answers == ("green", "blue")


# Answers as indexes: all rows together say whether they count from 0 or from 1.

WRITTEN = [int, str, float, lambda number: f"{number}.0"]
"""An index as a whole number, as digits, as pandas writes it where other rows have none, and the same in a CSV file."""


@pytest.mark.parametrize("written", WRITTEN, ids=["1", "'1'", "1.0", "'1.0'"])
@pytest.mark.parametrize(("numbers", "right"), [((1, 2, 0), "green blue red"), ((1, 2, 4), "red green black")])
def test_zero_or_the_number_of_options_says_where_an_index_counts_from(
    written: Any, numbers: tuple[int, ...], right: str, tmp_path: Path
) -> None:
    assert right_options(tmp_path, [written(n) for n in numbers]) == [(each,) for each in right.split()]


def test_number_of_options_is_that_of_the_row(tmp_path: Path) -> None:
    rows = [
        {"question": QUESTION, "options": COLOURS, "answer": 2},
        {"question": QUESTION, "options": COLOURS[:3], "answer": 3},
    ]
    assert [sample.answers for sample in load(stored(tmp_path, rows))] == [("green",), ("blue",)]


def test_row_late_in_a_file_decides_for_the_first_one(tmp_path: Path) -> None:
    answers = right_options(tmp_path, [*[1] * 300, 0])
    assert answers[0] == ("green",)


def test_limit_changes_no_answer(tmp_path: Path) -> None:
    rows = [{"id": n, "question": QUESTION, "options": COLOURS, "answer": n % 4} for n in range(40)]
    source = stored(tmp_path, rows)
    assert loaded(source, limit=1, shuffle=False).samples[0].answers == ("red",)
    drawn = loaded(source, limit=3, seed=1).samples
    assert [sample.answers for sample in drawn] == [(COLOURS[int(sample.id) % 4],) for sample in drawn]


def test_index_beside_missing_answers_is_read(tmp_path: Path) -> None:
    assert right_options(tmp_path, [0, None, 3]) == [("red",), (), ("black",)]
    assert right_options(tmp_path, [0, -1, 3]) == [("red",), (), ("black",)]


def test_zero_and_the_number_of_options_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row"):
        right_options(tmp_path, [0, 1, 4])


@pytest.mark.parametrize("answers", [[1, 2, 3], ["1", "2"], [2.0, 1.0]])
def test_setting_is_named_where_rows_do_not_say_where_counting_starts(
    answers: list[Any], in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(in_tmp, [{"question": QUESTION, "options": COLOURS, "answer": answer} for answer in answers])
    assert main(["preview", "--data", "rows.jsonl", "--test", "add_negation", "--json"]) == 2
    assert "data.answer_index" in capsys.readouterr().err


@pytest.mark.parametrize(("start", "right"), [(0, ("green",)), (1, ("red",))])
def test_setting_says_where_counting_starts(start: int, right: tuple[str, ...], tmp_path: Path) -> None:
    rows = [{"question": QUESTION, "options": COLOURS, "answer": answer} for answer in (1, 2, 3)]
    assert load(stored(tmp_path, rows), answer_index=start)[0].answers == right


@pytest.mark.parametrize(
    ("options", "answers", "right"),
    [
        # Each answer is one of its options: it is meant as the option's text.
        ([12, 15, 18], [15, 12], [("15",), ("12",)]),
        (["12", "15", "18"], ["15", "18"], [("15",), ("18",)]),
        ([12, 15, 18], ["15", 15.0], [("15",), ("15",)]),
        ([4, 3, 2, 1], [4, 1, 3], [("4",), ("1",), ("3",)]),
        # A 0 is none of the options, so that all of them are places.
        ([12, 15, 18], [0, 2], [("12",), ("18",)]),
        ([3, 2, 1], [0, 2], [("3",), ("1",)]),
        (["12", "15", "18"], ["B", "C"], [("15",), ("18",)]),
    ],
)
def test_number_means_an_option_of_that_text_where_all_rows_allow_it(
    options: list[Any], answers: list[Any], right: list[tuple[str, ...]], tmp_path: Path
) -> None:
    assert right_options(tmp_path, answers, options) == right


# Several accepted answers, and none.


@pytest.mark.parametrize(
    ("answer", "options", "accepted"),
    [
        (["green", "blue"], COLOURS, ("green", "blue")), (["B", "C"], COLOURS, ("green", "blue")),
        (["B"], COLOURS, ("green",)), (["B. green"], COLOURS, ("green",)),
        (["Arn", "River Arn"], None, ("Arn", "River Arn")), (["1989", "1989", "in 1989"], None, ("1989", "in 1989")),
        ("stop; look", None, ("stop; look",)), ("red, green", None, ("red, green",)), ("[sic]", None, ("[sic]",)),
        (7, None, ("7",)), (7.5, None, ("7.5",)),
    ],
)  # fmt: skip
def test_each_accepted_answer_is_kept_once(
    answer: Any, options: Any, accepted: tuple[str, ...], tmp_path: Path
) -> None:
    assert answers_of(tmp_path, answer, options) == accepted


@pytest.mark.parametrize("cell", ['["Arn", "River Arn"]', "['Arn', 'River Arn']", "['Arn' 'River Arn']"])
def test_cell_of_a_table_holds_several_answers(cell: str, tmp_path: Path) -> None:
    (sample,) = load(stored_table(tmp_path, [{"question": "Which river is it?", "answer": cell}]))
    assert sample.answers == ("Arn", "River Arn")


def test_correct_answers_of_truthfulqa_are_parted_by_semicolons(tmp_path: Path) -> None:
    row = {
        "Type": "Adversarial",
        "Category": "Plants",
        "Question": "Grass is of which colour?",
        "Best Answer": "Green",
        "Correct Answers": "Green; It is green; Yellow, in a dry summer",
        "Incorrect Answers": "Red; Blue",
        "Source": "https://example.org/grass",
    }
    (sample,) = load(stored_table(tmp_path, [row]))
    assert sample.answers == ("Green", "It is green", "Yellow, in a dry summer")


@pytest.mark.parametrize("answer", [None, "", "  ", [], -1, "-1"])
def test_missing_answer_is_no_answer(answer: Any, tmp_path: Path) -> None:
    assert answers_of(tmp_path, answer) == ()


@pytest.mark.parametrize(
    ("question", "options", "value", "answer"),
    [
        ("Is the grass green?", None, True, "yes"),
        ("Is the grass green?", None, "false", "no"),
        ("is the grass in the park green", None, True, "yes"),
        ("does grass grow in winter", None, "False", "no"),
        ("The grass is green.", None, True, "True"),
        ("The grass is green.", None, False, "False"),
        ("True or false: The grass is green.", None, "false", "False"),
        ("Is the grass green?", ["yes", "no"], True, "yes"),
        ("Is the grass green?", ["No", "Yes"], False, "No"),
        ("Is the grass green?", ["True", "False"], True, "True"),
        ("Is the grass green?", ["false", "true"], "True", "true"),
    ],
)
def test_truth_is_one_of_the_options_else_yes_or_no_to_a_question(
    question: str, options: Any, value: Any, answer: str, tmp_path: Path
) -> None:
    assert answers_of(tmp_path, value, options, question) == (answer,)


# What refuses a file, what is a warning, and what is neither.


def preview(test: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, what is printed, and what is said about it, of a preview of rows.jsonl."""
    code = main(["preview", "--data", "rows.jsonl", "--test", test, "--json"])
    out, err = capsys.readouterr()
    return code, out, err


BROKEN = {"question": QUESTION, "options": COLOURS, "answer": "purple"}
"""A row whose answer is none of its options."""


def test_broken_answer_refuses_no_row_of_a_test_that_needs_none(
    in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(in_tmp, [{**BROKEN, "answer": "green"}, BROKEN, {**BROKEN, "answer": {"odd": 1}}])
    code, out, _ = preview("add_toxic_words", capsys)
    assert (code, len(out.splitlines())) == (0, 3)


LETTERS = [{"question": f"{QUESTION} ({n})", "answer": letter} for n, letter in enumerate("BADC")]
"""Rows whose answers are letters of options that are not there."""


@pytest.mark.parametrize("test", ["add_negation", "option_order"])
@pytest.mark.parametrize(
    ("rows", "told"),
    [([{**BROKEN, "answer": "green"}, BROKEN], ["row 2", "purple"]), (LETTERS, ["answer", "options"])],
    ids=["broken", "letters"],
)
def test_answers_that_mean_no_option_are_an_error_of_a_test_that_needs_them(
    test: str, rows: list[Any], told: list[str], in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(in_tmp, rows)
    code, _, error = preview(test, capsys)
    assert code == 2
    for each in told:
        assert each in error


def test_letters_without_options_are_a_warning_of_a_test_that_needs_none(
    in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(in_tmp, LETTERS)
    code, out, warning = preview("add_toxic_words", capsys)
    assert (code, len(out.splitlines())) == (0, 4)
    assert "options" in warning
    assert "'answer'" in warning


def test_one_letter_may_be_the_answer_of_an_open_question(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Vitamin C, blood group A: only where every row has a letter are they those of options that are missing.
    rows = [("Which vitamin is in lemons?", "C"), ("Which river is the longest of the country?", "The Arn")]
    stored(in_tmp, [{"question": question, "answer": answer} for question, answer in rows])
    assert preview("add_negation", capsys)[0] == 0


PART = "Fresh grass has much chlorophyll in it."


@pytest.mark.parametrize("name", ["hint", "background", "scenario", "premise", "table", "dialogue", "Question 2"])
def test_column_that_looks_like_part_of_the_question_is_asked_or_named(
    name: str, in_tmp: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(in_tmp, [{"question": QUESTION, name: PART, "options": COLOURS, "answer": "B"}])
    code, out, warning = preview("add_negation", capsys)
    assert code == 0
    assert PART in json.loads(out)["original_prompt"] or f"'{name}'" in warning


def test_second_column_of_options_is_named(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"question": QUESTION, "options": COLOURS, "choices": ["pale", "dark"], "answer": "green"}
    stored(in_tmp, [row])
    code, _, warning = preview("add_negation", capsys)
    assert code == 0
    assert "'choices'" in warning


def test_column_that_is_asked_is_no_warning(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(in_tmp, [{"id": "q1", "question": QUESTION, "passage": PART, "options": COLOURS, "answer": "B"}])
    code, out, warning = preview("add_negation", capsys)
    assert (code, warning) == (0, "")
    assert PART in json.loads(out)["original_prompt"]


def rights_of(folder: Path, *values: object, **others: object) -> list[tuple[str, ...]]:
    """Answers of rows whose column `right` holds these values."""
    return [
        sample.answers
        for sample in load(stored(folder, [{"question": QUESTION, **others, "right": value} for value in values]))
    ]


def test_column_called_right_is_the_answer(tmp_path: Path) -> None:
    assert rights_of(tmp_path, "green", "B", options=["blue", "green"]) == [("green",), ("green",)]
    assert rights_of(tmp_path, "It is green.") == [("It is green.",)]


def test_right_that_judges_an_answer_or_names_a_side_is_none(tmp_path: Path) -> None:
    assert rights_of(tmp_path, True, False) == [(), ()]
    assert rights_of(tmp_path, "the old harbour", left="the new harbour") == [()]
