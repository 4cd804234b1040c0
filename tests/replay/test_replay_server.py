"""Planted judges behind a server on loopback: the whole flow gives them the verdicts that its parts give them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asked_prompts import known
from fake_endpoint import serving
from forms_of_speaking import BY_LETTER, judges
from planted_judges import JUDGES, Judge
from planted_model import PlantedModel
from played import LIMIT, bundled
from replay_server import Constraint, ReplayServer

from contrapose.flows.cli import main

TEST = "order_bias"
SPOKEN = judges(BY_LETTER, options=2)


def behind(judge: Judge, test: str = TEST, **behaviour: object) -> ReplayServer:
    """A server that knows the prompts of a test."""
    return ReplayServer(model=PlantedModel(judge, known(bundled(test).cases)), **behaviour)  # type: ignore[arg-type]


def outcome(server: ReplayServer, test: str = TEST) -> dict[str, object]:
    """What a run of the full suite's test says of whoever is behind a server."""
    with serving(server) as served:
        url = f"model_args.base_url=http://127.0.0.1:{served.port}/v1"
        chosen = ["--suite", "full", "--test", test, "--limit", str(LIMIT[test]), "--model", "openai/planted"]
        code = main(["run", *chosen, "--out", "out", "--set", url])
    folder = max(Path("out").glob("[!.]*"), key=lambda each: each.stat().st_mtime_ns)
    (found,) = json.loads((folder / "summary.json").read_text())["tests"]
    assert code == {"pass": 0, "fail": 1, "inconclusive": 3}[found["verdict"]]
    return dict(found)


FLOWS = {"always right": "pass", "coin": "fail", "silent": "inconclusive"}


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
@pytest.mark.parametrize(("judge", "verdict"), FLOWS.items())
def test_a_whole_run_gives_a_planted_judge_its_verdict(judge: str, verdict: str) -> None:
    assert outcome(behind(JUDGES[judge]))["verdict"] == verdict


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store", "in_tmp")
@pytest.mark.parametrize("constraint", ["refused", "ignored", "obeyed"])
def test_whoever_explains_passes_whether_or_not_the_server_holds_it_to_a_letter(constraint: Constraint) -> None:
    server = behind(SPOKEN["rejected with which"], constraint=constraint)
    assert outcome(server)["verdict"] == "pass"
    assert bool(server.held) == (constraint == "obeyed")
