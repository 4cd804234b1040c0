"""Read exports of Langfuse: observations or traces from its tables, its API or its storage exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contrapose.tasks.infer.formats.base import BY_COLUMNS, Format, Row, make_completion, make_failed, parse_if_json

OBSERVED = ("traceId", "trace_id")
"""Names under which an observation names its trace."""
OF_TRACE = ("sessionId", "session_id", "userId", "user_id", "environment", "bookmarked", "observations")
ASKED = ("messages", "prompt", "question", "query", "input", "text", "contents")
REPLIED = ("reply", "response", "output", "answer", "completion", "text", "content", "message")
"""Usual names in an input or output of the text in it, the likeliest first."""
MODEL_CALL = "GENERATION"
OTHERS = ("SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")
"""Types of observations that are no calls of a model."""


def recognizes(record: Row) -> bool:
    """Return whether a record is an observation, a trace, or a document that holds some."""
    page = record.get("data")
    if isinstance(page, list) and page and isinstance(page[0], Mapping):
        return recognizes(page[0])
    if isinstance(record.get("trace"), Mapping) and isinstance(record.get("observations"), list):
        return True
    return {"input", "output"} <= record.keys() and any(name in record for name in (*OBSERVED, *OF_TRACE))


def read(record: Row) -> Iterator[Row]:
    """Yield the rows of an observation or trace, or of all in a document.

    If a trace holds model calls, these are read; if not, its input and output are.
    """
    if isinstance(record.get("data"), list):
        for inner in record["data"]:
            yield from read(inner)
        return
    inner = [call for call in record.get("observations") or () if isinstance(call, Mapping)]
    calls = [call for call in inner if call.get("type") == MODEL_CALL]
    trace = record["trace"] if isinstance(record.get("trace"), Mapping) else record
    for observed in calls or [trace]:
        if observed.get("type") not in OTHERS:
            yield from _yield_call_rows(observed)


def _yield_call_rows(observed: Row) -> Iterator[Row]:
    """Yield the row of one call with the columns that can select rows; nothing if it has no input."""
    asked, output = (parse_if_json(observed.get(name), "{", "[", '"') for name in ("input", "output"))
    if asked in (None, ""):
        return
    columns = {name: value for name, value in observed.items() if isinstance(value, str | int | float)}
    message = columns.get("statusMessage") or columns.get("status_message")
    model = columns.get("model") or columns.get("providedModelName") or columns.get("provided_model_name")
    is_failed = columns.get("level") == "ERROR"
    reply = make_failed(message or "Langfuse noted an error") if is_failed else _read_output(output)
    yield {**columns, "model": model, "prompt": _read_input(asked), "reply": reply}


def _read_input(value: Any) -> Any:
    """Return the text or the messages of an input; observed functions have it in `args` or `kwargs`."""
    if isinstance(value, Mapping):
        if value.get("args") or value.get("kwargs"):
            return _read_input((value.get("args") or [value["kwargs"]])[0])
        own = next((value[name] for name in ASKED if value.get(name)), None)
        return _read_input(own) if own is not None else next(iter(value.values()), None) if len(value) == 1 else value
    return value


def _read_output(value: Any) -> Any:
    """Return the completion in an output: a message, an API reply, a list with one of these, or a text."""
    if isinstance(value, list) and len(value) == 1:
        return _read_output(value[0])
    if isinstance(value, Mapping):
        if isinstance(value.get("choices"), list) and value["choices"]:
            choice = value["choices"][0]
            return make_completion(choice.get("message") or choice.get("text"), choice.get("finish_reason"))
        if "role" in value or "tool_calls" in value:
            return make_completion(value, value.get("finish_reason"))
        known = next((value[name] for name in REPLIED if value.get(name) is not None), None)
        return value if known is None else _read_output(known)
    return make_completion(value) if isinstance(value, str) else value


FORMAT = Format("an export of Langfuse", recognizes, lambda selection: read, BY_COLUMNS)
