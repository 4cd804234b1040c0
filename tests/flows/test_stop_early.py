"""Looks: a run that may stop early (`stop: early`), and a question that is judged again with more cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow.parquet as pq
import pytest
from fake_endpoint import Endpoint, serving
from made_up_reader import read_made_up
from newest_run import asking, newest, summary_of, write_rows

from contrapose.flows.cli import main
from contrapose.tasks.store import Store

pytestmark = pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")

PAIRS = 90
ASKED_BACK = "Which one does this reply choose?"


@pytest.fixture(autouse=True)
def pairs(in_tmp: Path) -> None:
    """Pairs about articles of one to three of them, in `pairs.jsonl`."""
    rows = [
        {
            "id": f"pair-{number}",
            "article_sentence": f"The bridge over river {number} was opened in {1900 + number}.",
            "correct_sentence": f"Bridge {number} was opened in {1900 + number}.",
            "incorrect_sentence": f"Bridge {number} was closed in {1900 + number}.",
            "article": f"article {number * 2 // 4}",
        }
        for number in range(PAIRS)
    ]
    write_rows("pairs.jsonl", rows)


def evaluated(*options: str, out: str = "runs", stop: str = "early") -> tuple[int, dict[str, Any], Path]:
    """The exit code, the summary and the folder of a run."""
    data = ("--data", "pairs.jsonl", "--set", "data.cluster_by=article")
    code = main(["run", "--suite", "full", *data, "--stop", stop, "--out", out, *options])
    return code, summary_of(out), newest(out)


def outcome(summary: dict[str, Any], test: str = "order_bias") -> dict[str, Any]:
    return next(one for one in summary["tests"] if one["test_type"] == test)


CLOSE = ("--set", "tests.factuality.order_bias.min_pass_rate=0.3")
WHOLE = ("--model", "mock", "--test", "order_bias")
MOCK = (*WHOLE, "--set", "runner_args.portion=8")


def test_a_test_that_is_decided_is_asked_no_further() -> None:
    code, summary, folder = evaluated(*MOCK)
    judged = outcome(summary)
    assert (code, judged["verdict"]) == (1, "fail")
    stopping = judged["stopping"]
    assert 8 <= stopping["judged"] == judged["scored"] < stopping["cases"] == PAIRS
    assert stopping["saved"] > 0
    assert f"Stopped as soon as the verdict was clear: {stopping['judged']} of {PAIRS} cases" in judged["reason"]
    asked = pq.read_table(folder / "cases.parquet")["sample_id"].to_pylist()
    assert set(asked) == set(pq.read_table(folder / "results.parquet")["sample_id"].to_pylist())
    _, whole, _ = evaluated(*WHOLE, stop="all")
    assert "stopping" not in outcome(whole)
    assert outcome(whole)["verdict"] == "fail"
    assert whole["usage"]["from_store"] + whole["usage"]["calls"] == summary["usage"]["calls"] + stopping["saved"]


@pytest.mark.slow
def test_a_resumed_run_stops_where_an_undisturbed_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    code, spent, _ = evaluated(*MOCK, "--max-calls", "20")
    assert (code, outcome(spent)["verdict"]) == (4, "incomplete")
    main(["resume", Store().runs.find_unfinished()[0].id, "--max-calls", "1000"])
    resumed, found = newest("runs"), summary_of("runs")
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{Path('other.sqlite3').resolve()}")
    _, whole, folder = evaluated(*MOCK, out="other")
    assert found["tests"] == whole["tests"]
    assert (resumed / "results.parquet").read_bytes() == (folder / "results.parquet").read_bytes()


@pytest.mark.slow
def test_each_test_stops_by_itself_with_stricter_evidence_among_several() -> None:
    several = ("--model", "mock", "--set", "runner_args.portion=8", "--test", "order_bias", "--test", "add_negation")
    close = ("--set", "tests.factuality.order_bias.min_pass_rate=0.45")
    _, alone, _ = evaluated(*MOCK, *close)
    negation = "tests.sensitivity.add_negation={data: negation, min_pass_rate: 0.5}"
    _, both, _ = evaluated(*several, "--set", negation, *close)
    by_name = {one["test_type"]: one["stopping"] for one in both["tests"]}
    assert len(by_name) == 2
    assert len({one["judged"] for one in by_name.values()}) == 2
    assert by_name["order_bias"]["judged"] >= outcome(alone)["stopping"]["judged"]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
def test_replies_that_cannot_be_read_are_asked_about_once_however_often_one_looks(workers: int) -> None:
    def says(prompt: str) -> str:
        if ASKED_BACK in prompt:
            return read_made_up(prompt) or "AB"[crc32(prompt.encode()) % 2]
        return "Wherever the facts of the article stand, that is the one which I would rather have."

    with serving(Endpoint(says=says)) as endpoint:
        settings = ("runner_args.portion=16", CLOSE[1], f"runner_args.workers={workers}")
        options = (*asking(endpoint.port, *settings), "--test", "order_bias", "--limit", "48")
        _, first, _ = evaluated(*options)
        asked = [request.prompt for request in endpoint.requests if ASKED_BACK in request.prompt]
        _, stored, _ = evaluated(*options)
    assert len(asked) == len(set(asked)) > 24
    assert outcome(first)["stopping"]["looks"] > 1
    assert stored["tests"] == first["tests"]
    # Made-up replies of an earlier look are found in the store at a later one.
    taken = first["usage"]["calls"] + first["usage"]["from_store"]
    assert (stored["usage"]["calls"], stored["usage"]["from_store"]) == (0, taken)


ARGUMENTS = ("--suite", "full", "--model", "mock", "--test", "order_bias")


def judged(*options: str, out: str = "runs") -> dict[str, Any]:
    """The outcome of the one test of a run."""
    main(["run", *ARGUMENTS, *options, "--out", out])
    (outcome,) = summary_of(out)["tests"]
    return dict(outcome)


def evidence(outcome: dict[str, Any]) -> tuple[float, float]:
    return outcome["gates"][0]["reached"], outcome["gates"][0]["missed"]


@pytest.mark.slow
def test_a_run_with_more_cases_is_a_later_look(monkeypatch: pytest.MonkeyPatch) -> None:
    first = judged("--limit", "20", *CLOSE)
    assert "earlier_looks" not in first
    second = judged("--limit", "30", *CLOSE)
    assert second["earlier_looks"] == [20]
    assert "This is the second look: 20 cases did not decide it before" in second["reason"]
    third = judged("--limit", "40", *CLOSE)
    assert third["earlier_looks"] == [20, 30]
    assert "third look: 20 and 30 cases" in third["reason"]
    assert judged("--limit", "20", *CLOSE) == first, "the same look as before"
    assert judged("--limit", "30", *CLOSE) == second
    monkeypatch.setenv("CONTRAPOSE_STORE", f"sqlite:///{Path('other.sqlite3').resolve()}")
    alone = judged("--limit", "40", *CLOSE, out="other")
    assert min(evidence(alone)) < min(evidence(third))
    assert alone["pass_rate"] == third["pass_rate"]
    gates = ("rate", "rows", "extremes", "effective", "clusters", "chance")
    assert [alone["gates"][0][name] for name in gates] == [third["gates"][0][name] for name in gates]
    assert third["gates"][0]["bounds"][0] < alone["gates"][0]["bounds"][0]


@pytest.mark.parametrize(
    "changed",
    [
        ("--set", "tests.factuality.order_bias.min_pass_rate=0.35"),
        pytest.param(("--set", "model_args.revision=another"), marks=pytest.mark.slow),
        pytest.param(("--set", "system_instruction=Be brief."), marks=pytest.mark.slow),
    ],
)
def test_another_question_has_looks_of_its_own(changed: tuple[str, str]) -> None:
    judged("--limit", "20", *CLOSE)
    assert "earlier_looks" not in judged("--limit", "30", *CLOSE, *changed)


@pytest.mark.slow
def test_what_stops_early_is_judged_once_however_often_it_is_run() -> None:
    early = (*CLOSE, "--stop", "early", "--set", "runner_args.portion=8")
    first = judged(*early, "--limit", "40")
    assert judged(*early, "--limit", "40") == first
    more = judged(*early, "--limit", "60")
    assert more["earlier_looks"] == [40]


@pytest.mark.slow
def test_a_verdict_that_fell_is_no_look_at_what_is_open() -> None:
    """Another run with more cases may repeat or contradict it; it is not one that was tried until a verdict came."""
    assert judged("--limit", "20")["verdict"] == "fail"
    assert "earlier_looks" not in judged("--limit", "30")
