"""What is said of files of recorded replies that cannot be used."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from infer.test_recordings import ROWS, by_prompt, sample, written

from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ContraposeError, DataError
from contrapose.tasks.infer.recorded import RecordedReplies

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
