"""Exports of Langfuse, with the fields that its documentation and its client name."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from contrapose.tasks.infer.recordings import Selection, read_recording

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "It is."}]
REPLY = {"role": "assistant", "content": "Yes."}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}


def observation(asked: Any, replied: Any, **more: Any) -> dict[str, Any]:
    """As `GET /api/public/v2/observations` has it."""
    plain = {"id": "o1", "traceId": "t1", "type": "GENERATION", "level": "DEFAULT", "statusMessage": None}
    return {**plain, "startTime": "2026-11-29T08:00:00Z", "model": "m", "input": asked, "output": replied, **more}


def replies(path: Path, content: Any, **selection: Any) -> dict[str, tuple[str, str | None]]:
    """Write an export; outcomes and texts by prompts, `error` with its reason."""
    text = "\n".join(map(json.dumps, content)) if path.suffix == ".jsonl" else json.dumps(content, indent=2)
    path.write_text(text)
    found = read_recording(Selection(source=str(path), **selection)).replies
    return {
        key.prompt: ("error", each.error) if each.error else (each.outcome, each.text) for key, (each,) in found.items()
    }


@pytest.mark.parametrize("asked", [MESSAGES, {"messages": MESSAGES, "tools": []}, "It is.", {"question": "It is."}])
@pytest.mark.parametrize(
    "replied",
    ["Yes.", REPLY, [REPLY], {"answer": "Yes."}, {"choices": [{"message": REPLY, "finish_reason": "stop"}]}],
)
def test_inputs_and_outputs_of_all_shapes_are_read(asked: Any, replied: Any, tmp_path: Path) -> None:
    row = observation(asked, replied)
    assert replies(tmp_path / "page.json", {"data": [row], "meta": {"cursor": None}}) == {
        "It is.": ("answered", "Yes.")
    }
    stored = {**row, "input": json.dumps(asked), "output": json.dumps(replied)}
    assert replies(tmp_path / "stored.jsonl", [stored, {**stored, "type": "SPAN"}]) == {"It is.": ("answered", "Yes.")}


def test_outcomes_keep_their_meaning(tmp_path: Path) -> None:
    cut = {"choices": [{"message": {"content": "It"}, "finish_reason": "length"}]}
    rows = [
        observation("Cut?", cut),
        observation("Tool?", CALL),
        observation("Failed?", None, level="ERROR", statusMessage="status 500"),
        observation("Other?", "Ignored.", type="RETRIEVER"),
        {**observation("Snake?", "Yes."), "trace_id": "t2", "status_message": None},
    ]
    assert replies(tmp_path / "rows.jsonl", rows) == {
        "Cut?": ("cut_off", "It"),
        "Tool?": ("tool_call", '{"calls": [{"arguments":{},"name":"f"}], "reply": ""}'),
        "Failed?": ("error", "status 500"),
        "Snake?": ("answered", "Yes."),
    }


def test_traces_are_read_by_the_calls_in_them_or_by_what_went_in_and_came_out(tmp_path: Path) -> None:
    trace = {
        "id": "t1",
        "sessionId": None,
        "userId": "u",
        "input": {"args": ["It was."], "kwargs": {}},
        "output": "So.",
    }
    assert replies(tmp_path / "traces.json", [trace]) == {"It was.": ("answered", "So.")}
    inner = [observation("Which?", "x", type="SPAN"), observation(MESSAGES, REPLY)]
    download = {"trace": trace, "observations": inner, "scores": []}
    for content in (download, {**trace, "observations": inner}):
        assert replies(tmp_path / "trace.json", content) == {"It is.": ("answered", "Yes.")}
    by_id = {**trace, "observations": ["o1", "o2"]}
    assert replies(tmp_path / "listed.json", {"data": [by_id], "meta": {}}) == {"It was.": ("answered", "So.")}


def test_tables_of_the_interface_are_read_as_csv(tmp_path: Path) -> None:
    rows = [observation(json.dumps(MESSAGES), json.dumps(REPLY)), observation("It was.", "Then.", model="other")]
    path = tmp_path / "export"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    found = read_recording(Selection(source=str(path))).replies
    assert {key.prompt: each.text for key, (each,) in found.items()} == {"It is.": "Yes.", "It was.": "Then."}
    chosen = read_recording(Selection(source=str(path), where={"model": "other"})).replies
    assert [key.prompt for key in chosen] == ["It was."]
