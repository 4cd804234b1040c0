"""The base install: all that asks no local model works without torch, and what needs it names the extra."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from places import REPOSITORY

SCRIPT = """
import contextlib, io, json, sys
from hidden_packages import MODEL_PACKAGES, hide_packages
hide_packages(MODEL_PACKAGES)
from contrapose.flows.cli import main
results = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    results.append([code, out.getvalue(), err.getvalue()])
print(json.dumps({"results": results, "loaded": [name for name in MODEL_PACKAGES if name in sys.modules]}))
"""
ORDER = ["--test", "option_order", "--limit", "2"]


WORKING = {
    "run": ["run", "--model", "mock", "--suite", "quickstart", "--limit", "2", "--out", "a", "--exit-zero"],
    "api": ["run", "--model", "openai/any", *ORDER, "--set", "model_args.base_url=URL", "--out", "b", "--exit-zero"],
    "recorded": ["run", "--recorded", "replies.jsonl", *ORDER, "--data", "sky.jsonl", "--out", "c", "--exit-zero"],
    "preview": ["preview", "--model", "openai/any", *ORDER],
    "certify": ["certify", "mock", "--limit", "2", "--out", "d", "--exit-zero"],
    "doctor": ["doctor", "--model", "mock", "--json"],
}
CLASSIFIER = "tests.sensitivity.add_toxic_words.classifier=org/name"
READ = "tests.factuality.order_bias.read_with=reply"
REFUSED = {
    "embedded": ["validate", "--limit", "1", "--model", "embedded"],
    "local": ["validate", "--limit", "1", "--model", "hf/./folder"],
    "local too": ["validate", "--limit", "1", "--model", "mock", "--set", CLASSIFIER],
    "embeddings": ["validate", "--limit", "1", "--model", "mock", "--test", "order_bias", "--set", READ],
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, endpoint: int, prefect_server: None) -> dict[str, Any]:
    """Exit code, output and errors of each command, all in one process that lacks the model libraries."""
    folder = tmp_path_factory.mktemp("base")
    rows = {
        "sky": {"text": "Which colour has the sky?", "options": ["blue", "red"], "answer": "blue"},
        "replies": {"id": "sky-0001", "original": "A", "perturbed": "B"},
    }
    for name, row in rows.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    commands = {**WORKING, **REFUSED}
    words = json.dumps(list(commands.values())).replace("URL", f"http://127.0.0.1:{endpoint}/v1")
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY / "tests"),
        "CONTRAPOSE_HOME": str(folder / "home"),
        "CONTRAPOSE_STORE": f"sqlite:///{folder}/answers.sqlite3",
    }
    command = [sys.executable, "-c", SCRIPT, words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["loaded"] == []
    assert list(folder.glob("a/*/report.html"))
    return dict(zip(commands, said["results"], strict=True))


@pytest.mark.parametrize("name", WORKING)
def test_what_asks_no_local_model_works(name: str, told: dict[str, Any]) -> None:
    code, out, error = told[name]
    assert (code, "Traceback" in error) == (0, False), out + error


def test_doctor_lists_what_is_missing_and_warns_of_none(told: dict[str, Any]) -> None:
    checks = {check["name"]: check for check in json.loads(told["doctor"][1])["checks"]}
    assert {checks[name]["state"] for name in ("extras", "embedded model", "embedding model", "packages")} == {"ok"}
    assert "not installed; only --model embedded needs it" in checks["embedded model"]["found"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_them_names_the_extra(name: str, told: dict[str, Any]) -> None:
    code, _, error = told[name]
    assert (code, "Traceback" in error) == (2, False), error
    assert f'pip install "contrapose[{name.removesuffix(" too")}]"' in error
