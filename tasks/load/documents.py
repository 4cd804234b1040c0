"""Rows of a JSON document: a list of objects, a list below a key, or a table as pandas writes it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from contrapose.tasks.config.data_settings import DataSettings
from contrapose.tasks.core.errors import DataError
from contrapose.tasks.load.bundled import checked
from contrapose.tasks.load.conversations import is_conversation
from contrapose.tasks.load.description import CONTEXTS, FIELD_NAMES, NAMES, TEXTS, plain_name
from contrapose.tasks.load.opening import failure
from contrapose.tasks.load.rows import Problem, Row, escaped, listed, shown

LEVELS = 2
"""Keys below each other that may lead to the rows."""
CONTAINERS = frozenset(
    (
        *("data", "dataset", "rows", "records", "examples", "samples", "instances", "entries", "questions"),
        *("cases", "results", "documents", "train", "training", "test", "dev", "validation", "valid", "val"),
    )
)
"""Usual names of a list of rows."""
SPLITS = frozenset(("train", "training", "test", "dev", "validation", "valid", "val"))
"""Names of parts of a data set: an object with such keys is no row and no table."""
PARTS = frozenset((*NAMES["options"], "answer", "answers"))
"""Names of lists that belong to one row."""
AS_RECORDS = "Write the rows as a list of objects; pandas does with to_json(orient='records')."


def rows_of(document: Any, data: DataSettings) -> Iterator[Row]:
    """Rows of a parsed document, counted from 1.

    Raises:
        DataError: no list of objects is there, several could be meant, or record_path names none.
    """
    value = document if data.record_path is None else _below(document, data.record_path, data.source)
    if isinstance(value, dict) and isinstance(value.get("columns"), list) and _holds_lists(value.get("data")):
        yield from _split_rows(value, data.source)
        return
    records, notes = _records(value, data)
    for number, record in enumerate(records, start=1):
        row = checked(number, record)
        yield row if number > 1 else replace(row, notes=notes)


def is_document(value: Any) -> bool:
    """Whether the only line of a file is a document with rows in it; otherwise it is one row."""
    if isinstance(value, list):
        return any(isinstance(member, dict) for member in value)
    if not isinstance(value, dict) or _has_text(value, (*TEXTS, *CONTEXTS)):
        return False
    below_usual_name = any(plain_name(path) in CONTAINERS for path in _record_lists(value, levels=1))
    is_split = isinstance(value.get("columns"), list) and _holds_lists(value.get("data"))
    return below_usual_name or is_split or (_are_objects(value) and _orient_of(value) == "columns")


def _records(value: Any, data: DataSettings) -> tuple[Sequence[Any], tuple[str, ...]]:
    """Rows, and what people should know about how they were found."""
    if isinstance(value, list):
        if _holds_lists(value):
            raise _without_names(value, data.source)
        return value, ()
    if not isinstance(value, dict):
        raise _no_list(value, data)
    forms = (form(value, data.source) for form in (_schema_records, _list_records, _object_records))
    records = next((records for records in forms if records is not None), None)
    return _likely_list(value, data) if records is None else (records, ())


def _holds_lists(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], list)


def _schema_records(document: Mapping[str, Any], source: str) -> Sequence[Any] | None:
    """Rows of the orient `table`, without an index that only counts."""
    schema, records = document.get("schema"), document.get("data")
    if not isinstance(schema, dict) or not isinstance(records, list) or not isinstance(schema.get("fields"), list):
        return None
    keys = schema.get("primaryKey")
    names = [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []
    rows = [record for record in records if isinstance(record, dict)]
    counted = {name for name in names if _counts([row.get(name) for row in rows])}
    return [
        {name: cell for name, cell in record.items() if name not in counted} if isinstance(record, dict) else record
        for record in records
    ]


def _list_records(document: Mapping[str, Any], source: str) -> Sequence[Any] | None:
    """Rows of lists that are one column each."""
    if not document or not all(isinstance(column, list) for column in document.values()):
        return None
    has_names = any(_is_field(name) and column and isinstance(column[0], str) for name, column in document.items())
    if not has_names and any(isinstance(cell, dict) for column in document.values() for cell in column):
        return None
    if len(document) == 1 and _holds_lists(first := next(iter(document.values()))):
        raise _without_names(first, source)
    lengths = {name: len(column) for name, column in document.items()}
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"{shown(name)} {length:,}" for name, length in [*lengths.items()][:12])
        raise failure(
            source, f"the lists differ in length: {listing}", expected="one value for each row", remedy=AS_RECORDS
        )
    return [dict(zip(document, cells, strict=True)) for cells in zip(*document.values(), strict=True)]


def _object_records(document: Mapping[str, Any], source: str) -> Sequence[Any] | None:
    """Rows of the orients `index` and `columns`: objects below the labels of rows, or below the names of columns."""
    if not _are_objects(document):
        return None
    objects: list[Mapping[str, Any]] = list(document.values())
    orient = _orient_of(document)
    if orient == "columns":
        labels = list(objects[0])
        return _with_ids([{name: document[name][label] for name in document} for label in labels], labels)
    if orient == "index":
        return _with_ids(objects, list(document))
    if orient == "unclear":
        observed = f"the objects below {listed(list(document), most=4)} may be rows or columns"
        raise failure(source, observed, expected="a list of objects", remedy=AS_RECORDS)
    return None


def _are_objects(document: Mapping[str, Any]) -> bool:
    """Whether every key leads to an object, and none of the keys is the name of a part of a data set."""
    objects = all(isinstance(value, dict) and value for value in document.values())
    return bool(document) and objects and not all(plain_name(key) in SPLITS for key in document)


def _orient_of(document: Mapping[str, Mapping[str, Any]]) -> str | None:
    """How objects below keys are a table: `index` or `columns`; `unclear` where both may be, None where neither is."""
    objects = list(document.values())
    keys, shared = objects[0].keys(), set(objects[0]).intersection(*objects[1:])
    same, labelled = all(value.keys() == keys for value in objects), _are_labels(document)
    if same and _are_labels(keys) and not labelled:
        return "columns"
    texts = all(_has_text(value, FIELD_NAMES) for value in objects)
    nested = any(_is_record_list(name, part) for value in objects for name, part in value.items())
    alike = texts or 2 * len(shared) >= len(set().union(*objects))
    several = len(objects) > 1 or texts or labelled
    if not (shared and alike and several) or (
        nested and not texts and not (labelled and all(map(_has_scalar, objects)))
    ):
        return None
    if not same or (labelled and not _are_labels(keys)):
        return "index"
    named_columns, named_rows = any(map(_is_field, document)), any(map(_is_field, keys))
    if named_columns != named_rows:
        return "columns" if named_columns else "index"
    return "unclear"


def _with_ids(records: Sequence[Any], labels: Sequence[object]) -> Sequence[Any]:
    """Rows with their labels as column `id`, unless they have one or the labels only count."""
    if _counts(labels) or any(
        plain_name(name) == "id" for name in dict.fromkeys(key for row in records for key in row)
    ):
        return records
    return [{"id": label, **record} for record, label in zip(records, labels, strict=True)]


def _split_rows(document: Mapping[str, Any], source: str) -> Iterator[Row]:
    """Rows of the orient `split`: names of columns, and lists of cells."""
    names, labels, rows = [str(name) for name in document["columns"]], document.get("index"), document["data"]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        observed = f"two columns are called {shown(twice)}"
        raise failure(source, observed, expected="distinct names in columns", remedy="Rename one of them.")
    has_ids = any(plain_name(name) == "id" for name in names)
    labelled = isinstance(labels, list) and len(labels) == len(rows) and not _counts(labels) and not has_ids
    for number, cells in enumerate(rows, start=1):
        if isinstance(cells, list) and len(cells) == len(names):
            label = {"id": labels[number - 1]} if isinstance(labels, list) and labelled else {}
            yield Row(number=number, values={**label, **dict(zip(names, cells, strict=True))})
        else:
            yield Row(number=number, problem=Problem(shown(cells), f"a list of {len(names)} values, as in columns"))


def _likely_list(document: Mapping[str, Any], data: DataSettings) -> tuple[Sequence[Any], tuple[str, ...]]:
    """The only list of objects below the keys of a document, or the only one with questions; and a note of others.

    Raises:
        DataError: there is none, or several may be meant.
    """
    lists = _record_lists(document)
    if _has_text(document, TEXTS):
        # A row may hold lists of its own.
        lists = {path: rows for path, rows in lists.items() if plain_name(path) in CONTAINERS}
    if not lists:
        raise _no_list(document, data)
    asking = [path for path, rows in lists.items() if len(lists) == 1 or _ask(rows)]
    if len(asking) != 1:
        raise _several_lists(lists, data)
    others = [path for path in lists if path != asking[0]]
    note = f"the rows below {shown(asking[0])} are read; the file also has lists below {listed(others)}"
    return lists[asking[0]], (note,) if others else ()


def _ask(rows: Sequence[Any]) -> bool:
    """Whether the first of some rows holds what is called a question or a text."""
    return isinstance(rows[0], dict) and _has_text(rows[0], TEXTS)


def _record_lists(document: Mapping[str, Any], *, levels: int = LEVELS) -> dict[str, list[Any]]:
    """Lists of objects below the keys of a document, by their paths."""
    lists: dict[str, list[Any]] = {}
    for name, value in document.items():
        if _is_record_list(name, value):
            lists[name] = value
        elif isinstance(value, dict) and levels > 1:
            lists |= {f"{name}.{path}": rows for path, rows in _record_lists(value, levels=levels - 1).items()}
    return lists


def _is_record_list(name: str, value: Any) -> bool:
    """Whether a list may hold rows: it holds objects, which are neither options nor messages of one row."""
    if not isinstance(value, list) or plain_name(name) in PARTS:
        return False
    return any(isinstance(member, dict) for member in value) and not is_conversation(value)


def _has_text(value: Mapping[str, Any], names: Collection[str]) -> bool:
    return any(isinstance(cell, str) and plain_name(name) in names for name, cell in value.items())


def _has_scalar(value: Mapping[str, Any]) -> bool:
    return any(not isinstance(cell, list | dict) for cell in value.values())


def _is_field(name: str) -> bool:
    return plain_name(name) in FIELD_NAMES


def _are_labels(keys: Collection[str]) -> bool:
    """Whether keys name rows: each ends with a number, as 17, row-17 and q17 do."""
    return all(key[-1:].isdigit() for key in keys)


def _counts(labels: Sequence[object]) -> bool:
    """Whether labels are 0, 1, 2 and so on, or begin with 1."""
    return any([str(label) for label in labels] == [*map(str, range(n, n + len(labels)))] for n in (0, 1))


def _below(document: Any, path: str, source: str) -> Any:
    """The value to which a path of keys leads.

    Raises:
        DataError: a key is not there.
    """
    value, rest, passed = document, path, ""
    while rest:
        parts = rest.split(".")
        heads = (rest, *(".".join(parts[:count]) for count in range(1, len(parts))))
        key = next((head for head in heads if isinstance(value, dict) and head in value), None)
        if key is None:
            raise _no_key(value, path=path, passed=passed, key=parts[0], source=source)
        value, passed, rest = value[key], f"{passed}.{key}".strip("."), rest[len(key) + 1 :]
    return value


def _no_key(value: Any, *, path: str, passed: str, key: str, source: str) -> DataError:
    place = f" below {shown(passed)}" if passed else ""
    if isinstance(value, dict):
        expected = f"one of the keys {listed(list(value))}"
        return _wrong_path(path, f"there is no key {shown(key)}{place}", expected, source)
    held = f"a list of {len(value):,}" if isinstance(value, list) else shown(value)
    remedy = f"Set record_path to {shown(passed)}." if passed else "Leave record_path out."
    return _wrong_path(path, f"{held}{place} has no keys", "an object with keys", source, remedy)


def _wrong_path(path: str, observed: str, expected: str, source: str, remedy: str = "") -> DataError:
    remedy = remedy or "Correct record_path, or leave it out: rows are found by themselves."
    return failure(source, f"record_path {shown(path)}: {observed}", expected=expected, remedy=remedy)


def _without_names(rows: Sequence[Any], source: str) -> DataError:
    observed = f"the rows are lists without column names, such as {shown(rows[0])}"
    return failure(source, observed, expected="a list of objects, whose keys name the columns", remedy=AS_RECORDS)


def _no_list(value: Any, data: DataSettings) -> DataError:
    if data.record_path is not None:
        observed = f"there are no rows but {shown(value)}"
        return _wrong_path(data.record_path, observed, "a list of objects", data.source)
    return failure(
        data.source,
        f"the file holds {shown(value)}",
        expected="a list of objects",
        remedy="Put the rows into one list, or name the key that leads to it: --set data.record_path=KEY.",
    )


def _several_lists(lists: Mapping[str, Sequence[Any]], data: DataSettings) -> DataError:
    prefix = "" if data.record_path is None else f"{data.record_path}."
    counts = [f"{shown(prefix + path)} ({len(rows):,} rows)" for path, rows in lists.items()]
    rest = f" and {len(counts) - 12} more" if len(counts) > 12 else ""
    path = escaped(prefix + max(lists, key=lambda path: len(lists[path])))
    option = shlex.quote(f"data.record_path={path}")
    return failure(
        data.source,
        f"several lists may be the rows: {', '.join(counts[:12])}{rest}",
        expected="one list of objects",
        remedy=f"Name one: --set {option}, or record_path: {path} beside the source.",
    )
