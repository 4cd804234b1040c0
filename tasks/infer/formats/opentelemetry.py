"""Read model calls in OpenTelemetry traces and events, from OTLP in JSON or from its console exporters.

Three conventions are read: `gen_ai.input.messages` and `gen_ai.output.messages`, now that of OpenTelemetry;
`gen_ai.prompt.0.content` and `gen_ai.completion.0.content`, of OpenLLMetry; and events, one for each message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from contrapose.tasks.infer.formats.base import Format, Row, Selection, make_completion, make_failed, parse_if_json

INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
INDEXED = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(role|content|finish_reason|tool_calls)(?:\.|\Z)")
EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message\Z")
CHOICE = "gen_ai.choice"
FAILED = (2, "STATUS_CODE_ERROR", "ERROR")
"""Codes of the status of a span that failed."""
OTLP = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
"""Keys that lead to the spans and to the events of an export."""


def recognizes(record: Row) -> bool:
    """Return whether a record is an OTLP export, or a span or event of a console exporter."""
    return bool(OTLP.keys() & record.keys()) or ("attributes" in record and bool({"context", "body"} & record.keys()))


def make_reader(selection: Selection) -> Callable[[Row], Iterator[Row]]:
    """Return a function that reads exports; it keeps events, because messages of a call may come in several records."""
    earlier: dict[object, list[Row]] = {}

    def read(record: Row) -> Iterator[Row]:
        for item in _yield_items(record):
            attributes = _convert_attributes(item.get("attributes"))
            name = str(item.get("eventName") or item.get("event_name") or attributes.get("event.name") or "")
            model = attributes.get("gen_ai.response.model") or attributes.get("gen_ai.request.model")
            if match := EVENT.match(name):
                earlier.setdefault(_find_span(item), []).append({"role": match[1], **_find_body(item, attributes)})
            elif name == CHOICE:
                choice = _find_body(item, attributes)
                message, finish = choice.get("message") or {}, choice.get("finish_reason")
                yield {
                    "model": model,
                    "prompt": earlier.get(_find_span(item), []),
                    "reply": make_completion(message, finish),
                }
            else:
                for row in _yield_call_rows(item, attributes, earlier.get(_find_span(item), [])):
                    yield {"model": model, **row}

    return read


def _yield_items(record: Row) -> Iterator[Row]:
    """Yield the spans and events of an export; events of a span come before the span."""
    inner = [
        item
        for resources, (scopes, items) in OTLP.items()
        for resource in record.get(resources) or ()
        for scope in resource.get(scopes) or ()
        for item in scope.get(items) or ()
    ]
    for item in inner if OTLP.keys() & record.keys() else [record]:
        yield from (
            {**item, "status": None, **event, "eventName": event.get("name")} for event in item.get("events") or ()
        )
        yield item


def _yield_call_rows(item: Row, attributes: Row, earlier: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows of a model call with messages as attributes, one for each choice; nothing for other spans."""
    asked, replies = (
        [*map(_convert_message, parse_if_json(attributes.get(name), "[") or _collect_indexed(attributes, kind))]
        for name, kind in ((INPUT, "prompt"), (OUTPUT, "completion"))
    )
    status = item.get("status") or {}
    error = (
        status.get("message") or status.get("description") or attributes.get("error.type") or "no reply was recorded"
    )
    is_failed = status.get("code", status.get("status_code")) in FAILED
    if (asked and not replies) or (is_failed and (asked or earlier)):
        yield {"prompt": asked or earlier, "reply": make_failed(error)}
    elif asked:
        for reply in replies:
            yield {"prompt": asked, "reply": make_completion(reply, reply.get("finish_reason"))}


def _convert_message(message: Row) -> Row:
    """Return a message in OpenAI's format."""
    content = parse_if_json(message.get("content"), '[{"type"')
    if "parts" in message:
        content = [{**part, str(part.get("type")): part.get("content")} for part in message["parts"]]
    return {**message, "content": content}


def _collect_indexed(attributes: Row, kind: str) -> list[Row]:
    """Return the messages in numbered attributes."""
    messages: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if (match := INDEXED.match(name)) and match[1] == kind:
            messages.setdefault(int(match[2]), {})[match[3]] = value
    return [messages[number] for number in sorted(messages)]


def _find_body(event: Row, attributes: Row) -> Row:
    """Return the content of an event, from its body or from its attributes."""
    body = _convert_value(event.get("body"))
    content = parse_if_json(attributes.get("gen_ai.event.content"), "{")
    return next((part for part in (body, content) if isinstance(part, Mapping) and part), attributes)


def _find_span(item: Row) -> object:
    """Return the id of the span that all events of one call share."""
    context = item.get("context") or item
    return context.get("spanId") or context.get("span_id")


def _convert_attributes(attributes: Any) -> Mapping[str, Any]:
    """Return attributes by name, because OTLP has a list of them."""
    if isinstance(attributes, Mapping):
        return attributes
    return {attribute["key"]: _convert_value(attribute.get("value")) for attribute in attributes or ()}


def _convert_value(value: Any) -> Any:
    """Return the plain value of an OTLP value, which names its type."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value or None
    ((kind, inner),) = value.items()
    if kind == "kvlistValue":
        return _convert_attributes(inner.get("values"))
    return [*map(_convert_value, inner.get("values") or ())] if kind == "arrayValue" else inner


FORMAT = Format("spans or events of OpenTelemetry", recognizes, make_reader)
