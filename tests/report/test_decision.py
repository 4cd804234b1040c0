"""verdict.md and verdict.json: what people read is what was decided, and no markup comes out of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contrapose.tasks.core.decision import CheckFinding, Decision, Side
from contrapose.tasks.core.errors import ConfigError
from contrapose.tasks.core.places import Place
from contrapose.tasks.report.decision_markdown import answer_words, render, write_decision

NASTY = "<img src=x onerror=alert(1)> [a](javascript:b) | `c` @team"


def decision(text: str = "mock") -> Decision:
    side = Side(model=text, revision=text, folder=text, verdict="pass", reason=text)
    return Decision(
        schema_version=1,
        verdict="hold",
        reasons=[text],
        model=text,
        revision=text,
        training_run=text,
        margin=0.05,
        tests=[CheckFinding(test_type="order_bias", verdict="worse", reason=text)],
        candidate=side,
        baseline=side,
        answer={"approved": False, "reason": text},
        check="0",
        decided="2030-01-01T00:00:00+00:00",
        folder=text,
    )


def test_verdict_reasons_and_tests_are_told() -> None:
    found = render(decision()).decode()
    assert found.startswith("**❌ Hold** mock, revision mock, training run mock")
    assert "Rejected by a person: mock" in found
    assert "- ❌ order_bias: worse. mock" in found
    assert "The margin is 5 points" in found


def test_an_approval_says_by_whom_and_why() -> None:
    approved = decision()
    approved["answer"] = {"approved": True, "reason": "Seen by hand.", "by": "Ana"}
    assert answer_words(approved) == ["Approved by Ana: Seen by hand."]
    assert "Approved by Ana: Seen by hand." in render(approved).decode()
    approved["answer"] = None
    assert answer_words(approved) == []


def test_no_markup_comes_out_of_any_text() -> None:
    found = render(decision(NASTY)).decode()
    assert "<img" not in found
    assert "](" not in found
    assert "@team" not in found
    assert "| `" not in found


def test_the_files_take_the_place_of_older_ones(tmp_path: Path) -> None:
    write_decision(Place(str(tmp_path)), decision("first"))
    write_decision(Place(str(tmp_path)), decision("second"))
    assert json.loads((tmp_path / "verdict.json").read_text()) == decision("second")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["verdict.json", "verdict.md"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot write the verdict"):
        write_decision(Place(str(tmp_path / "file")), decision())
