"""Trials of agents: every layout gives the same pass^k, gates decide by intervals, and trajectories are compared."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contrapose
from contrapose.flows.cli import main
from contrapose.tasks.certify.agents import estimate_pass_hat
from contrapose.tasks.certify.recorded import certify_verdicts
from contrapose.tasks.certify.trial_log import read_trials
from contrapose.tasks.core.certificate import Certificate, JudgeFinding
from contrapose.tasks.core.errors import ConfigError, DataError
from contrapose.tasks.report.certificate_page import write_certificates

COUNTS = [*14 * [0], *12 * [1], *10 * [2], *4 * [3], *10 * [4]]
"""Passed trials of 50 tasks in four trials, as many as make the figures of a published run of tau-bench."""
PUBLISHED = (0.42, 0.273333, 0.22, 0.2)
Run = tuple[int, int, bool]
"""Task, trial, whether it passed."""
RUNS: list[Run] = [(task, trial, trial < count) for task, count in enumerate(COUNTS) for trial in range(4)]


def chat(*calls: tuple[str, dict[str, Any]], text: str = "Done.") -> list[dict[str, Any]]:
    """Return messages of a reply that makes these calls in turn."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please."}]
    for name, arguments in calls:
        call = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        messages += [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "content": "{}"}]
    return [*messages, {"role": "assistant", "content": text}]


def write_tau(path: Path, runs: Sequence[Run]) -> str:
    rows = [
        {
            "task_id": task,
            "reward": float(passed),
            "info": {"task": {"user_id": f"u{task}"}},
            "traj": [],
            "trial": trial,
        }
        for task, trial, passed in runs
    ]
    return write_json(path / "tau.json", rows)


def write_tau2(path: Path, runs: Sequence[Run]) -> str:
    simulations = [
        {
            "id": f"{task}-{trial}",
            "task_id": str(task),
            "trial": trial,
            "termination_reason": "user_stop",
            "reward_info": {"reward": float(passed)},
            "messages": [{"role": "assistant", "content": "Hi! How can I help you today?"}],
        }
        for task, trial, passed in runs
    ]
    return write_json(
        path / "tau2.json", {"timestamp": "t", "info": {}, "tasks": [{"id": "0"}], "simulations": simulations}
    )


def samples_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [
        {"id": f"q{task}", "epoch": trial + 1, "scores": {"match": {"value": "C" if passed else "I"}}, "messages": []}
        for task, trial, passed in runs
    ]


def write_inspect(path: Path, runs: Sequence[Run]) -> str:
    return write_json(path / "log.json", {"version": 2, "eval": {}, "samples": samples_of(runs)})


def write_log(path: Path, runs: Sequence[Run]) -> str:
    with zipfile.ZipFile(path / "log.eval", "w", zipfile.ZIP_DEFLATED) as log:
        for sample in samples_of(runs):
            log.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return str(path / "log.eval")


def write_csv(path: Path, runs: Sequence[Run]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([("task", "trial", "passed"), *runs])
    (path / "table.csv").write_text(text.getvalue())
    return str(path / "table.csv")


def write_lines(path: Path, runs: Sequence[Run]) -> str:
    """Write rows without the number of the trial."""
    (path / "l.jsonl").write_text("".join(f"{json.dumps({'task': task, 'score': int(ok)})}\n" for task, _, ok in runs))
    return str(path / "l.jsonl")


def write_json(path: Path, value: object) -> str:
    path.write_text(json.dumps(value))
    return str(path)


def finding(certificate: Certificate, name: str) -> JudgeFinding:
    return next(one for one in certificate["findings"] if one["name"] == name)


def certify_rows(path: Path, *rows: dict[str, Any], gates: dict[int, float] | None = None) -> Certificate:
    (certificate,) = certify_verdicts([write_json(path / "rows.json", rows)], min_pass_hat=gates or {})
    return certificate


@pytest.mark.parametrize("write", [write_tau, write_tau2, write_inspect, write_log, write_csv, write_lines])
def test_every_layout_gives_the_same_figures(tmp_path: Path, write: Callable[[Path, Sequence[Run]], str]) -> None:
    (certificate,) = certify_verdicts([write(tmp_path, RUNS)])
    values = [finding(certificate, f"pass^{k}")["value"] for k in (1, 2, 3, 4)]
    assert values == pytest.approx(PUBLISHED, abs=1e-6)
    assert (certificate["verdict"], certificate["verdicts"], certificate["unread"]) == ("shown", 200, 0)
    assert certificate.get("tasks") == 50
    assert "failed_trials" not in certificate


def test_a_verdict_follows_from_the_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_tau(tmp_path, RUNS)
    for k, gate, verdict in ((2, 0.1, "pass"), (2, 0.25, "inconclusive"), (2, 0.6, "fail")):
        (certificate,) = contrapose.certify(verdicts=log, min_pass_hat={k: gate})
        assert (certificate["verdict"], finding(certificate, "pass^2")["gate"]) == (verdict, gate)
    gates = ["--min-pass-hat", "1=0.6", "--min-pass-hat", "5=0.1"]
    assert main(["certify", log, *gates, "--out", str(tmp_path / "out")]) == 1
    printed = capsys.readouterr().out
    assert "200 trials of 50 tasks, 0 without a reward" in printed
    assert "it is at most" in printed
    assert "Too few tasks have as many scored trials" in printed
    assert main(["certify", log, "--min-pass-hat", "5=0.1", "--json"]) == 3


def test_tasks_of_one_user_are_one_group(tmp_path: Path) -> None:
    rows = json.loads(Path(write_tau(tmp_path, RUNS)).read_text())
    for row in rows:
        row["info"]["task"]["user_id"] = row["task_id"] // 5
    assert finding(certify_rows(tmp_path, *rows), "pass^1")["clusters"] == 10
    rows = [{"task_id": row["task_id"], "reward": row["reward"], "domain": row["task_id"] % 7} for row in rows]
    assert finding(certify_rows(tmp_path, *rows), "pass^1")["clusters"] == 7
    # All of a benchmark is no group of it.
    assert finding(certify_rows(tmp_path, *({**row, "group": "g"} for row in rows)), "pass^1")["clusters"] == 50


def test_tasks_with_fewer_trials_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [{"task": task, "passed": True} for task in "aabbb"]
    certificate = certify_rows(tmp_path, *rows, {"task": "c", "passed": False})
    own = [finding(certificate, f"pass^{k}") for k in (1, 2, 3)]
    assert [(one["value"], one["rows"]) for one in own] == [(pytest.approx(2 / 3), 3), (1.0, 2), (1.0, 1)]
    assert [one["reason"] for one in own] == [
        "",
        "1 task with fewer than 2 scored trials left out.",
        "2 tasks with fewer than 3 scored trials left out.",
    ]


def test_trials_without_a_reward_decide_nothing(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"task": task, "trial": trial, "reward": 1.0} for task in range(20) for trial in range(4)
    ]
    assert certify_rows(tmp_path, *rows, gates={1: 0.7})["verdict"] == "pass"
    for row in rows[::2]:
        row["reward"] = None
    certificate = certify_rows(tmp_path, *rows, gates={1: 0.7})
    assert (certificate["verdict"], certificate["unread"]) == ("inconclusive", 40)
    assert [one["name"] for one in certificate["findings"]] == ["pass^1", "pass^2", "pass@2"]
    assert finding(certificate, "pass^1")["value"] == 1
    assert "without a reward decide it" in finding(certificate, "pass^1")["reason"]


def test_a_broken_simulation_is_no_trial_and_a_failed_run_is(tmp_path: Path) -> None:
    log = json.loads(Path(write_tau2(tmp_path, RUNS)).read_text())
    log["simulations"][0]["termination_reason"] = "infrastructure_error"
    log["simulations"][1]["reward_info"] = None
    (trials,) = (read_trials(write_json(tmp_path / "broken.json", log)) or {}).values()
    assert [trial.passed for trial in trials[:3]] == [None, None, False]
    samples = samples_of(RUNS)
    samples[0]["error"] = {"message": "boom"}
    (trials,) = (read_trials(write_json(tmp_path / "errors.json", {"samples": samples})) or {}).values()
    assert [trial.passed for trial in trials[:2]] == [None, False]


def test_rewards_below_one_are_no_success(tmp_path: Path) -> None:
    rows = [{"task": "t", "trial": place, "reward": value} for place, value in enumerate((1, 0.9999999, 0.99, 0.5, 0))]
    (trials,) = (read_trials(write_json(tmp_path / "r.json", rows)) or {}).values()
    assert [trial.passed for trial in trials] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [{"task": "t", "trial": 0, "passed": 1}, {"task": "t", "trial": 0, "passed": 0}],
            "trial 0 of task t a second",
        ),
        ([{"task": "", "trial": 0, "passed": 1}], "row 1: no task"),
        ([{"task": "t", "score": 50}], "column score: the outcome 50"),
        ([{"task": "t", "passed": "perhaps"}], "the outcome perhaps"),
    ],
)
def test_rows_that_cannot_be_counted_are_refused(tmp_path: Path, rows: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(DataError, match=says):
        certify_rows(tmp_path, *rows)


@pytest.mark.parametrize("samples", [[], [{"id": "q", "epoch": 1, "error": {"message": "boom"}}]])
def test_a_log_without_scores_is_refused(tmp_path: Path, samples: list[dict[str, Any]]) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as log:
        for sample in samples:
            log.writestr("samples/q_epoch_1.json", json.dumps(sample))
    with pytest.raises(DataError, match="no trial of log has a reward"):
        read_trials(str(tmp_path / "log.eval"))


@pytest.mark.parametrize("log", ['{"simulations": [3, null]}', '{"samples": ["x", {"scores": 3}]}'])
def test_damaged_logs_are_refused(tmp_path: Path, log: str) -> None:
    (tmp_path / "log.json").write_text(log)
    with pytest.raises(DataError, match="no task"):
        certify_verdicts([str(tmp_path / "log.json")])


@pytest.mark.parametrize("gates", [{0: 0.5}, {1: 0.0}, {2: 25.0}])
def test_gates_that_are_none_are_refused(tmp_path: Path, gates: dict[int, float]) -> None:
    with pytest.raises(ConfigError, match="the gate"):
        certify_rows(tmp_path, {"task": "t", "passed": 1}, gates=gates)


def test_verdicts_of_judges_are_no_trials(tmp_path: Path) -> None:
    row = {"task": "t", "trial": 1, "first": "a", "second": "b", "verdict": "A", "score": 1}
    assert read_trials(write_json(tmp_path / "pairs.json", [row])) is None
    assert read_trials(write_json(tmp_path / "single.json", [{"task": "t", "score": 1, "label": 1}])) is None
    judged = write_json(tmp_path / "judged.json", [{"verdict": "pass", "label": 1}, {"verdict": "fail", "label": 0}])
    with pytest.raises(ConfigError, match=r"the gate 1=0\.5"):
        certify_verdicts([judged], min_pass_hat={1: 0.5})


FIND, BOOK = ("find", {"id": 3}), ("book", {"seat": "4a", "paid": 20.0})
OTHERS: dict[str, tuple[list[tuple[str, dict[str, Any]]], str]] = {
    "makes the same calls": ([FIND, ("book", {"paid": 20, "seat": " 4a"})], ""),
    "book with other arguments": (
        [FIND, ("book", {"seat": "4b", "paid": 20})],
        'Call 2: book, argument seat is "4b" instead of "4a".',
    ),
    "find instead of book": ([FIND, FIND, BOOK], "Call 2: find instead of book."),
    "ends before book": ([FIND], "One call fewer: book."),
    "goes on with cancel": ([FIND, BOOK, ("cancel", {})], "One call more: cancel."),
}


@pytest.mark.parametrize("parting", OTHERS)
def test_a_failed_trial_parts_from_the_passed_one(tmp_path: Path, parting: str) -> None:
    calls, sentence = OTHERS[parting]
    own = {"task": "t", "trial": "failed", "passed": 0, "messages": chat(*calls)}
    near = {"task": "t", "trial": "near", "passed": 1, "messages": chat(FIND, BOOK)}
    far = {"task": "t", "trial": "far", "passed": 1, "messages": chat(BOOK)}
    alone = {"task": "u", "trial": 0, "passed": 0, "messages": chat(FIND)}
    first, second = certify_rows(tmp_path, far, own, near, alone)["failed_trials"]
    assert (first["passed_trial"], first["parting"], first["difference"]) == ("near", parting, sentence)
    assert first["step"] == (2 if "book" in parting else 3)
    assert (second["task"], second["passed_trial"], second["parting"]) == ("u", None, "")


def test_other_words_are_told_apart_from_other_calls(tmp_path: Path) -> None:
    messages = [
        chat(FIND, BOOK),
        chat(FIND, ("book", {"paid": 20, "seat": "4a"})),
        chat(FIND, BOOK, text="It is booked."),
        chat(FIND, ("book", {"seat": "5a"})),
        chat(BOOK, FIND),
    ]
    certificate = certify_rows(tmp_path, *({"task": "t", "passed": 1, "messages": json.dumps(own)} for own in messages))
    shares = {name: finding(certificate, name)["value"] for name in ("same tools", "same calls", "other calls")}
    assert shares == {"same tools": 0.6, "same calls": 0.3, "other calls": 0.7}
    assert finding(certificate, "same calls in other words")["value"] == 0.2
    assert certificate["failed_trials"] == []


def test_pages_show_agents_and_escape_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {
            "agent": agent,
            "task": task,
            "passed": task % 2,
            "calls": [{"name": "<b>find</b>[red]", "arguments": {"x": place}}],
        }
        for agent in ("<i>one</i>", "two|2")
        for task in range(6)
        for place in range(2)
    ]
    rows += [{**row, "passed": 1, "calls": [{"name": "go", "arguments": {}}]} for row in rows[:12]]
    log = write_json(tmp_path / "log.json", rows)
    assert main(["certify", log, "--out", str(tmp_path), "--board", str(tmp_path / "board.md")]) == 0
    page, printed = (tmp_path / "certificate.html").read_text(), capsys.readouterr().out
    assert "<b>find" not in page
    assert "<i>one" not in page
    assert "2 agents" in page
    assert "&lt;b&gt;find&lt;/b&gt;[red] instead of go" in page
    assert "<b>find</b>[red] instead of go" in printed
    board = (tmp_path / "board.md").read_text()
    assert "| agent | tasks | pass^1 |" in board
    assert "<i>" not in board
    assert main(["certify", log, "--json"]) == 0
    kept = json.loads(capsys.readouterr().out)["certificates"]
    written = json.loads((tmp_path / "certificate.json").read_text())["certificates"]
    assert [one["findings"] for one in kept] == [one["findings"] for one in written]
    assert [len(one["failed_trials"]) for one in kept] == [6, 6]
    assert "words" not in printed


def test_half_of_a_surrogate_pair_is_written(tmp_path: Path) -> None:
    calls = [{"name": "\ud800", "arguments": {"\ud801": place}} for place in range(2)]
    rows = [
        {"task_id": "\ud800", "trial": place, "reward_info": {"reward": place}, "messages": [{"tool_calls": [call]}]}
        for place, call in enumerate(calls)
    ]
    (certificate,) = certify_verdicts([write_json(tmp_path / "log.json", {"simulations": rows})])
    write_certificates(tmp_path, [certificate])
    assert certificate["failed_trials"][0]["difference"] == "Call 1: ?, argument ? is 0 instead of 1."


def test_a_gate_of_pass_hat_needs_trials(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "mock", "--min-pass-hat", "3=0.25"]) == 2
    assert main(["certify", "mock", "--min-pass-hat", "three"]) == 2
    assert capsys.readouterr().err.count("contrapose:") == 2


@settings(max_examples=30)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=6), st.integers(1, 5))
def test_pass_hat_is_the_share_of_all_draws_of_k_trials(tasks: list[list[bool]], k: int) -> None:
    enough = [list(combinations(trials, k)) for trials in tasks if len(trials) >= k]
    passed, trials = np.array([sum(task) for task in tasks]), np.array([len(task) for task in tasks])
    for any_of_them, holds in ((False, all), (True, any)):
        estimate = estimate_pass_hat(passed, trials, np.arange(len(tasks)), k, any_of_them=any_of_them)
        if not enough:
            assert estimate is None
            continue
        assert estimate is not None
        assert estimate.rows == len(enough)
        assert estimate.value == pytest.approx(np.mean([np.mean([holds(draw) for draw in draws]) for draws in enough]))


def test_copies_of_a_task_add_nothing() -> None:
    passed, trials = np.array([4, 0, 2, 3, 1, 4, 0, 4, 2, 1, 3, 0] * 2), np.full(24, 4)
    apart = estimate_pass_hat(passed, trials, np.arange(24), 2)
    together = estimate_pass_hat(passed, trials, np.tile(np.arange(12), 2), 2)
    assert apart
    assert together
    assert apart.interval
    assert together.interval
    assert apart.value == together.value
    assert together.clusters == 12
    assert np.ptp(together.interval) > 1.3 * np.ptp(apart.interval)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_interval_of_pass_hat_covers_the_true_value(k: int) -> None:
    """Of 150 made-up benchmarks of 50 tasks in four trials, about 95 % of the intervals hold the true pass^k."""
    rng, held = np.random.default_rng(k), 0
    true = np.mean(np.random.default_rng(0).beta(0.6, 0.8, 1_000_000) ** k)
    for _ in range(150):
        passed = rng.binomial(4, rng.beta(0.6, 0.8, 50))
        estimate = estimate_pass_hat(passed, np.full(50, 4), np.arange(50), k)
        assert estimate
        assert estimate.interval
        held += bool(estimate.interval.low <= true <= estimate.interval.high)
    assert held / 150 > 0.92
