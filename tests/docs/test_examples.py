"""Each example runs as its README.md says, in a copy of its folder, and ends with the verdict named there."""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from docs_pages import BLOCK, EXAMPLES
from fake_endpoint import Endpoint, serving
from prefect.settings import PREFECT_API_URL

REPORTS = ("runs/*/report.html", "runs/*/*/report.html", "runs/*/comparison.html")
LONGEST_README = 12
LONGEST_FILE = 40
WITHOUT_SUITE = {"contrapose-swap-roles"}
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name not in WITHOUT_SUITE)
TABLE_ROW = re.compile(r"^\| \[([\w-]+)\]\(\1\) \|.*`([^`]+)` \|$", re.MULTILINE)


@dataclass(frozen=True)
class Finished:
    """What the commands of an example left."""

    code: int
    output: str
    reports: list[Path]


def bash_block(folder: Path) -> str:
    """Return the commands of a folder's README.md."""
    (text,) = [match[2] for match in BLOCK.finditer((folder / "README.md").read_text("utf-8")) if match[1] == "bash"]
    return text


def copy_example(name: str, target: Path, ports: Mapping[str, int]) -> Path:
    """Copy a folder; `ports`: the number printed in its files to the one used here."""
    copied = Path(shutil.copytree(EXAMPLES / name, target / name, ignore=shutil.ignore_patterns("runs", "__pycache__")))
    for path in copied.iterdir():
        text = path.read_text("utf-8")
        for printed, port in ports.items():
            text = text.replace(printed, str(port))
        path.write_text(text, "utf-8")
    return copied


def run_example(name: str, target: Path, ports: Mapping[str, int] | None = None) -> Finished:
    """Run the commands of an example; end all that they started."""
    folder = copy_example(name, target, ports or {})
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = subprocess.Popen(
        ["bash", "-c", bash_block(folder)],
        cwd=folder,
        env={**os.environ, "PATH": path, "PREFECT_API_URL": str(PREFECT_API_URL.value())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = shell.communicate(timeout=280)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
    return Finished(shell.returncode, output, [report for place in REPORTS for report in folder.glob(place)])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store")
@pytest.mark.parametrize(
    ("name", "code", "sentence"),
    [
        # The bundled model answers 64 prompts, and the two others have several runs each.
        ("own-data", 1, "FAIL  Failed a gate: option_order."),
        ("compare-models", 1, "WORSE  app/models:new is worse than app/models:old"),
        ("retraining", 1, "HOLD\nadd_toxic_words: worse."),
        ("own-prompt", 1, "FAIL  Failed a gate: option_order."),
        ("own-application", 1, "FAIL  Failed a gate: add_toxic_words."),
        ("judge", 1, "FAIL  Failed a gate: judge_order."),
        ("judge-without-labels", 1, "FAIL  Failed a gate: judge_order."),
        ("rag", 1, "10 of 16 answers changed: 9 with other passages"),
        ("ci-gate", 0, "Merge."),
        ("relation-in-pytest", 0, "2 passed"),
    ],
)
def test_example_ends_with_its_verdict(name: str, code: int, sentence: str, tmp_path: Path) -> None:
    finished = run_example(name, tmp_path)
    assert finished.code == code, finished.output
    assert sentence in finished.output
    assert finished.reports


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store")
def test_application_over_http_passes(tmp_path: Path) -> None:
    finished = run_example("http-application", tmp_path, {"8765": free_port()})
    assert "PASS  Every test passed: option_order." in finished.output, finished.output
    assert (finished.code, len(finished.reports)) == (0, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("prefect_server", "own_store")
def test_model_behind_an_api_passes(tmp_path: Path) -> None:
    with (EXAMPLES / "api-model" / "questions.csv").open(encoding="utf-8", newline="") as file:
        answers = {row["text"]: row["answer"] for row in csv.DictReader(file)}

    def reply(prompt: str) -> str:
        text, *lines = prompt.splitlines()
        return next(line[0] for line in lines if line[3:] == answers[text])

    with serving(Endpoint(says=reply)) as endpoint:
        finished = run_example("api-model", tmp_path, {"8000": endpoint.port})
    assert "PASS  Every test passed: option_order." in finished.output, finished.output
    assert (finished.code, len(finished.reports)) == (0, 1)


@pytest.mark.slow
def test_without_a_server_the_api_example_says_what_to_do(tmp_path: Path) -> None:
    finished = run_example("api-model", tmp_path, {"8000": free_port()})
    assert finished.code == 2
    assert "Start the server, or correct model_args.base_url." in finished.output


def test_the_table_lists_each_example_with_its_command() -> None:
    listed = dict(TABLE_ROW.findall((EXAMPLES / "README.md").read_text("utf-8")))
    assert sorted(set(listed) - WITHOUT_SUITE) == FOLDERS
    assert [name for name in FOLDERS if listed[name] not in bash_block(EXAMPLES / name)] == []


@pytest.mark.parametrize("name", FOLDERS)
def test_example_is_short(name: str) -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in (EXAMPLES / name).glob("*.*")}
    assert lengths["README.md"] <= LONGEST_README
    assert max(lengths.values()) <= LONGEST_FILE
