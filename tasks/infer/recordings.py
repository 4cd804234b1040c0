"""Read files of recorded replies: any table, or a file of a tool in `FORMATS`.

Every format becomes rows with `prompt` or `id`, and `reply`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.app.responses import ReplyPassages, parse_path, read_row_passages
from contrapose.tasks.infer.formats.base import (
    SHOWN,
    Records,
    Row,
    Selection,
    extract_prompt,
    format_conversation,
    is_after_tool_call,
    yield_rows,
)
from contrapose.tasks.infer.formats.files import READ, find_format, read_records

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


class ReplyKey(NamedTuple):
    """Key under which a recorded reply is found: its prompt or its ids."""

    prompt: str = ""
    """The prompt without blanks around it; empty if ids decide."""
    test: str = ""
    """Name of the test; empty if the recording names none."""
    id: str = ""
    """Of a sample or case."""
    side: str = ""
    """One of `SIDES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The replies that a file holds, by key."""

    replies: Mapping[ReplyKey, Sequence[Completion]]
    """Replies to each prompt in the order of the file: the second is that of a first repeat."""
    by_id: bool
    """Whether replies are found by ids, and not by prompts."""
    conversations: Mapping[str, Sequence[Completion]] = field(default_factory=dict)
    """Replies to each conversation of several messages, by its transcript."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """Warnings about the passages, by kind."""


def read_recording(selection: Selection) -> Recording:
    """Return all replies of a file."""
    replies: dict[ReplyKey, list[Completion]] = {}
    conversations: dict[str, list[Completion]] = {}
    remarks: dict[str, str] = {}
    seen: dict[str, None] = {}
    any_chosen = False
    for number, row in _yield_format_rows(selection):
        for column in selection.where:
            if column not in row:
                raise _make_column_error(selection, column, row, setting=f"model_args.where.{column}")
        if any(str(row[column]) != str(value) for column, value in selection.where.items()):
            if len(seen) < SHOWN:
                seen[", ".join(f"{column}={row[column]}" for column in selection.where)] = None
            continue
        any_chosen = True
        for key, reply, retrieved in _yield_row_replies(number, row, selection):
            if reply is not None:
                kept = replies.setdefault(key, [])
                if kept and kept[-1].outcome == "tool_call" and is_after_tool_call(row.get("prompt")):
                    # The model went on with what the tool returned.
                    kept.pop()
                kept.append(replace(reply, passages=None if reply.error else retrieved.kept))
                if key.prompt and (talk := format_conversation(_read_prompt_cell(row, selection))):
                    conversations.setdefault(talk, []).append(kept[-1])
                remarks = {**retrieved.remarks, **remarks}
    if selection.where and not any_chosen:
        wanted = ", ".join(f"{column}={value}" for column, value in selection.where.items())
        raise selection.make_error(f"no row has {wanted}", expected=f"values of the file, such as {'; '.join(seen)}")
    if not replies:
        raise selection.make_error("no row has a reply", expected=f"at least one, in {READ}")
    by_id = any(key.side for key in replies)
    return Recording(replies=replies, by_id=by_id, conversations=conversations, remarks=remarks)


def _read_prompt_cell(row: Row, selection: Selection) -> Any:
    """Return the cell of a row that holds its prompt, or None if there is none."""
    names = [selection.columns["prompt"]] if "prompt" in selection.columns else USUAL["prompt"]
    return next((row[name] for name in names if name in row), None)


def _yield_format_rows(selection: Selection) -> Records:
    """Yield the rows of a file with their numbers, as its format reads them."""
    records = iter(read_records(selection))
    for first in records:
        named = {column.partition(".")[0] for column in selection.columns.values()}
        # Columns that the file itself has are those of a table.
        format = None if named & first[1].keys() else find_format(first[1])
        all_records = chain([first], records)
        yield from yield_rows(format, all_records, selection) if format else all_records


def _yield_row_replies(
    number: int, row: Row, selection: Selection
) -> Iterator[tuple[ReplyKey, Completion | None, ReplyPassages]]:
    """Yield the replies of one row with their passages; the completion is None if nothing was recorded."""
    columns = _find_columns(row, selection)
    error = str(row[columns["error"]]) if row.get(columns.get("error", "")) else None
    test, id_ = (str(row.get(columns.get(name, ""), "") or "") for name in ("test", "id"))

    def reply(column: str, context: str) -> tuple[Completion | None, ReplyPassages]:
        value = row[columns[column]]
        # A usual name of a column that holds something else than passages is of no concern.
        retrieved = read_row_passages(row, columns[context]) if context in columns else ReplyPassages()
        retrieved = retrieved if retrieved.kept is not None or context in selection.columns else ReplyPassages()
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
        yield ReplyKey(prompt=extract_prompt(row[columns["prompt"]])), *reply("reply", "context")
        return
    side = str(row[columns["side"]])
    if side not in SIDES:
        part = f"row {number}, column {columns['side']}"
        raise selection.make_error(f"{side[:80]!r}", expected=" or ".join(SIDES), remedy="Correct that row.", part=part)
    yield ReplyKey(test=test, id=id_, side=side), *reply("reply", "context")


def _find_columns(row: Row, selection: Selection) -> Mapping[str, str]:
    """Return the columns that hold prompt, reply and other parts of a row, by our names."""
    for name, column in selection.columns.items():
        leads_to_passages = name.startswith("context") and parse_path(column) and column.partition(".")[0] in row
        if column not in row and not leads_to_passages:
            raise _make_column_error(selection, column, row, setting=f"model_args.columns.{name}")
    usual = {name: next((known for known in known_as if known in row), None) for name, known_as in USUAL.items()}
    named = selection.columns.keys() & {"reply", *SIDES} or usual["reply"]
    if named or "original_prompt" in row or None in map(usual.get, SIDES):
        # Texts or answers, not replies.
        usual |= {side: None for side in SIDES if usual[side] != f"reply_{side}"}
    columns = {name: column for name, column in usual.items() if column is not None} | dict(selection.columns)
    wide = "id" in columns and any(side in columns for side in SIDES)
    if wide or ("reply" in columns and ("prompt" in columns or {"id", "side"} <= columns.keys())):
        return columns
    raise selection.make_error(
        f"columns {_list_names(row)}",
        expected=f"prompt and reply; or id, side and reply; or id, original and perturbed (the two replies); or {READ}",
        remedy="Name them, such as --set model_args.columns.reply=answer.",
    )


def _make_column_error(selection: Selection, column: str, row: Row, *, setting: str) -> DataError:
    expected = f"one of {_list_names(row)}"
    return selection.make_error(
        f"there is no column {column!r}", expected=expected, remedy=f"Set {setting} to one of these."
    )


def _list_names(names: Iterable[str]) -> str:
    known = list(names)
    return ", ".join(known[:SHOWN]) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")
