"""A file's content decides how it is read; what is none of the formats is named with what is read."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from contrapose.tasks.core.errors import DataError
from contrapose.tasks.infer.recordings import Selection, read_recording

ROWS = [{"prompt": "It is.", "reply": "Yes."}, {"prompt": "It is not.", "reply": "No."}]


def by_prompt(path: Path, **selection: str) -> dict[str, str | None]:
    found = read_recording(Selection(source=str(path), **selection))  # type: ignore[arg-type]
    return {key.prompt: each.text for key, (each,) in found.replies.items()}


@pytest.mark.parametrize("kind", ["lines", "list", "rows below a key", "csv", "parquet", "xlsx", "one line"])
@pytest.mark.parametrize("name", ["replies", "replies.txt", "replies.eval"])
def test_tables_are_read_whatever_they_are_called(kind: str, name: str, tmp_path: Path) -> None:
    path, rows = tmp_path / name, ROWS[:1] if kind == "one line" else ROWS
    frame = pd.DataFrame(rows)
    match kind:
        case "lines" | "one line":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case "list":
            path.write_text(json.dumps(rows, indent=1))
        case "rows below a key":
            path.write_text(json.dumps({"rows": rows}, indent=1))
        case "csv":
            frame.to_csv(path, index=False)
        case "parquet":
            path.write_bytes(frame.to_parquet())
        case "xlsx":
            frame.to_excel(tmp_path / "book.xlsx", index=False)
            (tmp_path / "book.xlsx").rename(path)
    assert by_prompt(path) == {row["prompt"]: row["reply"] for row in rows}


def test_results_of_a_batch_are_read_under_any_name(tmp_path: Path) -> None:
    body = {"choices": [{"message": {"content": "It"}, "finish_reason": "length"}]}
    (tmp_path / "asked").write_text(json.dumps({"custom_id": "1", "body": {"prompt": "It is."}}))
    (tmp_path / "said").write_text(json.dumps({"custom_id": "1", "response": {"status_code": 200, "body": body}}))
    assert by_prompt(tmp_path / "said", requests=str(tmp_path / "asked")) == {"It is.": "It"}


def test_columns_of_the_file_itself_may_be_named_in_any_format(tmp_path: Path) -> None:
    (tmp_path / "r").write_text(json.dumps({"input": "{x}", "output": "{y}", "trace_id": "1", "user_id": "Who?"}))
    selection = Selection(source=str(tmp_path / "r"), columns={"prompt": "user_id", "reply": "output"})
    assert [key.prompt for key in read_recording(selection).replies] == ["Who?"]


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ('{"version": 2, "kind": "x"}', "columns version, kind"),
        ('{\n"version": 2\n}', "an object with the keys version"),
        ('[{"a": 1}]', "columns a"),
        ("a;b\n1;2\n", "columns a, b"),
        ("Some words.\n", "no row has a reply"),
        ('{"spans": []}\n{"spans": []}', "columns spans"),
    ],
)
def test_what_is_none_of_the_formats_is_named_with_what_is_read(content: str, seen: str, tmp_path: Path) -> None:
    (tmp_path / "r").write_text(content)
    with pytest.raises(DataError) as caught:
        by_prompt(tmp_path / "r")
    assert seen in str(caught.value)
    for name in ("log of Inspect", "promptfoo", "Langfuse", "OpenTelemetry", "lm-eval", "OpenAI batch"):
        assert name in str(caught.value)


def test_archive_without_samples_is_no_log(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "r.docx", "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
    with pytest.raises(DataError, match=r"a zip file with word/document\.xml; expected"):
        by_prompt(tmp_path / "r.docx")


@pytest.mark.parametrize(
    ("name", "content", "seen"),
    [
        ("template.csv", '"[p] Say {{ x | upper }}",Status,Score\nYes.,PASS,1\n', "a template that only promptfoo"),
        ("large.yaml", "evalId: x\n" + "a: 1\n" * 300_000, "more than 1,048,576 bytes"),
        ("broken.yaml", "evalId: x\nresults: [\n", "not YAML"),
    ],
)
def test_results_of_promptfoo_that_cannot_be_read_name_the_way_out(
    name: str, content: str, seen: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as caught:
        by_prompt(tmp_path / name)
    assert seen in str(caught.value)
    assert "promptfoo eval -o results.json" in str(caught.value)


def test_messages_in_events_of_a_span_are_read(tmp_path: Path) -> None:
    told = {"content": "Yes.", "role": "assistant"}
    choice = {"finish_reason": "length", "index": 0, "message": told}
    events = [
        {"name": "gen_ai.user.message", "attributes": {"gen_ai.event.content": json.dumps({"content": "It is."})}},
        {"name": "gen_ai.choice", "attributes": {"gen_ai.event.content": json.dumps(choice)}},
    ]
    span = {"name": "chat m", "context": {"trace_id": "1", "span_id": "2"}, "attributes": {}, "events": events}
    failed = {**span, "context": {"span_id": "3"}, "events": [], "status": {"status_code": "ERROR"}}
    failed["attributes"] = {"gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "?"}]}]'}
    (tmp_path / "spans").write_text("\n".join(json.dumps(each, indent=1) for each in (span, failed)))
    found = read_recording(Selection(source=str(tmp_path / "spans"))).replies
    kinds = {key.prompt: (each.outcome, each.text, each.error) for key, (each,) in found.items()}
    assert kinds == {"It is.": ("cut_off", "Yes.", None), "?": ("answered", None, "no reply was recorded")}
