"""Read results of OpenAI's batch API, which name the requests that they answer by ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from contrapose.tasks.infer.formats.base import BY_COLUMNS, PLAIN, Format, Row, Selection, yield_table_rows
from contrapose.tasks.infer.openai.batches import parse_result_line


def recognizes(record: Row) -> bool:
    """Return whether a record is a line of batch results."""
    return {"custom_id", "response"} <= record.keys()


def make_reader(selection: Selection) -> Callable[[Row], Iterator[Row]]:
    """Return a function that reads result lines and adds the prompts of their requests."""
    # Read where a row needs them, and once.
    requests = cache(lambda: _read_requests(selection))

    def read(record: Row) -> Iterator[Row]:
        id_ = str(record["custom_id"])
        if id_ not in requests():
            raise selection.make_error(
                f"an answer to a request {id_[:80]!r} that is not there",
                expected="a request for every answer",
                remedy="Name the file of the requests in model_args.requests.",
            )
        yield {**record, "prompt": requests()[id_], "reply": parse_result_line(record, PLAIN), "error": None}

    return read


def _read_requests(selection: Selection) -> Mapping[str, Any]:
    """Return the prompts of the requests by their ids."""
    rows = yield_table_rows(selection, selection.requests, "jsonl") if selection.requests else iter(())
    bodies = {str(row.get("custom_id")): row.get("body") or {} for _, row in rows}
    return {id_: body.get("messages", body.get("prompt")) for id_, body in bodies.items()}


FORMAT = Format("results of an OpenAI batch", recognizes, make_reader, BY_COLUMNS)
