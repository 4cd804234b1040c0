"""Cases that passed with one model and failed with the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from finished import TEST, rows_from, write_run

from contrapose.tasks.compare.compare import compare
from contrapose.tasks.compare.flips import flips_of
from contrapose.tasks.core.comparison import FlipCount
from contrapose.tasks.core.errors import ComparisonError


def written(tmp_path: Path, **outcomes: list[bool | None]) -> list[str]:
    return [
        str(write_run(tmp_path / name, rows_from(passed, actual_result=name), model=name))
        for name, passed in outcomes.items()
    ]


def test_those_that_were_lost_and_gained_are_counted_and_come_with_both_rows(tmp_path: Path) -> None:
    folders = written(tmp_path, one=[True, True, False, None, True], two=[True, False, True, True, None])
    flips = flips_of(compare(folders))
    assert flips.counts == {(TEST, "two"): FlipCount(lost=1, gained=1)}
    shown = [(flip.lost, *(row["sample_id"] for row in flip.rows)) for flip in flips.shown]
    assert shown == [(True, "s1", "s1"), (False, "s2", "s2")]
    assert [row["actual_result"] for row in flips.shown[0].rows] == ["one", "two"]


def test_each_other_model_is_held_against_the_baseline_and_the_first_are_shown(tmp_path: Path) -> None:
    folders = written(tmp_path, one=[True, True], two=[False, True], three=[False, False])
    flips = flips_of(compare(folders, baseline=folders[2]), most=1)
    assert flips.counts == {(TEST, "one"): FlipCount(lost=0, gained=2), (TEST, "two"): FlipCount(lost=0, gained=1)}
    assert [(flip.model, flip.rows[0]["sample_id"]) for flip in flips.shown] == [("one", "s0"), ("two", "s1")]


def test_a_case_whose_repeats_disagree_did_not_flip(tmp_path: Path) -> None:
    def rows(*passed: bool) -> list[dict[str, object]]:
        return [
            {"sample_id": "s0", "pass": value, "repeat": place, "case_id": f"{TEST}/s0" + f"#{place}" * (place > 0)}
            for place, value in enumerate(passed)
        ]

    one = str(write_run(tmp_path / "one", rows(True, True), model="one"))
    two = str(write_run(tmp_path / "two", rows(False, True), model="two"))
    three = str(write_run(tmp_path / "three", rows(False, False), model="three"))
    flips = flips_of(compare([one, two, three]))
    assert [(flip.model, flip.rows[1]["repeat"]) for flip in flips.shown] == [("three", 0)]


def test_a_run_that_has_gone_is_told(tmp_path: Path) -> None:
    comparison = compare(written(tmp_path, one=[True], two=[False]))
    (tmp_path / "two" / "summary.json").unlink()
    with pytest.raises(ComparisonError, match=r"no summary\.json"):
        flips_of(comparison)


def test_the_gate_of_each_run_is_told(tmp_path: Path) -> None:
    folders = [
        str(write_run(tmp_path / name, rows_from([True]), model=name, outcome=own))
        for name, own in {"one": {"min_pass_rate": 0.7}, "two": {}}.items()
    ]
    standings = compare(folders)["tests"][0]["standings"]
    assert {standing["name"]: standing["gate"] for standing in standings} == {"one": 0.7, "two": None}
