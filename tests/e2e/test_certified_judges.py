"""Planted judges get the certificate that they deserve, from Python, from the command, and in the folder of the run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from newest_run import newest, write_rows

import contrapose
from contrapose.flows.cli import main
from contrapose.tasks.core.certificate import Certificate

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

PAIRS = 80


def answers_in(prompt: str) -> tuple[str, str]:
    """The two answers that a prompt shows."""
    shown = prompt.split("Answer A:\n")[1].split("\n\nAnswer B:\n")
    return shown[0], shown[1].rpartition("\n\n")[0]


def favours(mark: str) -> Callable[[str], str]:
    """A judge that chooses the answer with a mark, and else calls a tie."""

    def judge(prompt: str) -> str:
        a, b = (mark in answer for answer in answers_in(prompt))
        return "tie" if a == b else "A" if a else "B"

    return judge


def fair(prompt: str) -> str:
    """Prefers the answer that holds `sunny`, and calls equal contents a tie."""
    return favours("sunny")(prompt)


def always_first(prompt: str) -> str:
    return "A"


def write_pairs() -> str:
    texts = [
        ("It is a good day. Take it easy.", "It is a bad day. Stay at home."),
        ("No. It will rain.", "Yes. It stays sunny."),
    ]
    rows = [
        {"id": f"p{n}", "instruction": f"Day {n}?", "answer_a": f"{a} ({n})", "answer_b": f"{b} ({n})"}
        for n in range(PAIRS)
        for a, b in [texts[n % 2]]
    ]
    return write_rows("pairs.jsonl", rows)


def verdicts_of(certificate: Certificate) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in certificate["findings"] if one["verdict"] != "shown"}


@pytest.mark.parametrize(
    ("judge", "failing"),
    [
        pytest.param(fair, set(), id="fair"),
        pytest.param(always_first, {"direction of position", "position of equal answers"}, id="always first"),
        pytest.param(favours("\n- "), {"bullets"}, id="bullets"),
    ],
)
def test_a_planted_judge_fails_by_its_own_bias_and_no_other(judge: Callable[[str], str], failing: set[str]) -> None:
    (certificate,) = contrapose.certify(judge, data=write_pairs(), quiet=True, out="out")
    found = verdicts_of(certificate)
    assert {name for name, verdict in found.items() if verdict == "fail"} == failing
    assert certificate["verdict"] == ("fail" if failing else "pass")
    kept = json.loads((newest() / "certificate.json").read_text(encoding="utf-8"))["certificates"]
    assert kept == json.loads(json.dumps([certificate]))
    assert certificate["judge"] in (newest() / "certificate.html").read_text(encoding="utf-8")


def test_the_command_says_how_much_it_asks_before_it_asks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "mock", "--limit", "6", "--out", "told"]) in (1, 3)
    said, shown = capsys.readouterr().err, capsys.readouterr().out
    assert re.search(r"mock gets \d+ calls", said)
    assert shown == ""
    assert len(list(Path("told").glob("[!.]*/certificate.html"))) == 1


def test_a_run_without_a_test_of_judges_has_no_certificate() -> None:
    assert (
        main(["run", "--model", "mock", "--test", "order_bias", "--limit", "4", "--out", "plain", "--exit-zero"]) == 0
    )
    assert not list(Path("plain").glob("[!.]*/certificate.*"))


def test_several_judges_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "mock", "embedded"]) == 2
    assert "2 judges; expected one judge, or files of recorded verdicts" in capsys.readouterr().err
