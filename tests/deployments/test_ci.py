"""The action, GitLab's job, the comment and the badge: their scripts run for real, against an API on loopback."""

from __future__ import annotations

import json
import os
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from linters import DEPLOYMENTS, lint, understood
from own_process import Ended, run_process
from places import REPOSITORY
from small_server import Asked, answering

ACTION = REPOSITORY / "action.yml"
GITLAB = DEPLOYMENTS / "gitlab" / "evaluate.yml"
STEPS = {step["name"]: step.get("run", "") for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]}
BEFORE = 150
"""Comments of other people: more than a page."""


class Api:
    """Keeps comments as GitHub and GitLab do; whoever has no token is refused."""

    def __init__(self) -> None:
        self.url = ""
        self.comments = [self.comment(number, f"talk {number}", "User", 1) for number in range(BEFORE)]
        self.comments.append(self.comment(500, "<!-- contrapose -->\nforged by a person", "User", 1))

    @staticmethod
    def comment(number: int, body: str, kind: str, author: int) -> dict[str, Any]:
        return {"id": number, "body": body, "user": {"type": kind}, "author": {"id": author}}

    def answer(self, asked: Asked) -> None:
        status, content = self.read(asked) if asked.command == "GET" else self.write(asked)
        asked.reply(json.dumps(content).encode(), status=status)

    def read(self, asked: Asked) -> tuple[int, object]:
        if "secret" not in (asked.headers.get("Authorization") or asked.headers.get("PRIVATE-TOKEN") or ""):
            return 401, {}
        if asked.path.endswith("/user"):
            return 200, {"id": 7}
        page = int(asked.path.rpartition("page=")[2])
        return 200, self.comments[(page - 1) * 100 : page * 100]

    def write(self, asked: Asked) -> tuple[int, object]:
        body = json.loads(asked.read())["body"]
        if asked.command == "POST":
            self.comments.append(self.comment(1000 + len(self.comments), body, "Bot", 7))
            return 201, {}
        number = int(asked.path.rpartition("/")[2])
        next(item for item in self.comments if item["id"] == number)["body"] = body
        return 200, {}


@pytest.fixture
def api() -> Iterator[Api]:
    made = Api()
    with answering(made.answer) as made.url:
        yield made


def environment(api: Api, host: str, token: str = "secret") -> dict[str, str]:
    address = f"{api.url}/api/v4"
    if host == "github":
        names = {"GITHUB_API_URL": address, "GITHUB_REPOSITORY": "o/r", "GITHUB_TOKEN": token, "PULL_REQUEST": "7"}
    else:
        names = {"CI_API_V4_URL": address, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
        names["CONTRAPOSE_COMMENT_TOKEN"] = token
    return {"PATH": os.environ["PATH"], **names}


def comment(folder: Path, text: str, *extra: str, **names: str) -> Ended:
    (folder / "report.md").write_text(text)
    command = [sys.executable, "-m", "contrapose.deployments.ci.comment", "report.md", *extra]
    return run_process(*command, cwd=folder, env=names)


@pytest.mark.parametrize("host", ["github", "gitlab"])
def test_a_comment_is_replaced_and_nobody_elses_is_touched(tmp_path: Path, api: Api, host: str) -> None:
    for text in ("# First", "é" * 40_000, "# Third"):
        done = comment(tmp_path, text, **environment(api, host))
        assert done.returncode == 0, done.stderr
        body = api.comments[-1]["body"]
        assert len(body.encode()) <= 60_000
        assert body[-1] in "tdé", "it is cut at a whole character"
    assert comment(tmp_path, "# Other", "--name", "other.yaml", **environment(api, host)).returncode == 0
    made = [item["body"] for item in api.comments[BEFORE + 1 :]]
    assert made == ["<!-- contrapose -->\n# Third", "<!-- contrapose other.yaml -->\n# Other"]
    assert api.comments[BEFORE]["body"].endswith("forged by a person")


def test_a_refused_token_is_one_line_without_it(tmp_path: Path, api: Api) -> None:
    done = comment(tmp_path, "# Report", **environment(api, "github", token="wrong"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "401" in done.stderr
    assert "wrong" not in done.stderr


def test_outside_of_a_runner_it_says_what_is_missing(tmp_path: Path) -> None:
    done = comment(tmp_path, "# Report", PATH=os.environ["PATH"])
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'GITHUB_REPOSITORY' is not set" in done.stderr


@pytest.mark.parametrize("verdict", ["pass", "fail", "inconclusive", "incomplete"])
def test_a_badge_tells_the_verdict(tmp_path: Path, verdict: str) -> None:
    (tmp_path / "summary.json").write_text(json.dumps({"verdict": verdict}))
    command = [sys.executable, "-m", "contrapose.deployments.ci.badge", "summary.json", "badge", "--label", "a <b>"]
    assert run_process(*command, cwd=tmp_path).returncode == 0
    shown = json.loads((tmp_path / "badge" / "badge.json").read_text())
    assert (shown["schemaVersion"], shown["label"], shown["message"]) == (1, "a <b>", verdict)
    drawn = ET.parse(tmp_path / "badge" / "badge.svg").getroot()
    assert drawn.attrib["aria-label"] == f"a <b>: {verdict}"


def program(folder: Path, name: str, text: str) -> None:
    path = folder / "contrapose" / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def runner(tmp_path: Path) -> dict[str, str]:
    """What the steps find: a command that leaves a run and ends with CODE, and the real Python."""
    made = 'for last; do :; done; mkdir -p "$last/a"; echo "# Report" > "$last/a/report.md"'
    summary = """echo '{"verdict": "fail"}' > "$last/a/summary.json"; echo "$@" > "$RUNNER_TEMP/asked"; exit $CODE"""
    program(tmp_path, "contrapose", f"{made}; {summary}")
    program(tmp_path, "python", f'exec {sys.executable} "$@"')
    files = {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    return {"RUNNER_TEMP": str(tmp_path), "SUITE": "my suite.yaml", "MODEL": "", "MAX_COST": "2", **files}


def step(name: str, **names: str) -> Ended:
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]]
    return run_process(*command, env={"PATH": os.environ["PATH"], **names})


@pytest.mark.parametrize(("code", "cost"), [("0", "2"), ("1", ""), ("4", "2")])
def test_the_action_hands_on_code_report_and_badge(
    tmp_path: Path, runner: dict[str, str], code: str, cost: str
) -> None:
    done = step("Evaluate", **{**runner, "MAX_COST": cost}, CODE=code)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "output").read_text() == f"code={code}\nrun={tmp_path}/runs/a\nverdict=fail\n"
    assert (tmp_path / "summary").read_text() == "# Report\n"
    assert (tmp_path / "badge" / "badge.svg").is_file()
    assert (
        (tmp_path / "asked")
        .read_text()
        .startswith(f"run --suite my suite.yaml --{f'max-cost {cost}' if cost else 'out'}")
    )


def test_a_run_that_never_began_has_no_folder(tmp_path: Path, runner: dict[str, str]) -> None:
    program(tmp_path, "contrapose", "exit 2")
    assert step("Evaluate", **runner).returncode == 0
    assert (tmp_path / "output").read_text() == "code=2\n"


@pytest.mark.parametrize(
    ("made", "given"), [("runs-of-main/a/summary.json", True), ("runs-of-main/summary.json", True), ("", False)]
)
def test_the_main_branch_is_compared_with_where_it_has_a_run(
    tmp_path: Path, runner: dict[str, str], made: str, given: bool
) -> None:
    folder = tmp_path / "runs-of-main"
    if made:
        (tmp_path / made).parent.mkdir(parents=True)
        (tmp_path / made).touch()
    done = step("Evaluate", **runner, CODE="0", AGAINST=str(folder))
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text()
    assert (f"--against {folder}" in asked) is given
    assert ("::warning::There is no run" in done.stdout) is not given
    assert understood(["contrapose", *asked.replace("my suite.yaml", "suite.yaml").split()])


def test_every_installation_is_held_to_the_versions_and_none_sees_the_key(tmp_path: Path) -> None:
    program(tmp_path, "python", 'echo "$@" >> "$RUNNER_TEMP/calls"; env >> "$RUNNER_TEMP/environment"')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/bin/true")
    names = {"RUNNER_TEMP": str(tmp_path), "HERE": str(REPOSITORY), "OPENAI_API_KEY": "secret"}
    done = step("Install", **names, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call for call in calls if f"install -c {REPOSITORY}/constraints.txt" not in call] == []
    assert f"contrapose[embeddings] @ file://{REPOSITORY}" in calls[-1]
    assert "secret" not in (tmp_path / "environment").read_text()


def test_the_action_comments_once(tmp_path: Path, runner: dict[str, str], api: Api) -> None:
    step("Evaluate", **runner, CODE="0")
    for _ in range(2):
        done = step("Comment", **{**runner, **environment(api, "github")}, RUN=str(tmp_path / "runs" / "a"))
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert [item["body"] for item in api.comments[BEFORE + 1 :]] == ["<!-- contrapose my suite.yaml -->\n# Report\n"]


@pytest.mark.parametrize(
    ("code", "stop_at", "expected"), [("0", "", 0), ("1", "", 1), ("3", "", 0), ("4", "3 4", 4), ("", "", 2)]
)
def test_the_action_ends_as_the_verdict_says(code: str, stop_at: str, expected: int) -> None:
    done = step("Gate", CODE=code, STOP_AT=stop_at)
    assert done.returncode == expected


def test_the_action_and_the_job_fit_their_schemas() -> None:
    lint("check-jsonschema", "--builtin-schema", "vendor.github-actions", ACTION)
    lint("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", GITLAB)
    lint("zizmor", "--offline", "--quiet", "--no-config", ACTION)


@pytest.mark.parametrize("code", [0, 1, 3])
def test_gitlabs_job_comments_once_and_ends_as_the_verdict_says(
    tmp_path: Path, runner: dict[str, str], api: Api, code: int
) -> None:
    (script,) = yaml.safe_load(GITLAB.read_text())["contrapose"]["script"]
    names = {**runner, **environment(api, "gitlab"), "CODE": str(code)}
    names["PATH"] = f"{tmp_path}/contrapose/bin:{os.environ['PATH']}"
    for _ in range(2):
        done = run_process("bash", "-eo", "pipefail", "-c", script, cwd=tmp_path, env=names)
        assert done.returncode == code, done.stderr
    assert len(api.comments) == BEFORE + 2
