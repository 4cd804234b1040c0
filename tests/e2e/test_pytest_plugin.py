"""The plugin of pytest in a sample project, in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest
from fake_endpoint import Endpoint, serving
from own_process import Ended, run_process

import contrapose
from contrapose.flows.python.pytest_runs import MOST_LINES, describe_failure

HEAD = """
import re
import contrapose

def politely(text):
    return f"Would you please tell me: {text}"

def same_total(first, second):
    return re.findall(r"\\d+", first) == re.findall(r"\\d+", second)

def total(prompt):
    return sum(map(int, re.findall(r"\\d+", prompt)))

ROWS = dict(edit=politely, before="question", data="questions.csv", score=same_total, gate=0.9)
"""
PASSES = """
@contrapose.stays(**ROWS)
def test_passes(prompt):
    return f"It is {total(prompt)}."
"""
FAILS = """
@contrapose.stays(**ROWS)
async def test_fails(prompt, tmp_path):
    assert tmp_path.is_dir()
    return f"It is {total(prompt) + ('please' in prompt)}."
"""
UNDECIDED = """
class TestTill:
    @contrapose.stays(**ROWS, limit=10)
    def test_undecided(self, prompt):
        return f"It is {total(prompt)}."
"""
BROKEN = """
@contrapose.stays(**ROWS)
def test_broken(prompt):
    raise LookupError("no till")
"""


def outcome(folder: Path, program: str, *arguments: str) -> Ended:
    (folder / "test_sample.py").write_text(HEAD + program, "utf-8")
    rows = "\n".join(f"What is {number} plus {number + 1}?" for number in range(60))
    (folder / "questions.csv").write_text(f"question\n{rows}\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", folder, "-c", "/dev/null", *arguments, folder]
    return run_process(*command, cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_verdicts_are_outcomes_of_pytest(tmp_path: Path, workers: tuple[str, ...]) -> None:
    done = outcome(tmp_path, PASSES + FAILS + UNDECIDED + BROKEN, "-rx", "--xfail-tb", *workers)
    assert "1 failed, 1 passed, 1 xfailed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "more cases are needed" in done.stdout
    assert "pass rate 0% (0.0-6.0%) of 60 cases; gate 90%" in done.stdout
    assert "no till" in done.stdout
    assert "Traceback" not in done.stdout
    assert "pytest_runs.py" not in done.stdout


@pytest.mark.slow
def test_each_failing_test_of_a_suite_shows_a_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = pd.DataFrame({"question": [f"What is {number} plus 1?" for number in range(20)]})
    names = ("politely", "kindly", "shortly")
    tests = [contrapose.relation(after=lambda text, n=n: f"{n}: {text}", score=str.__eq__, name=n) for n in names]
    run = contrapose.evaluate(model=lambda prompt: prompt, data=texts, test=tests, quiet=True)
    lines = describe_failure(run, run.summary["tests"][:2]).splitlines()
    assert len(lines) <= MOST_LINES
    shown = [sum(line.startswith(f"{test['test_type']} ") for line in lines) for test in run.summary["tests"]]
    assert shown == [2, 1, 0]


@pytest.mark.slow
def test_reports_lie_in_the_folder_of_the_option(tmp_path: Path) -> None:
    outcome(tmp_path, PASSES, "--contrapose-report", "reports")
    assert len(list((tmp_path / "reports").glob("*test_passes/*/report.html"))) == 1


@pytest.mark.slow
def test_a_named_model_is_asked_once_for_two_runs_of_pytest(tmp_path: Path) -> None:
    with serving(Endpoint(says=lambda prompt: "It is fine.")) as endpoint:
        program = f"""
def test_suite(contrapose_run):
    suite = {{"tests": {{"robustness": {{"typo": {{"data": "negation", "limit": 8, "scorer": "choice"}}}}}}}}
    arguments = {{"base_url": "http://127.0.0.1:{endpoint.port}/v1"}}
    contrapose_run(suite, model="openai/mine", model_args=arguments, settings={{"noise": 0}})
"""
        outcome(tmp_path, program)
        asked = len(endpoint.bodies)
        outcome(tmp_path, program)
        assert asked > 0
        assert len(endpoint.bodies) == asked


MISTAKES = {
    "@contrapose.stays(edit=politely, data='x.csv')\ndef test_a(): ...": "no parameter for the prompt",
    "@contrapose.stays(edit=politely, data='x.csv', gate=90)\ndef test_a(prompt): ...": "gate is 90",
    "@contrapose.stays(edit=politely)\ndef test_a(prompt): ...": "no data",
    "@contrapose.stays(edit=politely, data='x.csv', gate=True)\ndef test_a(prompt): ...": "gate is True",
    "@contrapose.stays\ndef test_a(prompt): ...": "a decorator without parentheses",
    "@contrapose.becomes\ndef test_a(prompt): ...": "a decorator without parentheses",
}
"""Programs, each of which is a module of its own, and what pytest says of them."""


def test_mistakes_are_told_before_anything_is_asked(tmp_path: Path) -> None:
    for number, program in enumerate(MISTAKES):
        (tmp_path / f"test_mistake_{number}.py").write_text(f"{HEAD}\n{program}\n", "utf-8")
    done = outcome(tmp_path, "")
    for number, words in enumerate(MISTAKES.values()):
        told = done.stdout.partition(f"ERROR collecting test_mistake_{number}.py")[2].partition("ERROR collecting")[0]
        assert f"test_a: {words}" in told, done.stdout
    assert "Traceback" not in done.stdout
    assert done.returncode == 2
