"""Read JSON: one object a line, or one document: a list of objects, a list below a key, or a table of pandas."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import IO, Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.bounds import MOST_DOCUMENT, MOST_LINE
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.bundled import BOM, make_row, parse_lines
from contrapose.tasks.load.conversations import is_message_list
from contrapose.tasks.load.description import CONTEXTS, FIELD_NAMES, NAMES, TEXTS, normalise_name
from contrapose.tasks.load.opening import decoding_error, open_text, source_error
from contrapose.tasks.load.rows import Problem, Row, escape, quote, quote_all
from contrapose.tasks.load.source_reader import detect_format

NO_VALUE = object()
"""Returned instead of a JSON value if a text is no JSON."""
LEVELS = 2
"""Keys below each other that may lead to the rows."""
SPLITS = frozenset(("train", "training", "test", "dev", "validation", "valid", "val"))
"""Names of parts of a data set: an object with such keys is no row and no table."""
CONTAINERS = SPLITS.union(
    ("data", "dataset", "rows", "records", "examples", "samples", "instances", "entries", "questions"),
    ("cases", "results", "documents"),
)
"""Usual names of a list of rows."""
PARTS = frozenset((*NAMES["options"], "answer", "answers"))
"""Names of lists that belong to one row."""
AS_RECORDS = "Write the rows as a list of objects; pandas does with to_json(orient='records')."


def read_rows(data: DataSettings) -> Iterator[Row]:
    """Yield the rows of JSON lines or of a JSON document, for any file name, or raise DataError."""
    with open_text(data.source) as file:
        document = _read_document(file, data)
        if document is NO_VALUE:
            if data.record_path is not None:
                raise source_error(
                    data.source,
                    f"record_path is {quote(data.record_path)}, and the file has one row on each line",
                    expected="record_path for a JSON document alone",
                    remedy="Leave record_path out.",
                )
            yield from parse_lines(file)
            return
        value = document if data.record_path is None else _follow_path(document, data.record_path, data.source)
        if _is_split_table(value):
            yield from _yield_split_rows(value, data.source)
            return
        records, notes = _find_records(value, data)
        for number, record in enumerate(records, start=1):
            row = make_row(number, record)
            yield row if number > 1 else replace(row, notes=notes)


def _read_document(file: IO[bytes], data: DataSettings) -> Any:
    """Return the document in a file, or NO_VALUE if each line is a row."""
    rest = iter(lambda: file.readline(MOST_LINE), b"")
    lines = list(islice((line for line in rest if line.removeprefix(BOM).strip()), 2))
    file.seek(0)
    as_lines = detect_format(data) == "jsonl"
    if not lines:
        return NO_VALUE
    first = _parse_value(lines[0]) if as_lines or len(lines) > 1 else NO_VALUE
    if first is not NO_VALUE and len(lines) > 1:
        if isinstance(first, list) and isinstance(_parse_value(lines[1]), list):
            raise source_error(
                data.source,
                f"each line is a list, such as {quote(first)}",
                expected="one JSON object a line, whose keys name the columns",
                remedy="Write each row as an object; pandas does with to_json(orient='records', lines=True).",
            )
        return NO_VALUE
    if not as_lines:
        return _parse_document(file, data.source)
    if first is not NO_VALUE:
        return first if data.record_path is not None or _is_document(first) else NO_VALUE
    text = lines[0].decode("utf-8-sig", "replace").rstrip()
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text):
            # The line is the beginning of a value, as the first line of a document is.
            try:
                return _parse_document(file, data.source)
            except DataError:
                file.seek(0)
    except (ValueError, RecursionError):
        pass
    return NO_VALUE


def _parse_value(line: bytes) -> Any:
    """Return the JSON value of a line, or NO_VALUE if it is no JSON."""
    try:
        return json.loads(line.decode("utf-8-sig")) if len(line) < MOST_LINE else NO_VALUE
    except (ValueError, RecursionError):
        return NO_VALUE


def _parse_document(file: IO[bytes], source: str) -> Any:
    """Return the JSON value of a complete file."""
    content = file.read(MOST_DOCUMENT + 1)
    if len(content) > MOST_DOCUMENT:
        raise source_error(
            source,
            f"a document of more than {MOST_DOCUMENT:,} bytes",
            expected="a document that fits into memory",
            remedy="Save it as JSON lines (.jsonl), one object a line.",
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise decoding_error(file, source) from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        several = error.msg == "Extra data"
        raise DataError(
            f"invalid JSON ({error.msg})",
            expected="a list of objects",
            remedy="Put the values into one list, or one on each line." if several else "Correct that place.",
            where=f"{escape(source)}, line {error.lineno}, column {error.colno}",
        ) from error
    except (ValueError, RecursionError) as error:
        raise source_error(source, f"invalid JSON ({type(error).__name__})", expected="a list of objects") from error


def _is_document(value: Any) -> bool:
    """Return whether the only line of a file is a document that holds rows, not a single row."""
    if isinstance(value, list):
        return any(isinstance(member, dict) for member in value)
    if not isinstance(value, dict) or _has_text(value, (*TEXTS, *CONTEXTS)):
        return False
    below_usual_name = any(normalise_name(path) in CONTAINERS for path in _find_record_lists(value, levels=1))
    return below_usual_name or _is_split_table(value) or (_are_objects(value) and _find_orient(value) == "columns")


def _find_records(value: Any, data: DataSettings) -> tuple[Sequence[Any], tuple[str, ...]]:
    """Return the rows of a document, and notes on where they were found."""
    if _holds_lists(value):
        raise _nameless_rows(value, data.source)
    if isinstance(value, list):
        return value, ()
    if isinstance(value, dict):
        for find_rows in (_read_schema_records, _read_column_lists, _read_labelled_objects):
            if (records := find_rows(value, data.source)) is not None:
                return records, ()
    lists = _find_record_lists(value) if isinstance(value, dict) else {}
    if lists and _has_text(value, TEXTS):
        # A row may hold lists of its own.
        lists = {path: rows for path, rows in lists.items() if normalise_name(path) in CONTAINERS}
    if not lists:
        if data.record_path is not None:
            raise _path_error(
                data.record_path, f"there are no rows but {quote(value)}", "a list of objects", data.source
            )
        raise source_error(
            data.source,
            f"the file holds {quote(value)}",
            expected="a list of objects",
            remedy="Put the rows into one list, or name the key that leads to it: --set data.record_path=KEY.",
        )
    asking = [
        path
        for path, rows in lists.items()
        if len(lists) == 1 or (isinstance(rows[0], dict) and _has_text(rows[0], TEXTS))
    ]
    if len(asking) == 1:
        others = [path for path in lists if path != asking[0]]
        note = f"the rows below {quote(asking[0])} are read; the file also has lists below {quote_all(others)}"
        return lists[asking[0]], (note,) if others else ()
    prefix = "" if data.record_path is None else f"{data.record_path}."
    counts = [f"{quote(prefix + path)} ({len(rows):,} rows)" for path, rows in lists.items()]
    rest = f" and {len(counts) - 12} more" if len(counts) > 12 else ""
    path = escape(prefix + max(lists, key=lambda path: len(lists[path])))
    option = shlex.quote(f"data.record_path={path}")
    raise source_error(
        data.source,
        f"several lists may be the rows: {', '.join(counts[:12])}{rest}",
        expected="one list of objects",
        remedy=f"Name one: --set {option}, or record_path: {path} next to the source.",
    )


def _read_schema_records(document: Mapping[str, Any], source: str) -> Sequence[Any] | None:
    """Return rows in pandas' orient `table`, without an index that only counts, or None."""
    schema, records = document.get("schema"), document.get("data")
    if not isinstance(schema, dict) or not isinstance(records, list) or not isinstance(schema.get("fields"), list):
        return None
    keys = schema.get("primaryKey")
    rows = [record for record in records if isinstance(record, dict)]
    counted = {
        key
        for key in (keys if isinstance(keys, list) else [])
        if isinstance(key, str) and _only_count([row.get(key) for row in rows])
    }
    return [
        {name: cell for name, cell in record.items() if name not in counted} if isinstance(record, dict) else record
        for record in records
    ]


def _read_column_lists(document: Mapping[str, Any], source: str) -> Sequence[Any] | None:
    """Return rows from a document with a list for each column, or None."""
    if not document or not all(isinstance(column, list) for column in document.values()):
        return None
    has_names = any(_is_field(name) and column and isinstance(column[0], str) for name, column in document.items())
    if not has_names and any(isinstance(cell, dict) for column in document.values() for cell in column):
        return None
    if len(document) == 1 and _holds_lists(first := next(iter(document.values()))):
        raise _nameless_rows(first, source)
    lengths = {name: len(column) for name, column in document.items()}
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"{quote(name)} {length:,}" for name, length in [*lengths.items()][:12])
        raise source_error(
            source, f"the lists differ in length: {listing}", expected="one value for each row", remedy=AS_RECORDS
        )
    return [dict(zip(document, cells, strict=True)) for cells in zip(*document.values(), strict=True)]


def _read_labelled_objects(document: Mapping[str, Any], source: str) -> Sequence[Any] | None:
    """Return rows in pandas' orients `index` and `columns`; labels that do more than count become the column `id`."""
    orient = _find_orient(document) if _are_objects(document) else None
    if orient is None:
        return None
    if orient == "unclear":
        observed = f"the objects below {quote_all(list(document), most=4)} may be rows or columns"
        raise source_error(source, observed, expected="a list of objects", remedy=AS_RECORDS)
    objects: list[Mapping[str, Any]] = list(document.values())
    labels = list(document)
    if orient == "columns":
        labels = list(objects[0])
        objects = [{name: document[name][label] for name in document} for label in labels]
    if _only_count(labels) or any(normalise_name(name) == "id" for name in {key for row in objects for key in row}):
        return objects
    return [{"id": label, **record} for record, label in zip(objects, labels, strict=True)]


def _are_objects(document: Mapping[str, Any]) -> bool:
    """Return whether every key holds an object and no key is the name of a split, such as train."""
    objects = all(isinstance(value, dict) and value for value in document.values())
    return bool(document) and objects and not all(normalise_name(key) in SPLITS for key in document)


def _find_orient(document: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return pandas' orient of objects below keys: `index`, `columns`, `unclear` if both fit, or None."""

    def are_labels(keys: Collection[str]) -> bool:
        # Keys such as 17, row-17 and q17 name rows.
        return all(key[-1:].isdigit() for key in keys)

    objects = list(document.values())
    keys, shared = objects[0].keys(), set(objects[0]).intersection(*objects[1:])
    same, labelled = all(value.keys() == keys for value in objects), are_labels(document)
    if same and are_labels(keys) and not labelled:
        return "columns"
    texts = all(_has_text(value, FIELD_NAMES) for value in objects)
    nested = any(_is_record_list(name, part) for value in objects for name, part in value.items())
    scalars = all(any(not isinstance(cell, list | dict) for cell in value.values()) for value in objects)
    alike = texts or 2 * len(shared) >= len(set().union(*objects))
    several = len(objects) > 1 or texts or labelled
    if not (shared and alike and several) or (nested and not texts and not (labelled and scalars)):
        return None
    if not same or (labelled and not are_labels(keys)):
        return "index"
    named_columns, named_rows = any(map(_is_field, document)), any(map(_is_field, keys))
    if named_columns != named_rows:
        return "columns" if named_columns else "index"
    return "unclear"


def _is_split_table(value: Any) -> bool:
    """Return whether a value is a table in pandas' orient `split`."""
    return isinstance(value, dict) and isinstance(value.get("columns"), list) and _holds_lists(value.get("data"))


def _yield_split_rows(document: Mapping[str, Any], source: str) -> Iterator[Row]:
    """Yield the rows of a table in pandas' orient `split`: column names and lists of cells."""
    names, labels, rows = [str(name) for name in document["columns"]], document.get("index"), document["data"]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        observed = f"two columns are called {quote(twice)}"
        raise source_error(source, observed, expected="distinct names in columns", remedy="Rename one.")
    if not isinstance(labels, list) or len(labels) != len(rows) or _only_count(labels):
        labels = None
    for number, cells in enumerate(rows, start=1):
        if isinstance(cells, list) and len(cells) == len(names):
            label = {} if labels is None or "id" in map(normalise_name, names) else {"id": labels[number - 1]}
            yield Row(number=number, values={**label, **dict(zip(names, cells, strict=True))})
        else:
            yield Row(number=number, problem=Problem(quote(cells), f"a list of {len(names)} values, as in columns"))


def _find_record_lists(document: Mapping[str, Any], *, levels: int = LEVELS) -> dict[str, list[Any]]:
    """Return the lists of objects below the keys of a document, by path."""
    lists: dict[str, list[Any]] = {}
    for name, value in document.items():
        if _is_record_list(name, value):
            lists[name] = value
        elif isinstance(value, dict) and levels > 1:
            lists |= {f"{name}.{path}": rows for path, rows in _find_record_lists(value, levels=levels - 1).items()}
    return lists


def _is_record_list(name: str, value: Any) -> bool:
    """Return whether a list may hold rows: objects that are neither options nor messages of one row."""
    if not isinstance(value, list) or normalise_name(name) in PARTS:
        return False
    return any(isinstance(member, dict) for member in value) and not is_message_list(value)


def _holds_lists(value: Any) -> bool:
    """Return whether a value is a list that begins with a list."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], list)


def _has_text(value: Mapping[str, Any], names: Collection[str]) -> bool:
    """Return whether an object has a text under one of these names."""
    return any(isinstance(cell, str) and normalise_name(name) in names for name, cell in value.items())


def _is_field(name: str) -> bool:
    """Return whether a key is the name of a field."""
    return normalise_name(name) in FIELD_NAMES


def _only_count(labels: Sequence[object]) -> bool:
    """Return whether labels only count from 0 or from 1."""
    return any([str(label) for label in labels] == [*map(str, range(n, n + len(labels)))] for n in (0, 1))


def _follow_path(document: Any, path: str, source: str) -> Any:
    """Return the value at a path of keys, or raise DataError."""
    value, rest, passed = document, path, ""
    while rest:
        parts = rest.split(".")
        heads = (rest, *(".".join(parts[:count]) for count in range(1, len(parts))))
        key = next((head for head in heads if isinstance(value, dict) and head in value), None)
        if key is None:
            place = f" below {quote(passed)}" if passed else ""
            if isinstance(value, dict):
                expected = f"one of the keys {quote_all(list(value))}"
                raise _path_error(path, f"there is no key {quote(parts[0])}{place}", expected, source)
            held = f"a list of {len(value):,}" if isinstance(value, list) else quote(value)
            remedy = f"Set record_path to {quote(passed)}." if passed else "Leave record_path out."
            raise _path_error(path, f"{held}{place} has no keys", "an object with keys", source, remedy)
        value, passed, rest = value[key], f"{passed}.{key}".strip("."), rest[len(key) + 1 :]
    return value


def _path_error(path: str, observed: str, expected: str, source: str, remedy: str = "") -> DataError:
    """Return the error about record_path."""
    remedy = remedy or "Correct record_path, or leave it out: rows are found by themselves."
    return source_error(source, f"record_path {quote(path)}: {observed}", expected=expected, remedy=remedy)


def _nameless_rows(rows: Sequence[Any], source: str) -> DataError:
    """Return the error that rows are lists without column names."""
    observed = f"the rows are lists without column names, such as {quote(rows[0])}"
    return source_error(source, observed, expected="a list of objects, whose keys name the columns", remedy=AS_RECORDS)
