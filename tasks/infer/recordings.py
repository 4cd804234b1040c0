"""Files of recorded replies: rows of any table, logs of Inspect, samples of lm-eval, results of a batch of OpenAI's.

Every format becomes rows with `prompt` or `id`, and `reply`: one adapter for each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from contrapose.tasks.config.data_settings import EveryColumn
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.logs import INSPECT, read_inspect_samples, read_object
from contrapose.tasks.core.questions import Question
from contrapose.tasks.core.records import Completion
from contrapose.tasks.core.registry import find, names
from contrapose.tasks.infer.app.responses import Retrieved, passages_of, steps_of
from contrapose.tasks.infer.openai.batches import reply_of_line

USUAL: Mapping[str, tuple[str, ...]] = {
    "prompt": ("prompt", "input", "messages"),
    "reply": ("reply", "response", "output", "completion"),
    "id": ("id", "case_id", "sample_id"),
    "side": ("side",),
    "original": ("reply_original", "expected_result", "original"),
    "perturbed": ("reply_perturbed", "actual_result", "perturbed"),
    "test": ("test", "test_type"),
    "error": ("error",),
    "context": ("context", "contexts", "retrieved_contexts"),
    "context_original": ("context_original",),
    "context_perturbed": ("context_perturbed",),
}
"""Our names of the parts of a row, and usual names of the columns that hold them."""
SIDES = ("original", "perturbed")
SHOWN = 12
"""Names that an error lists."""

Row = Mapping[str, Any]


class ReplyKey(NamedTuple):
    """Key by which a reply is found."""

    prompt: str = ""
    """The prompt without blanks around it; empty where ids decide."""
    test: str = ""
    """Name of the test; empty where the recording names none."""
    id: str = ""
    """Of a sample or case."""
    side: str = ""
    """One of `SIDES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Replies in a file."""

    replies: Mapping[ReplyKey, Sequence[Completion]]
    """Replies to each prompt in the order of the file: the second is that of a first repeat."""
    by_id: bool
    """Whether replies are found by ids, and not by prompts."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """Warnings about the passages, by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Rows and columns that are taken of a file."""

    source: str
    """Path or fsspec URL."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Our names of the parts of a row, to the columns."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Values of columns that a row must have."""
    requests: str = ""
    """Path or URL of the requests that a file of batch results answers."""

    @property
    def files(self) -> list[str]:
        """Files that are read."""
        return [self.source, *filter(None, [self.requests])]

    def error(
        self, observed: str, *, expected: str, remedy: str = "Correct the file or its name.", part: str = ""
    ) -> DataError:
        """Return the error about something in the file, or in a part of it."""
        return DataError(observed, expected=expected, remedy=remedy, where=", ".join(filter(None, [self.source, part])))


def read_recording(selection: Selection) -> Recording:
    """Return all replies of a file."""
    replies: dict[ReplyKey, list[Completion]] = {}
    remarks: dict[str, str] = {}
    seen: dict[str, None] = {}
    any_chosen = False
    # Read where a row needs them, and once.
    requests = cache(lambda: _read_requests(selection))
    for number, row in _rows(selection):
        for column in selection.where:
            if column not in row:
                raise _missing_column(selection, column, row, setting=f"model_args.where.{column}")
        if any(str(row[column]) != str(value) for column, value in selection.where.items()):
            if len(seen) < SHOWN:
                seen[", ".join(f"{column}={row[column]}" for column in selection.where)] = None
            continue
        any_chosen = True
        for key, reply, retrieved in _replies(number, row, selection, requests):
            if reply is not None:
                passages = None if reply.error else retrieved.kept
                replies.setdefault(key, []).append(replace(reply, passages=passages))
                remarks = {**retrieved.remarks, **remarks}
    if selection.where and not any_chosen:
        wanted = ", ".join(f"{column}={value}" for column, value in selection.where.items())
        raise selection.error(f"no row has {wanted}", expected=f"values of the file, such as {'; '.join(seen)}")
    if not replies:
        raise selection.error("no row has a reply", expected="at least one")
    return Recording(replies=replies, by_id=any(key.side for key in replies), remarks=remarks)


def _rows(selection: Selection) -> Iterator[tuple[int, Row]]:
    """Yield numbers and values of the rows of a file, by its kind."""
    name = PurePosixPath(selection.source.removesuffix(".gz")).name
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    samples = read_inspect_samples(selection.source) if suffix == "eval" else _samples_in(selection)
    if samples is not None:
        for number, sample in enumerate(samples, start=1):
            with _reading(selection, f"sample {number}", INSPECT):
                row = _inspect_row(sample)
            yield number, row
    else:
        yield from _table_rows(selection, selection.source, suffix)


def _table_rows(selection: Selection, source: str, suffix: str) -> Iterator[tuple[int, Row]]:
    formats = [known for known in names("sources") if known not in ("bundled", "hf")]
    if suffix not in formats:
        expected = f"one that ends in .eval, .{', .'.join(formats)}"
        raise selection.error(f"a file that ends in .{suffix}", expected=expected)
    for row in find("sources", suffix)(EveryColumn(source=source, format=suffix)):
        if (problem := row.problem) is not None:
            where, remedy = f"{source}, row {row.number}", f"{problem.remedy}."
            raise DataError(problem.observed, expected=problem.expected, remedy=remedy, where=where)
        yield row.number, row.values


def _replies(
    number: int, row: Row, selection: Selection, requests: Callable[[], Row]
) -> Iterator[tuple[ReplyKey, Completion | None, Retrieved]]:
    """Yield the replies of one row with their passages; no completion where nothing was recorded."""
    if {"custom_id", "response"} <= row.keys() and not selection.columns:
        with _reading(selection, f"row {number}", "results of a batch"):
            row = _batch_row(number, row, selection, requests())
    elif {"doc_id", "arguments", "resps"} <= row.keys() and not selection.columns:
        with _reading(selection, f"row {number}", "samples of lm-eval"):
            row = _lm_eval_row(number, row, selection)
    columns = _columns(row, selection)
    error = str(row[columns["error"]]) if row.get(columns.get("error", "")) else None
    test, id_ = (str(row.get(columns.get(name, ""), "") or "") for name in ("test", "id"))

    def reply(column: str, context: str) -> tuple[Completion | None, Retrieved]:
        value = row[columns[column]]
        # A usual name of a column that holds something else than passages is of no concern.
        retrieved = passages_of(row, columns[context]) if context in columns else Retrieved()
        retrieved = retrieved if retrieved.kept is not None or context in selection.columns else Retrieved()
        if value is None or error is not None:
            return Completion(error=error) if error else None, retrieved
        if isinstance(value, Completion):
            return value, retrieved
        return Completion(text=value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)), retrieved

    if wide := [side for side in SIDES if side in columns]:
        for side in wide:
            yield ReplyKey(test=test, id=id_, side=side), *reply(side, f"context_{side}")
        return
    if "prompt" in columns:
        yield ReplyKey(prompt=prompt_text(row[columns["prompt"]])), *reply("reply", "context")
        return
    side = str(row[columns["side"]])
    if side not in SIDES:
        part = f"row {number}, column {columns['side']}"
        raise selection.error(f"{side[:80]!r}", expected=" or ".join(SIDES), remedy="Correct that row.", part=part)
    yield ReplyKey(test=test, id=id_, side=side), *reply("reply", "context")


def _columns(row: Row, selection: Selection) -> Mapping[str, str]:
    """Return the columns that hold the parts of a row, by our names."""
    for name, column in selection.columns.items():
        leads_to_passages = name.startswith("context") and steps_of(column) and column.partition(".")[0] in row
        if column not in row and not leads_to_passages:
            raise _missing_column(selection, column, row, setting=f"model_args.columns.{name}")
    usual = {name: next((known for known in known_as if known in row), None) for name, known_as in USUAL.items()}
    named = selection.columns.keys() & {"reply", *SIDES} or usual["reply"]
    if named or "original_prompt" in row or None in map(usual.get, SIDES):
        # Texts or answers, not replies.
        usual |= {side: None for side in SIDES if usual[side] != f"reply_{side}"}
    columns = {name: column for name, column in usual.items() if column is not None} | dict(selection.columns)
    wide = "id" in columns and any(side in columns for side in SIDES)
    if wide or ("reply" in columns and ("prompt" in columns or {"id", "side"} <= columns.keys())):
        return columns
    raise selection.error(
        f"columns {_list_names(row)}",
        expected="prompt and reply; or id, side and reply; or id, original and perturbed (the two replies)",
        remedy="Name them, such as --set model_args.columns.reply=answer.",
    )


def _missing_column(selection: Selection, column: str, row: Row, *, setting: str) -> DataError:
    expected = f"one of {_list_names(row)}"
    return selection.error(
        f"there is no column {column!r}", expected=expected, remedy=f"Set {setting} to one of these."
    )


def _list_names(names: Iterable[str]) -> str:
    known = list(names)
    return ", ".join(known[:SHOWN]) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")


def prompt_text(value: Any) -> str:
    """Return the prompt of a text or of messages: the last one of the user."""
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, list):
        asked = [message for message in value if isinstance(message, Mapping) and message.get("role") == "user"]
        value = _content(asked[-1].get("content")) if asked else ""
    return str(value or "").strip()


def _content(value: Any) -> Any:
    """Return the text of a message, whose content may come in parts."""
    if not isinstance(value, list):
        return value
    parts = [part for part in value if isinstance(part, Mapping) and "text" in str(part.get("type", "text"))]
    return "".join(str(part.get("text", "")) for part in parts)


@contextmanager
def _reading(selection: Selection, part: str, kind: str) -> Iterator[None]:
    """Raise an error that names the part of a file which is not built as its kind is."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # A log has no columns.
        remedy = "Correct the file" + ("." if kind == INSPECT else ", or name its columns in model_args.columns.")
        raise selection.error("something that is built otherwise", expected=kind, remedy=remedy, part=part) from error


def _batch_row(number: int, row: Row, selection: Selection, requests: Row) -> Row:
    """Return a line of the results of a batch, with the prompt of the request that it answers."""
    id_ = str(row["custom_id"])
    if id_ not in requests:
        raise selection.error(
            f"an answer to a request {id_[:80]!r} that is not there",
            expected="a request for every answer",
            remedy="Name the file of the requests in model_args.requests.",
            part=f"row {number}",
        )
    return {"prompt": requests[id_], "reply": reply_of_line(row, Question(kind="generate", prompt=""))}


def _read_requests(selection: Selection) -> Row:
    """Return the prompts of the requests by their ids."""
    rows = _table_rows(selection, selection.requests, "jsonl") if selection.requests else iter(())
    bodies = {str(row.get("custom_id")): row.get("body") or {} for _, row in rows}
    return {id_: body.get("messages", body.get("prompt")) for id_, body in bodies.items()}


def _lm_eval_row(number: int, row: Row, selection: Selection) -> Row:
    """Return the first prompt of a sample of lm-eval, and the reply to it."""
    arguments, replies = row["arguments"], row["resps"]
    first = arguments.get("gen_args_0") if isinstance(arguments, Mapping) else arguments[0] if arguments else None
    asked = first.get("arg_0") if isinstance(first, Mapping) else first[0] if first else None
    # With a chat template, the messages as JSON are the only item of a list.
    asked = asked[0] if isinstance(asked, list) and len(asked) == 1 else asked
    reply = replies[0][0] if replies and replies[0] else None
    if not isinstance(asked, str) or not isinstance(reply, str) or len(arguments) > 1:
        raise selection.error(
            "a sample of log-likelihoods",
            expected="replies, which tasks with output_type: generate_until have",
            remedy="Run lm-eval with a task of output_type: generate_until.",
            part=f"row {number}",
        )
    return {"prompt": asked, "reply": reply}


def _samples_in(selection: Selection) -> list[Any] | None:
    """Return the samples of a log of Inspect as JSON; None where the file holds rows."""
    document = read_object(selection.source)
    if document is not None and not isinstance(document.get("samples"), list):
        raise selection.error("an object without samples", expected="a log of Inspect, or a list of rows")
    return None if document is None else document["samples"]


def _inspect_row(sample: Any) -> Row:
    """Return the last message of the user before the reply in a sample of Inspect, and the reply."""
    messages, output = sample.get("messages") or [], sample.get("output") or {}
    choices = output.get("choices") or []
    reply = _content((choices[0].get("message") or {}).get("content")) if choices else None
    failed = sample.get("error") or output.get("error") or ("no reply was recorded" if reply is None else None)
    error = str(failed.get("message", failed) if isinstance(failed, Mapping) else failed) if failed else None
    asked = messages if any(message.get("role") == "user" for message in messages) else sample.get("input")
    return {"prompt": asked, "reply": reply, "error": error, "id": sample.get("id")}
