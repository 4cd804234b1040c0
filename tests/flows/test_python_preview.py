"""`contrapose.preview`: the cases of the command as a table; nobody is asked, and nothing is left."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import contrapose
from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("in_tmp")

ROWS = pd.DataFrame({"id": ["a", "b"], "text": ["The sky is blue.", "No bird sings."]})


def test_the_cases_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preview", "--suite", "quickstart", "--model", "mock", "--limit", "5", "--json", "--show-toxic"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    cases = [case for line in lines for case in line.get("cases", [line])]
    table = contrapose.preview("quickstart", model="mock", limit=5)
    for column in ("case_id", "changed", "original", "perturbed", "original_prompt", "perturbed_prompt", "options"):
        shown = [None if value is None or value != value else value for value in table[column]]
        assert shown == [case[column] for case in cases]
    assert list(dict.fromkeys(table["test"])) == list(dict.fromkeys(case["probe"] for case in cases))


def test_a_frame_is_previewed_and_leaves_nothing() -> None:
    table = contrapose.preview(data=ROWS, test="add_negation").set_index("sample_id")
    assert table.loc["a", "perturbed"] == "The sky is not blue."
    assert table.loc["b", "skip_reason"] == "existing_negation"
    assert list(Path().iterdir()) == []


def test_a_function_may_be_the_model_and_is_not_asked() -> None:
    def answer(prompt: str) -> str:
        raise AssertionError(prompt)

    table = contrapose.preview(model=answer, data=ROWS, test="add_toxic_words")
    assert table["changed"].all()
    assert (table["perturbed_prompt"] != table["original_prompt"]).all()


def test_rows_that_are_left_out_are_warned_of() -> None:
    data = pd.concat([ROWS, pd.DataFrame({"id": ["c"], "text": [None]})])
    with pytest.warns(UserWarning, match=r"^the DataFrame .* were left out; .*row 3"):
        table = contrapose.preview(data=data, test="add_toxic_words", skip_bad_rows=True)
    assert table["sample_id"].tolist() == ["a", "b"]


def test_most_rows_in_another_language_are_warned_of() -> None:
    data = pd.DataFrame({"id": ["a", "b"], "text": ["Der alte Hafen liegt im Norden.", "The sky is blue."]})
    with pytest.warns(UserWarning, match=r"^typo: 1 of 2 rows is not in English$"):
        table = contrapose.preview(data=data, test="typo")
    assert table["skip_reason"].tolist()[0] == "not_english"
