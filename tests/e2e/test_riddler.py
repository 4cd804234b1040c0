"""An endpoint whose replies cannot be read is asked back: the verdict follows what it says, nothing is paid twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving
from made_up_reader import read_made_up
from newest_run import asking, newest, write_rows

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "in_tmp", "own_store")

PAIRS = 12
RIDDLE = "Whoever reads the article with some care will know which of them I would hang on my wall: number {}."


@pytest.fixture
def riddler() -> Iterator[Endpoint]:
    """Speaks in riddles that it alone can solve: it is always right."""

    def says(prompt: str) -> str:
        if "Which one does this reply choose?" in prompt:
            told = prompt.partition("Answer with one letter")[0]
            return read_made_up(prompt) or ("Answer: A" if "number one" in told else "B")
        right = prompt.index("It rained") < prompt.index("It snowed", prompt.index("Summary A"))
        return RIDDLE.format("one" if right else "two")

    with serving() as endpoint:
        endpoint.says = says
        yield endpoint


@pytest.fixture
def swot(riddler: Endpoint) -> Endpoint:
    """Speaks in riddles, and answers the question when it is asked what a reply chooses: it is always right, too."""
    riddles = riddler.says
    assert riddles is not None

    def says(prompt: str) -> str:
        if "Which one does this reply choose?" in prompt:
            return "A" if "\nA. It rained" in prompt else "B"
        return riddles(prompt)

    riddler.says = says
    return riddler


def run(endpoint: Endpoint, *arguments: str) -> tuple[int, Path]:
    rows = [
        {
            "article_sentence": f"In week {number} rain fell.",
            "correct_sentence": f"It rained in week {number}.",
            "incorrect_sentence": f"It snowed in week {number}.",
        }
        for number in range(PAIRS)
    ]
    words = ["--test", "order_bias", "--data", write_rows("pairs.jsonl", rows), "--out", "out"]
    code = main(["run", *asking(endpoint.port, "model_args.retries=0"), *words, *arguments])
    return code, newest()


def summary(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "summary.json").read_text())
    return found


def outcomes(folder: Path) -> list[tuple[str, str, str]]:
    rows = pd.read_parquet(folder / "results.parquet")
    return list(zip(rows["outcome"], rows["result_step"], rows["swapped_step"], strict=True))


@pytest.mark.slow
def test_an_always_right_model_that_speaks_in_riddles_passes(riddler: Endpoint) -> None:
    code, folder = run(riddler)
    assert outcomes(folder) == [("AB", "asked", "asked")] * PAIRS
    assert code in (0, 3)
    usage = summary(folder)["usage"]
    assert usage["requests"] == sum(riddler.asked.values())  # type: ignore[index]
    assert set(riddler.asked.values()) == {1}
    before = sum(riddler.asked.values())
    _, again = run(riddler)
    assert sum(riddler.asked.values()) == before
    assert outcomes(again) == outcomes(folder)


def test_a_model_that_answers_the_question_is_found_out_and_its_readings_are_not_used(
    swot: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    code, folder = run(swot)
    told = " ".join(capsys.readouterr().out.split())
    assert (code, outcomes(folder)) == (3, [("unparsed", "unparsed", "unparsed")] * PAIRS)
    cause = (
        f"Of {PAIRS} made-up replies, which choose a wrong option or none, the model read 0 correctly: it may answer "
        "the question instead of reading the reply."
    )
    assert f"order_bias: {2 * PAIRS} replies that could not be read stay so. {cause}" in summary(folder)["warnings"]  # type: ignore[operator]
    (test,) = summary(folder)["tests"]  # type: ignore[misc]
    assert (test["verdict"], test["reason"].endswith(cause)) == ("inconclusive", True)
    assert test["estimates"]["made_up_agreement"]["value"] == test["figures"]["made_up_agreement"] == 0
    assert cause in told
    assert cause in (folder / "report.md").read_text()
    asked = sum(swot.asked.values())
    assert asked == 2 * PAIRS + PAIRS
    _, again = run(swot)
    assert sum(swot.asked.values()) == asked
    assert summary(again)["tests"] == summary(folder)["tests"]


def test_read_with_reply_asks_nothing_back(riddler: Endpoint) -> None:
    _, folder = run(riddler, "--set", "tests.factuality.order_bias.read_with=reply")
    assert outcomes(folder) == [("unparsed", "unparsed", "unparsed")] * PAIRS
    assert not any("Which one does this reply choose?" in prompt for prompt in riddler.asked)


def test_a_spent_budget_leaves_replies_unread_and_says_so(
    riddler: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    most = 2 * PAIRS + PAIRS + 1
    code, folder = run(riddler, "--max-calls", str(most))
    found = summary(folder)
    assert found["usage"]["requests"] == most  # type: ignore[index]
    assert code != 4
    told = " ".join(found["warnings"])  # type: ignore[arg-type]
    assert f"order_bias: 23 of {2 * PAIRS} replies" in told
    assert f"max_calls = {most}" in told
    assert "not asked about" in " ".join(capsys.readouterr().out.split())
    _, whole = run(riddler)
    assert outcomes(whole) == [("AB", "asked", "asked")] * PAIRS
