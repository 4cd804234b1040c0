"""The smallest files of public bug reports, where they lie beside the checkout: each is asked as it is meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import REPOSITORY

from contrapose.flows.cli import main

CASES = REPOSITORY.parent / "shared" / "data" / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the small failing inputs are not beside the checkout")


def preview(name: str, capsys: pytest.CaptureFixture[str], *further: str) -> list[dict[str, object]]:
    """What add_negation makes of each row of a file."""
    capsys.readouterr()
    assert main(["preview", "--data", str(CASES / name), "--test", "add_negation", "--json", *further]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def init(name: str, folder: Path) -> str:
    """The suite that init writes for a file, which validate must accept."""
    suite = str(folder / "suite.yaml")
    assert main(["init", "--model", "mock", "--data", str(CASES / name), "--out", suite]) == 0
    assert main(["validate", "--suite", suite]) == 0
    return Path(suite).read_text()


@pytest.mark.parametrize(
    ("name", "contexts"),
    [
        ("K01-context-column.csv", ["Tom has a red hat and a blue coat.", "Ann owns two cats."]),
        ("K01-context-column-v2.jsonl", ["Please pass the salt.", "Give me that now."]),
    ],
)
def test_passage_or_input_stands_in_both_prompts(
    name: str, contexts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for record, context in zip(preview(name, capsys), contexts, strict=True):
        assert str(record["original_prompt"]).startswith(f"{context}\n\n")
        assert str(record["perturbed_prompt"]).startswith(f"{context}\n\n")
        assert context not in str(record["perturbed"])


def test_options_in_letter_columns_are_sent(capsys: pytest.CaptureFixture[str]) -> None:
    for record in preview("K02-letter-columns.csv", capsys):
        assert "\nA. apple\nB. iron\nC. glass\n" in str(record["original_prompt"])


@pytest.mark.parametrize("name", ["K06-init-unusable.jsonl", "K06-init-unusable-v2.jsonl"])
def test_init_reads_conversations_and_turns(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "_id as text" not in init(name, tmp_path)
    asked = preview(name, capsys)
    assert ["lake" in str(asked[0]["original"]), "hill" in str(asked[1]["original"])] == [True, True]


def test_column_whose_values_repeat_is_no_id(tmp_path: Path) -> None:
    assert "id: worker_id" not in init("K08-id-guess.csv", tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        *("K05-several-answers.jsonl", "K05-several-answers-v2.jsonl", "K09-nested.json", "K10-excel-sep.csv"),
        "K10-excel-sep-v2.csv",
    ],
)
def test_every_row_is_read(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(preview(name, capsys)) == 2


def test_negation_stands_in_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    changed = [str(record["perturbed"]) for record in preview("K13-negation-place.csv", capsys)]
    wrong = ("bias not", "delay not", "are not people", "are not workers", "where's not", "who's not", "have resigned")
    assert [text for text in changed for part in wrong if part in text.lower()] == []
    assert "is not the best explanation" in changed[0]
    assert "is not the main reason" in changed[1]
