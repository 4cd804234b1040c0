"""Passages in files of recorded replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from infer.test_recordings import ROWS, written

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.infer.recorded import RecordedReplies
from contrapose.tasks.infer.recordings import Selection, read_recording


@pytest.mark.parametrize(
    ("row", "columns", "passages"),
    [
        ({"context": ["a", "b"]}, {}, ("a", "b")),
        ({"retrieved_contexts": '["a", "b"]'}, {}, ("a", "b")),
        ({"docs": [{"text": "a"}, {"text": "b"}]}, {"context": "docs.*.text"}, ("a", "b")),
        ({"docs": '[{"text": "a"}]'}, {"context": "docs.*.text"}, ("a",)),
        ({"a.b": ["a"]}, {"context": "a.b"}, ("a",)),
        ({"context": "It is what the question is about."}, {}, None),
        ({"context": None}, {}, None),
        ({"context": ["a"], "error": "it broke"}, {}, None),
        ({}, {}, None),
    ],
)
def test_recorded_passages_are_read(
    row: dict[str, Any], columns: dict[str, str], passages: tuple[str, ...] | None, tmp_path: Path
) -> None:
    recording = read_recording(Selection(source=str(written(tmp_path / "r.jsonl", [ROWS[0] | row])), columns=columns))
    [[completion]] = recording.replies.values()
    assert completion.passages == passages
    assert recording.remarks == {}


def test_both_sides_of_a_row_have_passages_of_their_own(tmp_path: Path) -> None:
    row = {
        "id": 1,
        "reply_original": "Yes.",
        "reply_perturbed": "No.",
        "context_original": ["a"],
        "context_perturbed": [],
    }
    recording = read_recording(Selection(source=str(written(tmp_path / "r.jsonl", [row]))))
    assert {key.side: replies[0].passages for key, replies in recording.replies.items()} == {
        "original": ("a",),
        "perturbed": (),
    }


def test_a_named_column_without_passages_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row | {"docs": [{"id": None}]} for row in ROWS])
    recording = read_recording(Selection(source=str(path), columns={"context": "docs.*.id"}))
    assert "NoneType" in recording.remarks["passages"]


@pytest.mark.parametrize("column", ["none", "none.*.text", "docs.[0]", "docs."])
def test_a_column_of_passages_that_is_not_there_is_told(column: str, tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row | {"docs": ["a"]} for row in ROWS])
    with pytest.raises(ContraposeError, match="there is no column") as caught:
        read_recording(Selection(source=str(path), columns={"context": column}))
    assert "\n" not in str(caught.value)


def test_only_a_recording_with_passages_has_another_identity(tmp_path: Path) -> None:
    plain, rich = (
        RecordedReplies().identity(ModelSpec(id=f"recorded/{written(tmp_path / name, rows)}"))
        for name, rows in (("a.jsonl", ROWS), ("b.jsonl", [row | {"context": ["a"]} for row in ROWS]))
    )
    assert set(rich) - set(plain) == {"passages"}
