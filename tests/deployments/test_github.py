"""The workflow that gates a pull request: linted, and its scripts run as the runner would run them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from linters import DEPLOYMENTS, lint, understood
from packaging.requirements import Requirement

WORKFLOW = DEPLOYMENTS / "github" / "evaluate.yaml"
JOBS: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text())["jobs"]


def script(job: str, name: str) -> str:
    """The script of a named step."""
    return next(step["run"] for step in JOBS[job]["steps"] if step.get("name") == name)


def run(text: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step's script in the runner's shell; programs in `folder/bin` come before others."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-e", "-c", text]
    return subprocess.run(
        command, cwd=folder, env={"PATH": path, **environment}, capture_output=True, text=True, check=False
    )


def program(folder: Path, name: str, text: str) -> None:
    """A shell script that stands for a program."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("schema", ["vendor.github-workflows", "custom.github-workflows-require-timeout"])
def test_the_workflow_fits_the_schema(schema: str) -> None:
    lint("check-jsonschema", "--builtin-schema", schema, WORKFLOW)


def test_the_workflow_is_safe() -> None:
    lint("zizmor", "--offline", "--quiet", "--no-config", WORKFLOW)


def test_only_the_job_without_the_code_of_the_pull_request_may_write() -> None:
    assert JOBS["evaluate"]["permissions"] == {"contents": "read"}
    assert JOBS["comment"]["permissions"] == {"pull-requests": "write"}
    assert not any("checkout" in step.get("uses", "") for step in JOBS["comment"]["steps"])


@pytest.mark.parametrize(
    ("code", "stop_at", "expected"),
    [("0", "", 0), ("1", "", 1), ("2", "", 2), ("3", "", 0), ("4", "", 0), ("4", "3 4", 4), ("3", "4", 0), ("", "", 2)],
)
def test_the_gate_follows_the_exit_code(tmp_path: Path, code: str, stop_at: str, expected: int) -> None:
    assert run(script("evaluate", "Gate"), tmp_path, CODE=code, STOP_AT=stop_at).returncode == expected


def test_nothing_is_installed_until_its_address_is_set() -> None:
    assert yaml.safe_load(WORKFLOW.read_text())["env"]["CONTRAPOSE"] == ""
    assert JOBS["evaluate"]["steps"][0]["name"] == "Address"


@pytest.mark.parametrize("told", ["", "contrapose", "contrapose==0.1.0"])
def test_what_has_no_address_is_refused(tmp_path: Path, told: str) -> None:
    done = run(script("evaluate", "Address"), tmp_path, CONTRAPOSE=told, CONSTRAINTS="constraints.txt")
    assert done.returncode == 2
    assert done.stdout.startswith(f"::error::CONTRAPOSE is '{told}'; set it")


def test_nothing_is_installed_without_the_versions_of_everything_else(tmp_path: Path) -> None:
    address = "contrapose @ https://files.example.org/contrapose-0.1.0-py3-none-any.whl"
    done = run(script("evaluate", "Address"), tmp_path, CONTRAPOSE=address, CONSTRAINTS="")
    assert done.returncode == 2
    assert done.stdout.startswith("::error::CONSTRAINTS is empty; set it")


def test_every_installation_is_held_to_the_versions_and_none_sees_the_key(tmp_path: Path) -> None:
    program(tmp_path, "python", 'echo "$@" >> calls; env >> environment')
    settings = {"CONTRAPOSE": "contrapose @ https://files.example.org/x.whl", "CONSTRAINTS": "my versions.txt"}
    assert run(script("evaluate", "Install"), tmp_path, **settings).returncode == 0
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call for call in calls if " install " in call and "-c my versions.txt" not in call] == []
    holders = [step["name"] for step in JOBS["evaluate"]["steps"] if "OPENAI_API_KEY" in step.get("env", {})]
    assert holders == ["Evaluate"]
    assert "OPENAI_API_KEY" not in JOBS["evaluate"].get("env", {})


def test_the_addresses_that_are_shown_are_taken_and_hold_the_embedding_model(tmp_path: Path) -> None:
    shown = re.findall(r"^ +#   (contrapose.+)$", WORKFLOW.read_text(), re.MULTILINE)
    assert shown
    for each in shown:
        assert Requirement(each).extras == {"embeddings"}
        assert run(script("evaluate", "Address"), tmp_path, CONTRAPOSE=each, CONSTRAINTS="x").returncode == 0


def test_the_workflow_uses_a_command_that_exists() -> None:
    (command,) = re.findall(r"^contrapose .*(?= \|\|)", script("evaluate", "Evaluate"), re.MULTILINE)
    assert understood(shlex.split(command.replace('${MAX_COST:+--max-cost "$MAX_COST"}', "--max-cost 2")))


@pytest.mark.parametrize("code", [0, 1, 4])
def test_a_run_hands_on_its_exit_code_and_its_report(tmp_path: Path, code: int) -> None:
    program(tmp_path, "contrapose", f'mkdir -p "$7/a" && echo "# Report" > "$7/a/report.md"; exit {code}')
    files = {"GITHUB_OUTPUT": str(tmp_path / "out"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    settings = {"SUITE": "suite.yaml", "MAX_COST": "2", "RUNNER_TEMP": str(tmp_path / "temp")}
    assert run(script("evaluate", "Evaluate"), tmp_path, **files, **settings).returncode == 0
    assert (tmp_path / "out").read_text() == f"code={code}\nreport=true\n"
    assert (tmp_path / "summary").read_text() == "# Report\n"


def test_a_run_that_never_began_has_no_report(tmp_path: Path) -> None:
    program(tmp_path, "contrapose", "exit 2")
    files = {"GITHUB_OUTPUT": str(tmp_path / "out"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    settings = {"SUITE": "suite.yaml", "MAX_COST": "2", "RUNNER_TEMP": str(tmp_path / "temp")}
    assert run(script("evaluate", "Evaluate"), tmp_path, **files, **settings).returncode == 0
    assert (tmp_path / "out").read_text() == "code=2\n"


@pytest.mark.parametrize(
    ("found", "call"), [("", "pr comment 7"), ("12", "--method PATCH repos/o/r/issues/comments/12")]
)
def test_there_is_one_comment(tmp_path: Path, found: str, call: str) -> None:
    program(tmp_path, "gh", f'echo "$@" >> calls; case "$*" in *--paginate*) echo "{found}" ;; esac')
    (tmp_path / "runs" / "a").mkdir(parents=True)
    (tmp_path / "runs" / "a" / "report.md").write_text("é" * 40_000)
    done = run(script("comment", "Comment"), tmp_path, GH_REPO="o/r", NUMBER="7")
    assert done.returncode == 0, done.stderr
    assert call in (tmp_path / "calls").read_text().splitlines()[-1]
    comment = (tmp_path / "comment.md").read_text()
    assert comment.startswith("<!-- contrapose -->\n")
    assert len(comment) < 65_536
