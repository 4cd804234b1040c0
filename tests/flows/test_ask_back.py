"""A run asks back about replies that it cannot read, and about a few that it can, to learn how well the model reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from fake_endpoint import Endpoint, serving
from made_up_reader import read_made_up

from contrapose.flows.cli import main

ASKED_BACK = "Which one does this reply choose?"
READ = "Summary A is more consistent with the article, because it repeats what was written there."
UNREAD = "Wherever the facts of the article stand, that is the one which I would rather have."
pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")


def judge(back: Callable[[str], str]) -> Callable[[str], str]:
    """Says A, in readable words to about every second prompt, else in unreadable ones, and reads itself by `back`.

    It reads made-up replies as what they say.
    """

    def says(prompt: str) -> str:
        if ASKED_BACK in prompt:
            return read_made_up(prompt) or back(prompt)
        return (READ, UNREAD)[crc32(prompt.encode()) % 2]

    return says


def run(endpoint: Endpoint, *, times: int = 1) -> list[dict[str, Any]]:
    """The summary of each of so many runs, one after the other."""
    with serving(endpoint) as served:
        url = f"model_args.base_url=http://127.0.0.1:{served.port}/v1"
        chosen = ["--suite", "full", "--test", "order_bias", "--limit", "12", "--model", "openai/any"]
        for number in range(times):
            main(["run", *chosen, "--out", f"out/{number}", "--set", url])
    return [json.loads(next(Path(f"out/{number}").glob("[!.]*/summary.json")).read_text()) for number in range(times)]


def backs(endpoint: Endpoint) -> list[str]:
    return [each.prompt for each in endpoint.requests if ASKED_BACK in each.prompt]


def doubts(summary: dict[str, Any]) -> list[str]:
    return [warning for warning in summary["warnings"] if "asking back read" in warning]


def test_replies_that_rules_read_are_asked_about_too_and_paid_for_once() -> None:
    endpoint = Endpoint(says=judge(lambda _: "A"))
    before, after = run(endpoint, times=2)
    asked = backs(endpoint)
    unread, read = (sum(reply in prompt for prompt in asked) for reply in (UNREAD, READ))
    made_up = sum(read_made_up(prompt) is not None for prompt in asked)
    assert unread + read + made_up == len(asked)
    assert 0 < read <= unread
    assert 0 < made_up <= unread
    (test,) = before["tests"]
    agreed = test["estimates"]["asked_agreement"]
    assert (agreed["value"], doubts(before)) == (1, [])
    assert 0 < agreed["rows"] <= read
    assert test["estimates"]["made_up_agreement"] | {"interval": None} == {
        "value": 1,
        "interval": None,
        "rows": made_up,
        "clusters": made_up,
        "among": "made-up replies",
    }
    assert test["figures"]["read_by_asked"] + test["figures"]["read_by_pattern"] == 1
    assert after["usage"]["calls"] == 0
    assert len(endpoint.requests) == before["usage"]["calls"]
    assert after["tests"] == before["tests"]


def test_a_model_that_reads_badly_is_asked_nothing_more_and_overrules_no_rule() -> None:
    endpoint = Endpoint(says=judge(lambda prompt: "B" if READ in prompt else "A"))
    (summary,) = run(endpoint)
    asked, (test,) = backs(endpoint), summary["tests"]
    assert sum(READ in prompt for prompt in asked) > 0
    assert not any(UNREAD in prompt for prompt in asked)
    (warning,) = [each for each in summary["warnings"] if "stay so" in each]
    found = re.search(
        r"replies that rules could read, the model, asked back, read 0 as they do; at least 95 %", warning
    )
    assert found is not None
    figures = test["figures"]
    assert figures["unread"] > 0
    assert "read_by_asked" not in figures
    assert (figures["AB"], figures["BB"], figures["BA"]) == (0, 0, 0)
    assert test["estimates"]["asked_agreement"]["value"] == 0
    assert doubts(summary) == []


@pytest.mark.slow
def test_a_model_that_may_read_well_enough_is_asked_and_doubted() -> None:
    wrong: list[str] = []

    def back(prompt: str) -> str:
        if READ in prompt and not wrong:
            wrong.append(prompt)
        return "B" if prompt in wrong else "A"

    (summary,) = run(Endpoint(says=judge(back)))
    (doubt,) = doubts(summary)
    assert re.search(r"asking back read [\d.]+% of the choices, perhaps wrongly: of \d+ replies that rules", doubt)
    assert summary["tests"][0]["figures"]["AA"] == 12


@pytest.mark.slow
def test_that_nothing_could_be_checked_is_told() -> None:
    (summary,) = run(Endpoint(says=lambda prompt: (read_made_up(prompt) or "A") if ASKED_BACK in prompt else UNREAD))
    (doubt,) = doubts(summary)
    assert "is unknown: rules could read none to check it by" in doubt


@pytest.mark.slow
def test_nobody_is_asked_back_where_everything_was_read() -> None:
    endpoint = Endpoint(says=lambda _: READ)
    (summary,) = run(endpoint)
    assert backs(endpoint) == []
    assert "asked_agreement" not in summary["tests"][0]["estimates"]
