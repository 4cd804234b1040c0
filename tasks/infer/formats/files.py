"""Recorded replies of other tools: a file's content shows which tool wrote it, and its entries are read."""

from __future__ import annotations

import json
import re
import zipfile
from contextlib import suppress
from pathlib import Path, PurePosixPath

import yaml

from contrapose.tasks.core import bounds
from contrapose.tasks.core.bounds import MOST_DOCUMENT, MOST_LINE
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.core.logs import read_inspect_samples
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.registry import names
from contrapose.tasks.infer.formats import inspect_log, langfuse, lm_eval, openai_batch, opentelemetry, promptfoo
from contrapose.tasks.infer.formats.base import SHOWN, Format, Records, Row, Selection, yield_table_rows

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

BLANKS = re.compile(r"\s*")
BOM = b"\xef\xbb\xbf"
PACKED = b"\x1f\x8b"


def find_format(record: Row) -> Format | None:
    """Return the format of a file by its first record, or None if no format fits."""
    return next((format for format in FORMATS if format.recognizes(record)), None)


def read_records(selection: Selection) -> Records:
    """Yield the records of a file with their numbers; the content decides how, its name only decides between tables."""
    source = selection.source
    with Place.at(source, setting="model").here() as path:
        with path.open("rb") as file:
            head = file.readline(MOST_LINE).removeprefix(BOM).lstrip()
            rest = file.readline(MOST_LINE).strip()
        if head.startswith(b"PK\x03\x04") and not _is_workbook(path):
            yield from enumerate(read_inspect_samples(source), start=1)
            return
        documents = list[Row]()
        if head.startswith(b"evalId:"):
            documents = [_read_yaml_document(path, selection)]
        elif head.startswith(b"{") and not (rest and _parse_all(head)):
            with path.open("rb") as file:
                documents = _parse_all(file.read(MOST_DOCUMENT + 1))
        if documents and find_format(documents[0]):
            yield from enumerate(documents, start=1)
            return
        if not documents and not head.startswith((b"PAR1", PACKED)) and promptfoo.is_table(path):
            yield from enumerate(promptfoo.read_table(path, selection), start=2)
            return
    try:
        yield from yield_table_rows(selection, source, _table_format(source, head))
    except DataError as error:
        if not documents:
            raise
        seen = f"an object with the keys {', '.join(map(str, list(documents[0])[:SHOWN]))}"
        raise selection.make_error(seen, expected=READ) from error


def _table_format(source: str, head: bytes) -> str:
    """Return the format of a table by its first bytes, or else by the ending of its name; any other text is CSV."""
    if head.startswith((b"PAR1", b"PK")):
        return "parquet" if head.startswith(b"PAR1") else "xlsx"
    suffix = PurePosixPath(source.removesuffix(".gz")).suffix[1:].lower()
    if suffix in names("sources").keys() - {"bundled", "hf", "parquet", "xlsx"}:
        return suffix
    return "jsonl" if head.startswith((b"{", b"[")) else "csv"


def _is_workbook(path: Path) -> bool:
    with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        return any(name.startswith("xl/") for name in archive.namelist())
    return False


def _parse_all(content: bytes) -> list[Row]:
    """Return the JSON objects that follow each other in a text; none if it holds anything else, or too much."""
    text = content.removeprefix(BOM).decode("utf-8", "replace").strip() if len(content) <= MOST_DOCUMENT else ""
    documents, end = list[Row](), 0
    with suppress(ValueError, RecursionError):
        while end < len(text):
            document, end = json.JSONDecoder().raw_decode(text, end)
            documents.append(document)
            end = BLANKS.match(text, end).end()  # type: ignore[union-attr]
        return documents
    return []


def _read_yaml_document(path: Path, selection: Selection) -> Row:
    try:
        document: Row = bounds.parse_yaml(bounds.read_bytes(path))
    except yaml.YAMLError as error:
        problem = bounds.describe_yaml_problem(error, selection.source, expected=promptfoo.NAME)
        remedy = "Write the results with `promptfoo eval -o results.json`."
        raise DataError(problem.observed, expected=problem.expected, remedy=remedy, where=problem.where) from error
    return document
