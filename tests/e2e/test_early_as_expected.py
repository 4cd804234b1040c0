"""What `estimate --stop early` expects is what runs do, of a model that passes with a known chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contrapose.flows.cli import main, make_parser
from contrapose.flows.cli.arguments import load_chosen_config
from contrapose.flows.cli.estimate import yield_look_portions
from contrapose.flows.cli.preview import load_previews
from contrapose.tasks.forecast.counting import CallCounter
from contrapose.tasks.forecast.deciding import CaseGroups
from contrapose.tasks.forecast.early import Course

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.usefixtures("prefect_server", "own_store")]

PAIRS, RUNS, PORTION = 160, 12, 8
PASSED, OFF = 0.25, 0.2
"""Of pairs, whose letters the mock model chooses at random in both orders; and by how much the gate lies above."""


def options(run: int) -> list[str]:
    """Of a run with pairs of its own: what the mock model answers hangs on its prompts."""
    rows = [
        {
            "id": f"pair-{number}",
            "article_sentence": f"The bridge over river {run}-{number} was opened in {1800 + number}.",
            "correct_sentence": f"Bridge {run}-{number} was opened in {1800 + number}.",
            "incorrect_sentence": f"Bridge {run}-{number} was closed in {1800 + number}.",
        }
        for number in range(PAIRS)
    ]
    Path(f"pairs-{run}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    changed = ("--set", f"tests.defaults.min_pass_rate={PASSED + OFF}", "--set", f"runner_args.portion={PORTION}")
    return ["--model", "mock", "--test", "order_bias", "--data", f"pairs-{run}.jsonl", "--stop", "early", *changed]


def ran(run: int) -> dict[str, Any]:
    """The summary of a run."""
    main(["run", *options(run), "--out", f"runs-{run}"])
    (folder,) = Path(f"runs-{run}").glob("[!.]*")
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return summary


def calls_at_looks(run: int) -> dict[int, int]:
    """By how many cases are judged at each look of a run, what it has asked by then."""
    arguments = ["estimate", *options(run)]
    (preview,) = load_previews(load_chosen_config(make_parser(arguments).parse_args(arguments)))
    groups, counter = CaseGroups(), CallCounter(look_up=lambda questions: {})
    counts = counter.add("order_bias", groups.counting(yield_look_portions(preview.order_fairly(), PORTION)))
    course = Course(groups=groups, counts=counts, size=PORTION)
    return {look.judged: count.calls for look, count in zip(course.looks, course.asked, strict=True)}


def test_runs_ask_and_decide_as_expected(in_tmp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", *options(0), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    expected = next(one for one in told["stop_early"]["tests"]["order_bias"] if one["true_rate"] == PASSED)
    shares, failed = [], []
    for run in range(RUNS):
        summary = ran(run)
        (outcome,) = summary["tests"]
        assert summary["usage"]["calls"] == calls_at_looks(run)[outcome["stopping"]["judged"]]
        shares.append(summary["usage"]["calls"] / told["total"]["calls"])
        failed.append(outcome["verdict"] == "fail")
    assert np.mean(shares) == pytest.approx(expected["share"], abs=3 * np.std(shares, ddof=1) / RUNS**0.5 + 0.01)
    chance = expected["fails"]
    assert np.mean(failed) == pytest.approx(chance, abs=3 * (chance * (1 - chance) / RUNS) ** 0.5 + 0.01)
