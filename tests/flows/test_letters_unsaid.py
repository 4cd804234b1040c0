"""A run by likelihoods whose letters the model would hardly write: it is judged by what the model says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking, results_of, summary_of, write_rows

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

PAIRS = 36
RIGHT, WRONG = "The dam was built in 19{:02}.", "The dam was torn down in 18{:02}."


def says(prompt: str) -> str:
    """A thought, and then the letter of the right sentence."""
    options = prompt[prompt.index("A:") :]
    letter = "A" if options.index("was built in") < options.index("torn down") else "B"
    return f"<think>\nIs it B, or is it A?\n</think>\n\nThe answer is {letter}."


def unsaid(first: str) -> Callable[[str], dict[str, float]]:
    """First tokens of a model that begins in another way, and of whose letters A is likelier in any order."""
    return lambda prompt: {first: -1e-6, "The": -12.0, "A": -13.0, "B": -19.0}


def data() -> None:
    rows = (
        {
            "id": str(number),
            "article_sentence": f"In 19{number:02} the people of the valley built a dam, {number} metres high.",
            "correct_sentence": RIGHT.format(number),
            "incorrect_sentence": WRONG.format(number),
        }
        for number in range(PAIRS)
    )
    write_rows("pairs.jsonl", rows)


def run(endpoint: Endpoint, out: str) -> tuple[dict[str, Any], Any]:
    """Summary and results of one run."""
    chosen = ["--data", "pairs.jsonl", "--test", "order_bias", "--out", out, "--exit-zero"]
    main(["run", *chosen, *asking(endpoint.port, "model_args.logprobs=true")])
    return summary_of(out), results_of(out)


@pytest.mark.parametrize("first", ["So", "<think>"])
def test_what_the_model_says_decides_where_it_would_say_no_letter(first: str) -> None:
    data()
    with serving(Endpoint(says=says, lists=unsaid(first))) as endpoint:
        summary, results = run(endpoint, "first")
        asked = len(endpoint.requests)
        again, _ = run(endpoint, "second")
    assert len(endpoint.requests) == asked == summary["usage"]["calls"]
    assert again["tests"] == summary["tests"]
    (test,) = summary["tests"]
    assert (test["verdict"], test["figures"]["AB"], test["figures"]["read_instead"]) == ("pass", PAIRS, PAIRS)
    assert 0 < test["figures"]["label_mass_least"] <= test["figures"]["label_mass_median"] < 1e-5
    assert set(results["result_step"]) == set(results["swapped_step"]) == {"pattern"}
    assert set(results["scorer"]) == {"reply"}
    assert (results["expected_label_mass"] < 1e-5).all()
    assert "likelihood" not in test["scorers"]
