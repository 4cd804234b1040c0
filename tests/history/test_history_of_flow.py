"""A whole run, its report and its place in the history."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from contrapose.flows.evaluate_model import evaluate_model
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.config.suite_files import load_config

pytestmark = pytest.mark.usefixtures("prefect_server", "in_tmp", "own_store")


def config(**changes: object) -> RunConfig:
    found = load_config("quickstart", {"model": "mock", "limit": 4, **changes})[0]
    only = found.tests.model_copy(update={"sensitivity": type(found.tests.sensitivity)()})  # type: ignore[attr-defined]
    return found.model_copy(update={"tests": only})


def test_a_run_is_published_although_the_history_cannot_be_written(in_tmp: Path) -> None:
    (in_tmp / "occupied").write_text("no folder")
    published = evaluate_model(config(history="occupied/history"))
    (warning,) = [each for each in published["summary"]["warnings"] if each.startswith("history: ")]
    assert re.fullmatch(r"history: it could not be written \(\w+\); expected .*", warning)
    assert json.loads(Path(published["folder"], "summary.json").read_text())["verdict"]
    assert os.listdir("runs") == [Path(published["folder"]).name]
