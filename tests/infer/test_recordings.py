"""Files of recorded replies, as several tools write them."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from asked_case import case
from plain_broker import PlainBroker

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.infer.recorded import RecordedReplies
from contrapose.tasks.infer.recordings import ReplyKey, Selection, read_recording

ROWS = [{"prompt": "It is.", "reply": "Yes."}, {"prompt": " It is not.\n", "reply": "No."}]
BY_PROMPT = {"It is.": "Yes.", "It is not.": "No."}


def written(path: Path, rows: Sequence[Any]) -> Path:
    """Rows as lines of JSON."""
    content = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content.encode()))
    else:
        path.write_text(content)
    return path


def by_prompt(path: Path, **selection: Any) -> dict[str, str | None]:
    """The reply to each prompt of a file."""
    found = read_recording(Selection(source=str(path), **selection))
    assert not found.by_id
    return {key.prompt: completions[0].text for key, completions in found.replies.items()}


ENDINGS = {
    "lines": "jsonl",
    "one line": "jsonl",
    "packed": "jsonl.gz",
    "list": "json",
    "below a key": "json",
    **{kind: kind for kind in ("csv", "tsv", "parquet", "xlsx")},
}
"""Kinds of tables, and how their names usually end."""
NAMED = [(f"r.{ending}", kind) for kind, ending in ENDINGS.items()]
NAMED += [(name, kind) for name in ("replies", "replies.eval") for kind in sorted(ENDINGS.keys() - {"packed", "tsv"})]


@pytest.mark.parametrize(("name", "kind"), NAMED)
def test_tables_are_read_whatever_they_are_called(name: str, kind: str, tmp_path: Path) -> None:
    path, rows = tmp_path / name, ROWS[:1] if kind == "one line" else ROWS
    frame = pd.DataFrame(rows)
    match kind:
        case "lines" | "one line" | "packed":
            written(path, rows)
        case "list" | "below a key":
            path.write_text(json.dumps(rows if kind == "list" else {"rows": rows}, indent=1))
        case "csv" | "tsv":
            frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
        case "parquet":
            path.write_bytes(frame.to_parquet())
        case "xlsx":
            frame.to_excel(tmp_path / "book.xlsx", index=False)
            (tmp_path / "book.xlsx").rename(path)
    assert by_prompt(path).items() <= BY_PROMPT.items()
    assert len(by_prompt(path)) == len(rows)


@pytest.mark.parametrize(
    "names", [("input", "output"), ("prompt", "response"), ("messages", "completion"), ("question asked", "said")]
)
def test_columns_are_found_by_usual_names_or_the_given_ones(names: tuple[str, str], tmp_path: Path) -> None:
    asked, said = names
    path = written(tmp_path / "r.jsonl", [{asked: row["prompt"], said: row["reply"], "n": 1} for row in ROWS])
    columns = {"prompt": asked, "reply": said} if " " in asked else {}
    assert by_prompt(path, columns=columns) == BY_PROMPT


@pytest.mark.parametrize("as_text", [False, True])
def test_of_messages_the_last_of_the_user_is_the_prompt(as_text: bool, tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "It is"}, {"type": "text", "text": "."}]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Example."},
        {"role": "assistant", "content": "Reply."},
        {"role": "user", "content": parts},
    ]
    row = {"messages": json.dumps(messages) if as_text else messages, "reply": "Yes."}
    assert by_prompt(written(tmp_path / "r.jsonl", [row])) == {"It is.": "Yes."}


def test_only_rows_with_the_wanted_values_are_taken(tmp_path: Path) -> None:
    rows = [row | {"model": model, "n": n} for n, model in enumerate(["a", "b"]) for row in ROWS]
    rows[2]["reply"] = "Yes, says b."
    path = written(tmp_path / "r.jsonl", rows)
    assert by_prompt(path, where={"model": "b", "n": 1})["It is."] == "Yes, says b."
    assert by_prompt(path, where={"model": "a"}) == BY_PROMPT


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([{"id": "1", "side": "original", "reply": "Yes."}, {"id": "1", "side": "perturbed", "reply": "No."}], {}),
        ([{"id": 1, "reply_original": "Yes.", "reply_perturbed": "No."}], {}),
        ([{"sample_id": "1", "a": "Yes.", "b": "No."}], {"original": "a", "perturbed": "b"}),
    ],
)
def test_ids_and_sides_tell_as_well(rows: list[dict[str, Any]], columns: dict[str, str], tmp_path: Path) -> None:
    found = read_recording(Selection(source=str(written(tmp_path / "r.jsonl", rows)), columns=columns))
    assert found.by_id
    assert {(key.id, key.side): each[0].text for key, each in found.replies.items()} == {
        ("1", "original"): "Yes.",
        ("1", "perturbed"): "No.",
    }


def test_the_results_of_a_batch_are_read_with_its_requests(tmp_path: Path) -> None:
    requests = [
        {"custom_id": "1", "body": {"messages": [{"role": "user", "content": "It is."}]}},
        {"custom_id": "2", "body": {"messages": [{"role": "user", "content": "It is not."}]}},
        {"custom_id": "3", "body": {"prompt": "It was."}},
        {"custom_id": "4", "body": {"prompt": "It will be."}},
    ]
    results = [
        {"custom_id": "2", "response": {"body": {"choices": [{"message": {"content": "No."}}]}}, "error": None},
        {"custom_id": "1", "response": {"body": {"choices": [{"message": {"content": "Yes."}}]}}, "error": None},
        {"custom_id": "3", "response": {"body": {"choices": [{"text": "It was."}]}}, "error": None},
        {"custom_id": "4", "response": None, "error": {"code": "expired"}},
    ]
    asked, path = written(tmp_path / "asked", requests), written(tmp_path / "said", results)
    assert by_prompt(path, requests=str(asked)) == BY_PROMPT | {"It was.": "It was.", "It will be.": None}
    written(asked, [row | {"body": {"prompt": f"{row['custom_id']}?"}} for row in requests])
    assert set(by_prompt(path, requests=str(asked))) == {"1?", "2?", "3?", "4?"}
    written(asked, requests)
    failed = read_recording(Selection(source=str(path), requests=str(asked))).replies[ReplyKey(prompt="It will be.")]
    assert "expired" in str(failed[0].error)


def test_what_a_filter_withheld_in_a_batch_is_no_error(tmp_path: Path) -> None:
    requests = [{"custom_id": name, "body": {"prompt": f"{name}?"}} for name in ("1", "2")]
    refusal = {"status_code": 400, "body": {"error": {"code": "content_filter", "message": "Filtered."}}}
    stopped = {"body": {"choices": [{"message": {"content": "It"}, "finish_reason": "content_filter"}]}}
    results = [{"custom_id": "1", "response": refusal}, {"custom_id": "2", "response": stopped}]
    asked, path = written(tmp_path / "requests.jsonl", requests), written(tmp_path / "results.jsonl", results)
    replies = read_recording(Selection(source=str(path), requests=str(asked))).replies
    kinds = {key.prompt: (reply.outcome, reply.error) for key, (reply,) in replies.items()}
    assert kinds == {"1?": ("moderated", None), "2?": ("moderated", None)}


MESSAGES = '[{"role": "user", "content": "It is."}]'


@pytest.mark.parametrize(
    "arguments",
    [
        [["It is.", {"until": []}]],
        {"gen_args_0": {"arg_0": "It is.", "arg_1": {}}},
        {"gen_args_0": {"arg_0": [MESSAGES], "arg_1": {}}},
    ],
)
def test_samples_of_lm_eval_are_read(arguments: object, tmp_path: Path) -> None:
    row = {"doc_id": 0, "doc": {}, "target": "", "arguments": arguments, "resps": [["Yes."]], "filtered_resps": ["Y"]}
    assert by_prompt(written(tmp_path / "samples_task.jsonl", [row])) == {"It is.": "Yes."}


def sample(asked: str, replied: str | None, **more: object) -> dict[str, Any]:
    """A sample of a log of Inspect, with what tells of the reply."""
    message = {"role": "assistant", "content": replied}
    return {
        "id": asked,
        "epoch": 1,
        "input": asked,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": asked}, message],
        "output": {"model": "m", "choices": [{"message": message}] if replied is not None else []},
        **more,
    }


SAMPLES = [sample("It is.", "Yes."), sample("It is not.", "No."), sample("It was.", None, error={"message": "away"})]


@pytest.mark.parametrize("kind", ["json", zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_log_of_inspect_is_read_in_each_of_its_formats(kind: str | int, tmp_path: Path) -> None:
    """Those that are packed as Inspect packs them today lie in `interchange`."""
    path = tmp_path / "log"
    if isinstance(kind, int):
        with zipfile.ZipFile(path, "w", kind) as log:
            log.writestr("header.json", b"{}")
            for number, each in enumerate(SAMPLES):
                log.writestr(f"samples/{number}_epoch_1.json", json.dumps(each))
    else:
        path.write_text(json.dumps({"version": 2, "samples": SAMPLES}))
    assert by_prompt(path) == BY_PROMPT | {"It was.": None}
    assert read_recording(Selection(source=str(path))).replies[ReplyKey(prompt="It was.")][0].error == "away"


def opened(path: Path, rows: Sequence[Any]) -> Any:
    return RecordedReplies().open(ModelSpec(id=f"recorded/{written(path, rows)}"))


def test_each_repeat_has_the_next_reply(tmp_path: Path) -> None:
    model, broker = opened(tmp_path / "r.jsonl", [*ROWS, {"prompt": "It is.", "reply": "Again."}]), PlainBroker()
    asked = [Question(kind="generate", prompt="It is.", repeat=repeat) for repeat in (0, 1)]
    model.answer(asked, broker)
    assert [broker.answers[question].completion.text for question in asked] == ["Yes.", "Again."]
    assert [broker.answers[question].requests for question in asked] == [0, 0]


def test_what_is_missing_names_the_first_five(tmp_path: Path) -> None:
    model = opened(tmp_path / "r.jsonl", ROWS)
    asked = [Question(kind="generate", prompt=f"Prompt {number}.") for number in range(8)]
    with pytest.raises(
        ContraposeError, match=r"8 of 8 prompts have no recorded reply: 'Prompt 0\.'.*'Prompt 4\.' and 3 more"
    ) as caught:
        model.answer(asked, PlainBroker())
    assert "Prompt 5" not in str(caught.value)


def test_ids_find_replies_and_say_what_is_taken_on_trust(tmp_path: Path) -> None:
    rows = [
        {"test": "", "id": "one", "reply_original": "Yes.", "reply_perturbed": "No."},
        {"test": "p", "id": "two", "reply_original": "Two.", "reply_perturbed": "Not two."},
        {"test": "other", "id": "two", "reply_original": "wrong", "reply_perturbed": "wrong"},
    ]
    model, broker = opened(tmp_path / "r.jsonl", rows), PlainBroker()
    other = case("two", original_prompt="It is two.", perturbed_prompt="It is not two.")
    model.expect([case(), other])
    prompts = ("It is.", "It is not.", "It is two.", "It is not two.")
    asked = [Question(kind="generate", prompt=prompt) for prompt in prompts]
    model.answer(asked, broker)
    replies = [broker.answers[question].completion.text for question in asked]
    assert replies == ["Yes.", "No.", "Two.", "Not two."]
    assert "on trust" in RecordedReplies().remarks(ModelSpec(id=f"recorded/{tmp_path / 'r.jsonl'}"), ["p"])[0]


def test_one_of_several_cases_of_a_sample_is_found_by_its_own_id(tmp_path: Path) -> None:
    rows = [{"id": "one", "reply_original": "Yes.", "reply_perturbed": "No."}]
    model, broker = opened(tmp_path / "r.jsonl", rows), PlainBroker()
    model.expect([case(), case(id="p/one/2", perturbed_prompt="It never is.")])
    with pytest.raises(ContraposeError, match=r"p/one/2 \(perturbed\)"):
        model.answer([Question(kind="generate", prompt="It never is.")], broker)


def test_the_identity_changes_with_the_file_and_with_what_is_taken(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", [row | {"m": 1} for row in ROWS])
    model, provider = f"recorded/{path}", RecordedReplies()
    first = provider.identity(ModelSpec(id=model))
    assert first == provider.identity(ModelSpec(id=model))
    identities = [first, provider.identity(ModelSpec(id=model, args={"where": {"m": 1}}))]
    identities.append(provider.identity(ModelSpec(id=model, args={"revision": "2"})))
    written(path, ROWS)
    identities.append(provider.identity(ModelSpec(id=model)))
    assert len({json.dumps(dict(each), sort_keys=True) for each in identities}) == 4


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        ({"id": 1, "prompt": "It is.", "reply": "Yes.", "original": "a", "perturbed": "b"}, {}),
        (
            {"id": 1, "prompt": "It is.", "said": "Yes.", "expected_result": "a", "actual_result": "b"},
            {"reply": "said"},
        ),
    ],
)
def test_texts_beside_a_reply_are_no_replies(row: dict[str, Any], columns: dict[str, str], tmp_path: Path) -> None:
    assert by_prompt(written(tmp_path / "r.jsonl", [row]), columns=columns) == {"It is.": "Yes."}


@pytest.mark.parametrize("more", [{"original": "It is."}, {"original": "a", "perturbed": "b", "original_prompt": "a"}])
def test_texts_of_a_preview_are_no_replies(more: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ContraposeError, match=r"original and perturbed \(the two replies\)"):
        opened(tmp_path / "r.jsonl", [{"id": 1, **more}])


def test_columns_of_the_file_itself_may_be_named_in_any_format(tmp_path: Path) -> None:
    (tmp_path / "r").write_text(json.dumps({"input": "{x}", "output": "{y}", "trace_id": "1", "user_id": "Who?"}))
    selection = Selection(source=str(tmp_path / "r"), columns={"prompt": "user_id", "reply": "output"})
    assert [key.prompt for key in read_recording(selection).replies] == ["Who?"]


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
