"""Read logs of the tool Inspect, in its own packed format or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from contrapose.tasks.core.logs import INSPECT
from contrapose.tasks.core.records import Completion
from contrapose.tasks.infer.formats.base import Format, Row, Selection, extract_prompt, make_completion, make_failed

OURS = "contrapose"
"""Key of the metadata in samples of logs that Contrapose wrote."""


def recognizes(record: Row) -> bool:
    """Return whether a record is an Inspect log, or one of its samples."""
    is_log = isinstance(record.get("samples"), list)
    return is_log or {"epoch", "input", "output"} <= record.keys()


def make_reader(selection: Selection) -> Callable[[Row], Iterator[Row]]:
    """Return a function that reads the rows of a log or of one of its samples."""
    known: set[tuple[str, int]] = set()

    def read(record: Row) -> Iterator[Row]:
        samples = record.get("samples", [record])
        for sample in sorted(samples, key=lambda sample: int(sample.get("epoch") or 1)):
            ours = (sample.get("metadata") or {}).get(OURS)
            # In our own logs, cases with the same prompt have one reply.
            own = (extract_prompt(_read_input(sample)), int(sample.get("epoch") or 1))
            if not ours or own not in known:
                yield from _yield_sample_rows(sample, ours)
            known.add(own)

    return read


def _yield_sample_rows(sample: Row, ours: Row | None) -> Iterator[Row]:
    """Yield a row for each reply choice of a sample, with the last message of the user before it."""
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    error: Any = sample.get("error") or output.get("error") or (None if choices else "no reply was recorded")
    replies = [
        make_completion(choice.get("message") or {"content": None}, choice.get("stop_reason")) for choice in choices
    ]
    if ours:
        text = choices[0]["message"]["content"] if choices else None
        why = (sample.get("error") or {}).get("message")
        replies, error = [Completion(text=text, outcome=ours["outcome"], error=why)], None
    row = {name: sample.get(name) for name in ("id", "epoch")} | {"model": output.get("model")}
    for reply in [make_failed(error)] if error else replies:
        yield row | {"prompt": _read_input(sample), "reply": reply, "context": (ours or {}).get("passages")}


def _read_input(sample: Row) -> Any:
    messages = sample.get("messages") or []
    return messages if any(message.get("role") == "user" for message in messages) else sample.get("input")


FORMAT = Format(INSPECT, recognizes, make_reader)
