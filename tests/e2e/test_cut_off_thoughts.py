"""Applications and endpoints whose replies end within a thought: a right verdict or none, never a confident FAIL."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_endpoint import Endpoint, serving
from newest_run import asking, newest, results_of, setting, summary_of, write_rows
from tiny_model import save_tiny_model

from contrapose.flows.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")]

PAIRS = 40
RIGHT, WRONG = "The dam was built in 19{:02}.", "The dam was torn down in 18{:02}."
HARD, EASY = 0.6, 0.15
"""Shares of thoughts that are cut off."""


def is_cut(prompt: str, share: float) -> bool:
    return int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16) < share * 2**32


def thought(prompt: str) -> str:
    """At first glance A, whatever is asked, in words that end as a sentence does."""
    return "Okay, the article is about a dam. So the answer is A. I look at the years now."


def answer(prompt: str) -> str:
    options = prompt[prompt.index("A:") :]
    letter = "A" if options.index("was built in") < options.index("torn down") else "B"
    return f"{thought(prompt)} The years have to be compared.\n</think>\n\nThe answer is {letter}."


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


def run(*arguments: str) -> tuple[dict[str, Any], Any]:
    """The test of a run, and its results."""
    main(["run", "--data", "pairs.jsonl", "--test", "order_bias", "--out", "out", "--exit-zero", *arguments])
    summary = summary_of("out")
    return summary, results_of("out")


def app(share: float, *cut: str) -> str:
    """An application that cuts a share of its replies off, to one of these texts."""
    module = f"thinking_{int(100 * share)}_{len(cut)}"
    Path(f"{module}.py").write_text(
        f"import sys\nsys.path[:0] = {sys.path!r}\n"
        f"from test_cut_off_thoughts import answer, is_cut\n"
        f"def said(prompt):\n    cut = {cut!r}[len(prompt) % {len(cut)}]\n"
        f"    return cut if is_cut(prompt, {share}) else answer(prompt)\n"
    )
    return f"app/{module}:said"


@pytest.mark.parametrize(("share", "early"), [(HARD, False), (EASY, True)])
def test_where_some_replies_close_a_thought_the_others_are_thoughts(share: float, early: bool) -> None:
    data()
    options = ["--stop", "early"] if early else []
    summary, results = run("--model", app(share, thought("")), *options)
    (test,) = summary["tests"]
    assert test["verdict"] in ("pass", "inconclusive")
    cut = results["expected_result"].str.startswith("<think>") | results["actual_result"].str.startswith("<think>")
    assert cut.any()
    assert results.loc[cut, "pass"].isna().all()
    assert (results.loc[cut, "reason"] == "The reply is a thought that was cut off before an answer.").all()
    assert results.loc[~cut, "pass"].all()
    assert any("are thoughts that were cut off before an answer" in warning for warning in summary["warnings"])


BROKEN = (
    "Okay, the article is about a dam. At first glance the answer is A. Let me double-check the year, which",
    "Okay, the article is about a dam. So the answer is A. But I still have to see what the other one says about",
    "Hmm. Two summaries. The answer is A because of the dam. I compare the years now:",
)


def test_a_reply_that_breaks_off_within_a_thought_is_unreadable() -> None:
    data()
    summary, results = run("--model", app(1.0, *BROKEN))
    (test,) = summary["tests"]
    assert test["verdict"] == "inconclusive"
    assert results["undecided"].all()


def test_an_endpoint_that_cuts_thoughts_off_is_not_failed() -> None:
    data()
    cut = "Okay, the article is about a dam. So the answer is A, which speaks of the year."
    with serving(Endpoint(says=lambda prompt: cut + " The other", finish="length")) as endpoint:
        summary, results = run(
            *asking(endpoint.port, "model_args.constrained=off", "tests.factuality.order_bias.read_with=ask")
        )
    (test,) = summary["tests"]
    assert test["verdict"] == "inconclusive"
    assert results["undecided"].all()
    assert set(results["expected_outcome"]) == {"cut_off"}


TURNS = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>"
OPENS = TURNS + "<think>\n{% endif %}"
SWITCHED = (
    TURNS + "{% if enable_thinking is defined and not enable_thinking %}{% else %}<think>\n{% endif %}{% endif %}"
)


@pytest.mark.parametrize(
    ("template", "said", "closed"),
    [
        (SWITCHED, "for log-probabilities of letters it is closed with enable_thinking: false", True),
        (OPENS, "cannot close it: written replies are read, with up to 1,024 tokens", False),
    ],
)
def test_a_model_whose_template_opens_a_thought_says_how_it_is_judged(
    tmp_path: Path, template: str, said: str, closed: bool
) -> None:
    data()
    folder = save_tiny_model(tmp_path / "model", chat_template=template, context=256)
    summary, results = run("--model", f"hf/{folder}", "--limit", "3", *setting("model_args.device=cpu"))
    assert any(said in warning for warning in summary["warnings"])
    manifest = json.loads(newest(file="manifest.json").read_text())
    assert manifest["model"]["thought"]
    if closed:
        assert results["expected_label_mass"].gt(0).all()
    else:
        assert set(results["scorer"]) == {"reply"}
        assert summary["tests"][0]["verdict"] == "inconclusive"
        assert results["undecided"].all() or results["pass"].isna().all()
