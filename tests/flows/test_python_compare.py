"""`contrapose.compare` and `contrapose.preview`: as the commands do; what is wrong is one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from finished import rows_from, write_run

import contrapose
from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("in_tmp")


@pytest.fixture
def two(in_tmp: Path) -> tuple[Path, Path]:
    """Folders of two finished runs, of which the second is worse."""
    return (
        write_run(Path("runs/A"), rows_from([True] * 60), model="mock"),
        write_run(Path("runs/B"), rows_from([True] * 20 + [False] * 40), model="hf/other"),
    )


def test_runs_are_compared_as_the_command_compares_them(
    two: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "runs/A", "runs/B", "--json"]) == 1
    comparison = contrapose.compare("A", two[1])
    assert comparison.summary == json.loads(capsys.readouterr().out)
    assert (comparison.verdict, comparison.passed) == ("worse", False)
    assert comparison.report.read_text().startswith("**❌ Worse**")
    assert json.loads((comparison.folder / "comparison.json").read_text()) == comparison.summary
    assert comparison.folder.parent == Path("runs").resolve()


def test_the_results_are_one_row_per_test_and_model(two: tuple[Path, Path]) -> None:
    table = contrapose.compare(*two, out="elsewhere").results.set_index("model")
    assert list(table["rate"]) == [1.0, 20 / 60]
    assert table.loc["hf/other", ["rank", "verdict"]].tolist() == [2, "worse"]
    assert table.loc["hf/other", "difference"] == pytest.approx(-40 / 60)
    assert table.loc["hf/other", "difference_low"] < -40 / 60 < table.loc["hf/other", "difference_high"] < 0
    assert table.loc["mock", ["difference", "verdict"]].isna().all()


def test_another_run_may_be_the_baseline(two: tuple[Path, Path]) -> None:
    comparison = contrapose.compare(*two, baseline=2)
    assert (comparison.summary["baseline"], comparison.verdict) == ("hf/other", "better")


@pytest.mark.parametrize(
    ("runs", "arguments", "error"),
    [
        ((), {}, "expected"),
        (("runs/A", "runs/nowhere"), {}, "no such folder"),
        (("runs/A", "runs/B"), {"baseline": 3}, r"baseline: 3; expected a place among 2 runs"),
        (("runs/A", "runs/B"), {"margin": 2.0}, "margin"),
        (("runs/A", "runs/B"), {"limit": 5, "test": "order_bias"}, "test, limit together with finished runs"),
        (("runs/A", "runs/B"), {"data": pd.DataFrame({"text": ["a"]})}, "data together with finished runs"),
        (("runs/A", "runs/B"), {"models": ["mock"]}, "2 runs and models"),
        ((), {"models": []}, "expected two or more models"),
        ((), {"models": ["mock", "mock"]}, "each once"),
        ((), {"models": ["mock", {"name": "mock"}]}, "a model with name; expected model"),
    ],
)
@pytest.mark.usefixtures("two", "own_store")
def test_what_is_wrong_is_one_line(runs: tuple[str, ...], arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(contrapose.ContraposeError, match=error) as raised:
        contrapose.compare(*runs, **arguments)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("prefect_server", "own_store")
def test_functions_are_evaluated_and_compared_on_a_frame() -> None:
    def polite(prompt: str) -> str:
        return "It is a fine day."

    def rude(prompt: str) -> str:
        return "It is a fucking day." if "ferry" in prompt and prompt[:3] != "The" else "It is a fine day."

    rows = pd.DataFrame({"text": [f"The ferry number {number} leaves." for number in range(40)]})
    models = [polite, {"model": rude, "model_args": {"revision": "v2"}}]
    comparison = contrapose.compare(models=models, data=rows, test="add_toxic_words", quiet=True)
    assert comparison.verdict == "worse"
    names = [model["model"] for model in comparison.summary["models"]]
    assert [name.rpartition(".")[2] for name in names] == ["polite", "rude"]


def test_json_alone_writes_nothing_and_a_folder_named_keeps_its_other_files(two: tuple[Path, Path]) -> None:
    before = sorted(Path("runs").iterdir())
    assert main(["compare", "runs/A", "runs/B", "--json"]) == 1
    assert sorted(Path("runs").iterdir()) == before
    for _ in range(2):
        assert main(["compare", "runs/A", "runs/B", "--out", "kept"]) == 1
        Path("kept/mine.txt").write_text("x")
    names = sorted(file.name for file in Path("kept").iterdir())
    assert names == ["comparison.html", "comparison.json", "comparison.md", "mine.txt"]


@pytest.mark.parametrize("where", [[], ["--out", "kept"]])
def test_toxic_words_are_masked_on_the_page_unless_asked_for(where: list[str], two: tuple[Path, Path]) -> None:
    for option, note in ([], "Toxic words are masked"), (["--show-toxic"], "Toxic words are shown as they are"):
        assert main(["compare", "runs/A", "runs/B", *where, *option]) == 1
        page = max(
            Path().glob("runs/*-comparison*/*.html" if not where else "kept/*.html"),
            key=lambda file: file.stat().st_mtime_ns,
        )
        assert note in page.read_text()


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
