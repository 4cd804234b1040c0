"""Old runs are deleted but for those that something still needs, and only once somebody said so."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from contrapose.flows.cli import main
from contrapose.tasks.core.places import Place

NOW = "%Y%m%dT%H%M%SZ"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONTRAPOSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CONTRAPOSE_STORAGE", raising=False)
    return tmp_path


class House:
    """Folders of runs that are as many days old as one says."""

    def __init__(self, base: Place) -> None:
        self.base = base

    def put(self, days: float, name: str, files: Mapping[str, Mapping[str, Any]]) -> str:
        folder = self.base / f"{time.strftime(NOW, time.gmtime(time.time() - days * 86_400))}-{name}"
        for file, content in files.items():
            (folder / file).write(json.dumps(content).encode())
        return folder.name

    def run(self, days: float, *, model: str = "m", suite: str = "s", verdict: str = "fail") -> str:
        summary = {"suite": suite, "model": {"id": model}, "verdict": verdict}
        return self.put(days, f"{suite}-{model}", {"summary.json": summary, "manifest.json": {}})

    def comparison(self, days: float, *folders: str) -> str:
        models = [{"folder": str(self.base / folder)} for folder in folders]
        return self.put(days, "comparison", {"comparison.json": {"models": models}})

    def decision(self, days: float, candidate: str, baseline: str, *, model: str = "m") -> str:
        sides = {
            name: {"folder": str(self.base / folder)}
            for name, folder in (("candidate", candidate), ("baseline", baseline))
        }
        files = {"verdict.json": {"model": model, **sides}, "comparison.json": {"models": list(sides.values())}}
        return self.put(days, "retrained", files)

    def prune(self, *words: str) -> int:
        return main(["cache", "prune", "--runs", str(self.base), *words])


@pytest.fixture(params=["local", "memory"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> House:
    base = tmp_path / "runs" if request.param == "local" else f"memory://{tmp_path.name}"
    return House(Place.at(base, setting="runs"))


def test_the_newest_run_and_the_newest_that_passed_stay(house: House) -> None:
    gone = [house.run(90, verdict="pass"), house.run(70)]
    kept = [house.run(80, verdict="pass"), house.run(60), house.run(50, model="n"), house.run(40, suite="t")]
    kept.append(house.run(29, suite="t"))
    assert house.prune("--yes") == 0
    # A run of the same suite and model that is newer has taken the place of one that is 40 days old.
    assert set(house.base.names()) == {*kept} - {kept[3]}
    assert not set(gone) & set(house.base.names())


def test_what_a_comparison_or_decision_that_stays_names_stays(house: House) -> None:
    runs = [house.run(100 - day) for day in range(8)]
    house.comparison(60, runs[0], runs[1])
    comparison, decision = house.comparison(50, runs[2], runs[3]), house.decision(50, runs[4], runs[5])
    assert house.prune("--yes") == 0
    assert set(house.base.names()) == {*runs[2:6], runs[7], comparison, decision}


def test_what_is_not_ours_stays(house: House) -> None:
    names = {house.put(90, "notes", {"notes.json": {}}), house.put(90, "broken", {"summary.json": {}})}
    (house.base / "20200101T000000Z-file").write(b"a file")
    (house.base / "mine" / "summary.json").write(b"{}")
    (house.base / ".history" / "a.parquet").write(b"")
    assert house.prune("--yes") == 0
    assert set(house.base.names()) == {*names, "20200101T000000Z-file", "mine", ".history"}


def test_nothing_is_deleted_unasked(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = house.run(90), house.run(60)
    assert house.prune("--dry-run") == 0
    assert f"{house.base}:\n  1 run, 0.0 MB" in capsys.readouterr().out
    assert house.prune() == 2
    assert "no confirmation to delete the files above; expected y, or --yes" in capsys.readouterr().err
    assert set(house.base.names()) == {old, new}
    assert house.prune("--yes") == 0
    assert "1 file or folder deleted" in capsys.readouterr().out
    assert house.prune("--yes") == 0
    assert "nothing was unused for 30 days" in capsys.readouterr().out


def test_a_folder_that_a_killed_run_reserved_goes_too(own_home: Path) -> None:
    part = own_home / "runs" / ".20260101T000000Z-s-m.part"
    part.mkdir(parents=True)
    assert main(["cache", "prune", "--runs", str(part.parent), "--yes"]) == 0
    assert part.exists()
    moment = time.time() - 40 * 86_400
    os.utime(part, (moment, moment))
    assert main(["cache", "prune", "--runs", str(part.parent), "--yes"]) == 0
    assert not part.exists()


@pytest.mark.parametrize("days", ["0", "0.5", "-3", "nan"])
def test_what_runs_use_now_cannot_be_chosen(days: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "prune", "--older-than", days]) == 2
    assert "expected at least 1: running runs use younger files" in capsys.readouterr().err
