"""Whole runs at an endpoint whose replies are odd: what they come to, and what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from misbehaving import Misbehaving, misbehaving, reply, sending
from newest_run import asking, summary_of

from contrapose.flows.cli import main

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store")

TESTS = ("add_negation", "add_toxic_words", "order_bias", "option_order")


def summary(content: bytes, out: Path, *more: str) -> tuple[dict[str, Any], int]:
    """What a run tells whose model replies so, and how many prompts it sent."""
    tests = [word for test in TESTS for word in ("--test", test)]
    with misbehaving(Misbehaving(script=sending(content))) as server:
        asked = asking(server.port)
        assert main(["run", *asked, *tests, "--limit", "4", "--exit-zero", "--out", str(out / "runs"), *more]) == 0
    return summary_of(out / "runs"), sum(head.startswith(b"POST") for head in server.headers)


@pytest.mark.slow
def test_replies_without_text_are_paid_once_and_pass_nothing(tmp_path: Path) -> None:
    content = reply(None, finish_reason="length", usage={"prompt_tokens": 9, "completion_tokens": 10**20})
    found, asked = summary(content, tmp_path)
    usage = found["usage"]
    assert usage["requests"] == usage["calls"] == asked
    assert usage["failures"] == 0
    assert {test["verdict"] for test in found["tests"]} <= {"fail", "inconclusive"}
    assert found["verdict"] != "pass"
    silent = [each for each in found["warnings"] if "have no text" in each]
    assert len(silent) == len(TESTS)
    assert all("raise gen_kwargs.max_new_tokens" in each for each in silent)
    assert sum("completion_tokens: 100000000000000000000" in each for each in found["warnings"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [["A", None, "B"], ["Hm", None]])
def test_a_token_that_is_none_ends_no_run(tokens: list[str | None], tmp_path: Path) -> None:
    top = [{"token": token, "logprob": -1.0 - number} for number, token in enumerate(tokens)]
    content = reply(tokens[0], logprobs={"content": [{**top[0], "top_logprobs": top}]})
    found, _ = summary(content, tmp_path, "--set", "model_args.logprobs=true")
    assert found["verdict"] in ("fail", "inconclusive")
