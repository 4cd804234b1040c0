"""What is said beside the output is masked as in every report."""

from __future__ import annotations

from pathlib import Path

import pytest

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("own_store", "in_tmp")


@pytest.mark.parametrize(("shown", "options"), [("f*** you", []), ("fuck you", ["--show-toxic"])])
def test_toxic_words_of_the_data_are_masked_in_errors(
    shown: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rows.csv").write_text("id,text\nfuck you,The sky is blue.\nfuck you,Grass is green.\n")
    named = ["--data", "rows.csv", "--set", "data.columns.id=id"]
    assert main(["run", "--model", "mock", *named, "--test", "add_negation", *options]) == 2
    assert shown in capsys.readouterr().err
