"""`contrapose.compare`: finished runs, or models that are evaluated first; what is wrong is one line."""

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
        (("runs/A",), {}, "expected"),
        (("runs/A", "runs/nowhere"), {}, "no such folder"),
        (("runs/A", "runs/B"), {"baseline": 3}, r"baseline: 3; expected a place among 2 runs"),
        (("runs/A", "runs/B"), {"margin": 2.0}, "margin"),
        (("runs/A", "runs/B"), {"limit": 5, "test": "order_bias"}, "test, limit together with finished runs"),
        (("runs/A", "runs/B"), {"data": pd.DataFrame({"text": ["a"]})}, "data together with finished runs"),
        (("runs/A", "runs/B"), {"models": ["mock"]}, "2 runs and models"),
        ((), {"models": []}, "expected two or more models"),
        ((), {"models": ["mock", "mock"]}, "each once"),
        ((), {"models": ["mock", 5]}, "model is 5, a int"),
        ((), {"models": ["mock", {"name": "mock"}]}, "a model with name; expected model"),
        ((), {"models": ["mock", "openia/x"]}, "unknown provider 'openia'"),
        ((), {"models": ["mock", len], "settings": {"runner": "ray"}}, "a function of this process"),
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


def test_the_command_publishes_a_page_beside_the_baseline_and_prints_where(
    two: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "runs/A", "runs/B"]) == 1
    page = Path(capsys.readouterr().out.splitlines()[-1].removeprefix("Page: "))
    assert page.parent.parent == Path("runs").resolve()
    assert "40 lost" in page.read_text()
    assert sorted(file.name for file in page.parent.iterdir()) == [
        "comparison.html",
        "comparison.json",
        "comparison.md",
    ]


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
