"""Formats of recorded replies: one file and one line for each. A file's content decides, whatever its name is."""

from __future__ import annotations

from contrapose.tasks.infer.formats import inspect_log, langfuse, lm_eval, openai_batch, opentelemetry, promptfoo
from contrapose.tasks.infer.formats.base import Format, Row

FORMATS = (
    inspect_log.FORMAT,
    lm_eval.FORMAT,
    openai_batch.FORMAT,
    promptfoo.FORMAT,
    opentelemetry.FORMAT,
    langfuse.FORMAT,
)
READ = f"a table of replies (CSV, JSON lines, JSON, Parquet, Excel), {', '.join(format.name for format in FORMATS)}"
"""What is read, in the words of an error."""


def find_format(record: Row) -> Format | None:
    """Return the format of a file by its first record; None where it is none of ours."""
    return next((format for format in FORMATS if format.recognizes(record)), None)
