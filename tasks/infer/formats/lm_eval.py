"""Recorded replies in the files that lm-eval (lm-evaluation-harness) writes with `--log_samples`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from contrapose.tasks.infer.formats.base import BY_COLUMNS, Format, Row, Selection


def recognizes(record: Row) -> bool:
    """Return whether a record is a sample of lm-eval."""
    return {"doc_id", "arguments", "resps"} <= record.keys()


def make_reader(selection: Selection) -> Callable[[Row], Iterator[Row]]:
    """Return a function that reads samples once; a task with several filters writes each sample several times."""
    filters: dict[object, None] = {}

    def read(record: Row) -> Iterator[Row]:
        filters.setdefault(record.get("filter"))
        if "filter" in selection.where or record.get("filter") == next(iter(filters)):
            yield from _yield_sample_rows(record, selection)

    return read


def _yield_sample_rows(record: Row, selection: Selection) -> Iterator[Row]:
    """Yield a row for each reply to the first prompt of a sample."""
    arguments, replies = record["arguments"], record["resps"]
    first = arguments.get("gen_args_0") if isinstance(arguments, Mapping) else arguments[0] if arguments else None
    asked = first.get("arg_0") if isinstance(first, Mapping) else first[0] if first else None
    # With a chat template, the messages as JSON are the only item of a list.
    asked = asked[0] if isinstance(asked, list) and len(asked) == 1 else asked
    texts = list(replies[0]) if replies and replies[0] else [None]
    if not isinstance(asked, str) or not all(isinstance(text, str) for text in texts) or len(arguments) > 1:
        raise selection.make_error(
            "a sample of log-likelihoods",
            expected="replies, which tasks with output_type: generate_until have",
            remedy="Run lm-eval with a task of output_type: generate_until.",
        )
    for text in texts:
        yield {**record, "prompt": asked, "reply": text}


FORMAT = Format("samples of lm-eval", recognizes, make_reader, BY_COLUMNS)
