"""Two answers in a row: with a label, without, and with some; a tie is a label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from load.sources import loaded, refusal, stored

from contrapose.flows.cli import main
from contrapose.tasks.core.records import AnswerPair
from contrapose.tasks.load.samples import LoadedSamples

NAMES = [
    *(("answer_a", "answer_b"), ("response_a", "response_b"), ("assistant_a", "assistant_b"), ("output_1", "output_2")),
    *(("answerA", "answerB"), ("completion_1", "completion_2"), ("Response 1", "Response 2")),
]


def load(rows: list[dict[str, Any]], folder: Path, **data: Any) -> LoadedSamples:
    return loaded(stored(folder, rows), AnswerPair, **data)


def winners(rows: list[dict[str, Any]], folder: Path, **data: Any) -> list[str | None]:
    return [sample.winner for sample in load(rows, folder, shuffle=False, **data).samples]


@pytest.mark.parametrize(("first", "second"), NAMES)
def test_two_answers_without_a_label_are_a_pair(first: str, second: str, tmp_path: Path) -> None:
    found = load([{"question": "Why?", first: "So.", second: "Because."}], tmp_path)
    [sample] = found.samples
    assert (sample.instruction, sample.first, sample.second, sample.winner) == ("Why?", "So.", "Because.", None)
    assert any("no row says which answer is better" in warning for warning in found.warnings)


def test_two_answers_alone_are_enough(tmp_path: Path) -> None:
    [sample] = load([{"id": "x", "answer_a": "So.", "answer_b": "Because."}], tmp_path).samples
    assert (sample.instruction, sample.first) == (None, "So.")


def test_a_column_that_may_be_the_instruction_must_be_named(tmp_path: Path) -> None:
    rows = [{"what the user wrote": "Why is it so?", "answer_a": "So.", "answer_b": "Because."}]
    assert "instruction" in refusal(stored(tmp_path, rows), AnswerPair)
    [sample] = load(rows, tmp_path, columns={"instruction": "what the user wrote"}).samples
    assert sample.instruction == "Why is it so?"
    [sample] = load(rows, tmp_path, columns={"instruction": ""}).samples
    assert sample.instruction is None


@pytest.mark.parametrize("column", ["winner", "label", "preference", "better", "verdict"])
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["A", "B", "tie", None], ["first", "second", "tie", None]),
        (["model_a", "model_b", "tie (bothbad)", ""], ["first", "second", "tie", None]),
        (["[[A]]", "[[B]]", "[[C]]", "A=B"], ["first", "second", "tie", "tie"]),
        ([1, 2, 0, None], ["first", "second", "tie", None]),
        (["1", "2", "1.5", "1"], ["first", "second", "tie", "first"]),
    ],
)
def test_a_label_may_be_a_tie_or_missing(column: str, cells: list[Any], expected: list[Any], tmp_path: Path) -> None:
    rows = [
        {"question": "Why?", "answer_a": f"So {n}.", "answer_b": "Because.", column: c} for n, c in enumerate(cells)
    ]
    assert winners(rows, tmp_path) == expected


def test_some_rows_may_lack_a_label(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"question": "Why?", "answer_a": f"So {n}.", "answer_b": "No."} for n in range(3)]
    rows[0]["winner"] = "B"
    found = load(rows, tmp_path)
    assert sorted(str(sample.winner) for sample in found.samples) == ["None", "None", "second"]
    assert any("2 of 3 rows do not say which answer is better" in warning for warning in found.warnings)


def test_some_rows_may_name_the_better_answer_and_others_only_two(tmp_path: Path) -> None:
    rows = [
        {"question": "Why?", "better": "So.", "worse": "No."},
        {"question": "Why not?", "answer_a": "So.", "answer_b": "No."},
        {"question": "Where?", "answer_a": "Here.", "answer_b": "There."},
    ]
    assert winners(rows, tmp_path) == ["first", None, None]


def test_zero_and_one_may_mean_two_things(tmp_path: Path) -> None:
    rows = [{"question": "Why?", "answer_a": f"So {n}.", "answer_b": "No.", "label": n % 2} for n in range(4)]
    told = refusal(stored(tmp_path, rows), AnswerPair)
    assert "0 and 1" in told
    assert "answer_index" in told
    assert winners(rows, tmp_path, answer_index=0) == ["first", "second"] * 2
    assert winners(rows, tmp_path, answer_index=1) == ["tie", "first"] * 2


def test_a_column_of_other_labels_decides_nothing(tmp_path: Path) -> None:
    rows = [{"question": "Why?", "answer_a": f"So {n}.", "answer_b": "No.", "label": "safety"} for n in range(3)]
    assert winners(rows, tmp_path) == [None] * 3


def test_a_wrong_label_is_an_error_with_its_row(tmp_path: Path) -> None:
    rows = [{"question": "Why?", "answer_a": f"So {n}.", "answer_b": "No.", "winner": "A"} for n in range(3)]
    rows[1]["winner"] = "perhaps"
    assert "row 2: column 'winner': 'perhaps' does not say which" in refusal(stored(tmp_path, rows), AnswerPair)


@pytest.mark.parametrize(
    ("row", "goal"),
    [
        (
            {"question": "Which one is it?", "answer_a": "a red fox", "answer_b": "a grey fox", "correct": "A"},
            "options",
        ),
        ({"question": "Why is it so?", "response_a": "So it is.", "response_b": "It is not."}, "judge"),
        ({"question": "Why is it?", "answer_a": "So it is.", "answer_b": "It is not.", "winner": "tie"}, "judge"),
    ],
)
def test_init_takes_two_answers_for_a_pair_where_nothing_else_explains_them(
    row: dict[str, str], goal: str, in_tmp: Path
) -> None:
    rows = [{name: f"{text} {n}" if " " in text else text for name, text in row.items()} for n in range(6)]
    stored(in_tmp, rows)
    assert main(["init", "--data", "rows.jsonl", "--model", "mock", "--out", "suite.yaml"]) == 0
    tests = {"options": "option_order", "judge": "judge_order"}
    assert tests[goal] in Path("suite.yaml").read_text()
