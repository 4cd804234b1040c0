"""The workflow that gates a pull request: linted, and its scripts run as the runner would run them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from linters import DEPLOYMENTS, lint
from own_process import Ended, run_process
from places import REPOSITORY

WORKFLOW = DEPLOYMENTS / "github" / "evaluate.yaml"
WORKFLOWS = [WORKFLOW, *sorted((REPOSITORY / ".github" / "workflows").iterdir())]
JOBS: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text())["jobs"]


def script(job: str, name: str) -> str:
    """The script of a named step."""
    return next(step["run"] for step in JOBS[job]["steps"] if step.get("name") == name)


def run(text: str, folder: Path, **environment: str) -> Ended:
    """Run a step's script in the runner's shell; programs in `folder/bin` come before others."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-e", "-c", text]
    return run_process(*command, cwd=folder, env={"PATH": path, **environment})


def program(folder: Path, name: str, text: str) -> None:
    """A shell script that stands for a program."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("schema", ["vendor.github-workflows", "custom.github-workflows-require-timeout"])
def test_the_workflows_fit_the_schema(schema: str) -> None:
    lint("check-jsonschema", "--builtin-schema", schema, *WORKFLOWS)


def test_the_workflows_are_safe() -> None:
    lint("zizmor", "--offline", "--quiet", "--no-config", *WORKFLOWS)


def test_only_the_job_without_the_code_of_the_pull_request_may_write() -> None:
    assert JOBS["evaluate"]["permissions"] == {"contents": "read", "actions": "read"}
    assert JOBS["comment"]["permissions"] == {"pull-requests": "write"}
    assert not any("checkout" in step.get("uses", "") for step in JOBS["comment"]["steps"])


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


def action_step() -> dict[str, Any]:
    return next(step for step in JOBS["evaluate"]["steps"] if step.get("id") == "evaluate")


def test_the_workflow_uses_the_action_at_a_commit_that_nobody_can_publish() -> None:
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text())
    assert action_step()["uses"].endswith(f"/contrapose@{'0' * 40}")
    assert set(action_step()["with"]) <= set(action["inputs"])
    used = re.findall(r"steps\.evaluate\.outputs\.(\w+)", WORKFLOW.read_text())
    assert set(used) <= set(action["outputs"])


def test_the_key_is_in_the_environment_of_one_step() -> None:
    holders = [step.get("id") for step in JOBS["evaluate"]["steps"] if "OPENAI_API_KEY" in step.get("env", {})]
    assert holders == ["evaluate"]
    assert "OPENAI_API_KEY" not in JOBS["evaluate"].get("env", {})


@pytest.mark.parametrize(("known", "downloaded"), [("", False), ("12", True)])
def test_the_last_run_of_the_main_branch_is_downloaded_where_there_is_one(
    tmp_path: Path, known: str, downloaded: bool
) -> None:
    program(tmp_path, "gh", f'echo "$@" >> calls; case "$*" in "run list"*) echo "{known}" ;; *) exit 1 ;; esac')
    done = run(script("evaluate", "Baseline"), tmp_path, BASE="main", GH_REPO="o/r", RUNNER_TEMP=str(tmp_path))
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text()
    assert "run list --workflow evaluate.yaml --branch main --event push" in calls
    assert (f"run download 12 --name contrapose --dir {tmp_path}/baseline" in calls) is downloaded
