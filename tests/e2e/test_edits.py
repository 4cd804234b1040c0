"""The edits that are off by default, asked for by name, with controls, on the mock model."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from contrapose.flows.cli import main
from contrapose.tasks.core import registry
from contrapose.tasks.probes.edits.base import TextEdit

pytestmark = pytest.mark.usefixtures("prefect_server", "in_tmp")

PROBES = {name: registry.probe(name) for name in registry.PROBES}
EDITS = [name for name, probe in PROBES.items() if isinstance(probe, TextEdit) and not probe.by_default]


@pytest.mark.slow
def test_every_edit_runs_with_its_control() -> None:
    named = [part for name in EDITS for part in ("--test", name)]
    main(
        [
            "run",
            *named,
            "--model",
            "mock",
            "--limit",
            "40",
            "--exit-zero",
            "--out",
            "out",
            "--set",
            "tests.defaults.control=true",
        ]
    )
    folder = next(Path("out").glob("[!.]*"))
    summary = json.loads((folder / "summary.json").read_text())
    results = pd.read_parquet(folder / "results.parquet")
    assert [outcome["test_type"] for outcome in summary["tests"]] == EDITS
    for outcome in summary["tests"]:
        assert outcome["scored"] > 0
        assert outcome["control"]["cases"] == outcome["scored"] + outcome["unscored"]
        own = results[(results["test_type"] == outcome["test_type"]) & ~results["control"]]
        assert (own["original"] != own["test_case"]).all()
