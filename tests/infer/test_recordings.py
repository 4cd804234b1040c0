"""Files of recorded replies, as several tools write them, and what is said of those that cannot be used."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from asked_case import case
from plain_broker import PlainBroker, ask_prompts

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.chats import Chat
from contrapose.tasks.core.errors import ContraposeError, DataError
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.tool_calls import ToolCall, split_reply
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


TOO_MUCH = json.dumps(sample("x" * 60_000_000, "Yes.")).encode()


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("samples/1_epoch_1.json", TOO_MUCH)


def empty_log(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("header.json", b"{}")


def broken_log(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as log:
        log.writestr("samples/1_epoch_1.json", b"{")


def lines(*rows: object) -> Callable[[Path], object]:
    return lambda path: written(path, rows)


def text(content: str | bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content.encode() if isinstance(content, str) else content)


ASK = {"arg_0": "It is.", "arg_1": " yes"}
WRONG: dict[str, tuple[str, Callable[[Path], object], dict[str, object], str]] = {
    "nothing in it": ("r.jsonl", text(""), {}, "empty"),
    "no JSON": ("r.jsonl", text("{nothing"), {}, "row 1"),
    "no side": ("r.jsonl", lines({"id": 1, "reply": "x"}), {}, "columns id, reply"),
    "another side": ("r.jsonl", lines({"id": 1, "side": "left", "reply": "x"}), {}, "'left'"),
    "a wrong name of ours": ("r.jsonl", lines(*ROWS), {"columns": {"answer": "reply"}}, "'answer'"),
    "columns that are none": ("r.jsonl", lines(*ROWS), {"columns": "reply"}, "a mapping"),
    "where of no row": ("r.jsonl", lines({"model": "a", **ROWS[0]}), {"where": {"model": "b"}}, "model=a"),
    "an unknown argument": ("r.jsonl", lines(*ROWS), {"column": {}}, "column"),
    "a batch without requests": ("r.jsonl", lines({"custom_id": "1", "response": {}}), {}, "model_args.requests"),
    "likelihoods": (
        "samples_x.jsonl",
        lines({"doc_id": 0, "arguments": {"gen_args_0": ASK, "gen_args_1": ASK}, "resps": [[[-1.0, True]]]}),
        {},
        "a sample of log-likelihoods",
    ),
    "no zip file": ("log.eval", text(b"PK\x03\x04nothing"), {}, "it cannot be read"),
    "a log without samples": ("log.eval", empty_log, {}, "no row has a reply"),
    "a log with a broken sample": ("log.eval", broken_log, {}, "invalid JSON"),
    "a log that unpacks to much": ("log.eval", bomb, {}, "unpacks to"),
    "samples that are none": ("log.json", text('{"samples": ["x", 5]}'), {}, "expected a log of Inspect"),
}


def identified_and_opened(spec: ModelSpec) -> None:
    RecordedReplies().identity(spec)
    RecordedReplies().open(spec)


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_used_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    file, write, args, told = WRONG[name]
    write(tmp_path / file)
    spec = ModelSpec(id=f"recorded/{tmp_path / file}", args=args)
    with pytest.raises(ContraposeError) as caught:
        identified_and_opened(spec)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


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


CALLED = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"to": "Ann"}'}}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Pay Ann."},
]


def recorded_reply(path: Path, prompt: str) -> Any:
    return ask_prompts(ModelSpec(id=f"recorded/{path}"), prompt).replies(prompt)[0].completion


def test_conversations_with_the_same_last_message_are_told_apart(tmp_path: Path) -> None:
    others = [*TALK[:1], {"role": "user", "content": "Ho"}, *TALK[2:]]
    rows = [{"messages": TALK, "reply": "Paid."}, {"messages": others, "reply": "No."}]
    path = written(tmp_path / "rows.jsonl", rows)
    for messages, reply in ((TALK, "Paid."), (others, "No.")):
        assert recorded_reply(path, Chat(messages=tuple(messages)).prompt).text == reply  # type: ignore[arg-type]


def test_recorded_calls_are_an_answer_where_tools_are_offered(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [CALLED]}
    sample = {
        "id": 1,
        "epoch": 1,
        "input": TALK,
        "messages": [*TALK, message],
        "output": {"choices": [{"message": message}]},
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"samples": [sample]}), encoding="utf-8")
    tool = {"type": "function", "function": {"name": "pay"}}
    chat = Chat(messages=tuple(TALK), tools=(tool,))  # type: ignore[arg-type]
    offered = recorded_reply(path, chat.prompt)
    assert (offered.outcome, split_reply(offered.text).calls) == ("answered", (ToolCall("pay", {"to": "Ann"}),))
    plain = recorded_reply(path, Chat(messages=chat.messages).prompt)
    assert (plain.outcome, plain.text) == ("tool_call", "")


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
    for name in ("CSV", "log of Inspect", "promptfoo", "Langfuse", "OpenTelemetry", "lm-eval", "OpenAI batch"):
        assert name in str(caught.value)
    assert "\n" not in str(caught.value)


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
