"""Apply receipts to the database, so that it holds every change they record.

The database notes how many bytes of each file it holds, in the transaction that adds them. What it lacks after a kill,
a damage or a deletion is read from there.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import merge
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, delete, select, text, update

from contrapose.tasks.core.damage import warn
from contrapose.tasks.store.engine import build_insert, build_upsert, keys_subquery, pack_keys
from contrapose.tasks.store.receipts import Receipts, WrittenReceipts, read_receipts
from contrapose.tasks.store.schema import ANSWERS, CLAIMS, DURABLE, METADATA, READINGS, RECEIPTS, RUNS

TOGETHER = 1000
"""Receipts that one statement adds."""
Entry = Mapping[str, Any]
"""A receipt: `at`, a Unix time, `do`, and what that needs."""


def make_put_receipt(table: str, row: Mapping[str, Any], *, newer: bool = True) -> dict[str, Any]:
    """Return the receipt of an inserted row; with `newer` it replaces a row of the same key."""
    # SQLAlchemy's names of columns are a kind of str.
    return {"do": "put" if newer else "keep", "table": table, "row": {str(name): row[name] for name in row}}


def make_change_receipt(table: str, by: str, of: Collection[str], **values: object) -> dict[str, Any]:
    """Return the receipt of a change of all rows with one of these values in a column."""
    return {"do": "change", "table": table, "by": by, "of": list(of), "values": values}


def make_answer_receipt(row: Mapping[str, Any], *, newer: bool) -> dict[str, Any]:
    """Return the receipt of an answer; question and reply are JSON in it, but text in the database."""
    fragments = {"question": orjson.Fragment(row["question"]), "answer": orjson.Fragment(row["answer"])}
    return {"at": row["stored"], "do": "put" if newer else "keep", "table": "answers", "row": {**row, **fragments}}


def _make_answer_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the database row of an answer's receipt."""
    return {**row, "question": json.dumps(row["question"]), "answer": json.dumps(row["answer"])}


def apply_missing_receipts(engine: Engine, receipts: Receipts) -> None:
    """Add the receipts that the database lacks; report them if a killed process left them."""
    files = receipts.files()
    if not files:
        return
    with engine.execution_options(reading=True).connect() as connection:
        known = read_noted_bytes(connection)
    behind = [file for file in files if _get_size(file) > known.get(file.name, 0)]
    if not behind:
        return
    closed = [file for file in behind if not receipts.is_being_written(file)]
    with engine.begin() as connection:
        # Of two processes that come to a server at once, the second waits here, and finds what the first has added.
        unknown = build_insert(connection.dialect.name, RECEIPTS).on_conflict_do_nothing(index_elements=["file"])
        connection.execute(unknown, [{"file": file.name, "bytes": 0} for file in behind])
        connection.execute(select(RECEIPTS.c.file).with_for_update())
        known = read_noted_bytes(connection)
        counts = add_receipts(connection, {file: known.get(file.name, 0) for file in behind}, ended=closed)
    receipts.tidy()
    if counts["answers"] and closed:
        warn(f"{counts['answers']:,} answers of a run that was cut short were added to the response store")
    if counts["damaged"]:
        warn(f"{counts['damaged']} receipts are damaged; what they held is asked again when it is needed")
    if engine.dialect.name == "postgresql":
        for file in closed:
            file.unlink(missing_ok=True)


def _get_size(file: Path) -> int:
    """Return the size of a file in bytes, or 0 if another process has just replaced it."""
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def read_noted_bytes(connection: Connection) -> dict[str, int]:
    """Return how many bytes of each receipt file the database holds, by file name."""
    return {row.file: row.bytes for row in connection.execute(select(RECEIPTS))}


_GO_ON = text("UPDATE receipts SET bytes = :end WHERE file = :file AND bytes = :start")
_NOTE = text("INSERT INTO receipts VALUES (:file, :end) ON CONFLICT (file) DO UPDATE SET bytes = excluded.bytes")


def note_receipts(connection: Connection, receipts: Receipts, written: WrittenReceipts) -> bool:
    """Note that the database holds these receipts, after adding all before them; return whether they were missing."""
    if connection.execute(_GO_ON, written._asdict()).rowcount:
        return True
    held = connection.execute(select(RECEIPTS.c.bytes).where(RECEIPTS.c.file == written.file)).scalar() or 0
    if held >= written.end:
        return False
    if held < written.start and (receipts.folder / written.file).exists():
        add_receipts(connection, {receipts.folder / written.file: held}, end=written.start)
    connection.execute(_NOTE, {"file": written.file, "end": written.end})
    return True


def add_receipts(
    connection: Connection, files: Mapping[Path, int], *, end: int | None = None, ended: Sequence[Path] = ()
) -> Counter[str]:
    """Add the receipts of files from the given offsets, oldest first.

    Returns how many rows each table got, and how many lines are `damaged`.
    """
    counts: Counter[str] = Counter()
    ends = {file.name: start for file, start in files.items()}

    def entries(file: Path, start: int) -> Iterator[Entry]:
        moment = 0.0
        for receipt in read_receipts(file, start, end):
            ends[file.name] = receipt.end
            if receipt.content is None:
                counts["damaged"] += 1
            else:
                # In the order of the file, whatever the clock did.
                moment = max(moment, float(receipt.content["at"]))
                yield {**receipt.content, "at": moment}

    merged = merge(*(entries(file, start) for file, start in files.items()), key=lambda entry: entry["at"])
    for _, alike in groupby(merged, key=lambda entry: (entry["do"], entry.get("table"), tuple(entry.get("row", ())))):
        while part := list(islice(alike, TOGETHER)):
            _apply(connection, part, counts)
    connection.execute(delete(CLAIMS).where(CLAIMS.c.key.in_(select(ANSWERS.c.key))))
    for file in files:
        if file in ended and ends[file.name] < (size := _get_size(file)):
            counts["damaged"] += 1
            ends[file.name] = size
        connection.execute(_NOTE, {"file": file.name, "end": ends[file.name]})
    return counts


def _apply(connection: Connection, entries: Sequence[Entry], counts: Counter[str]) -> None:
    """Apply entries that make the same kind of change to the same columns of one table."""
    do, dialect = entries[0]["do"], connection.dialect.name
    table = METADATA.tables.get(entries[0].get("table", ""))
    if do in ("keep", "put") and table is not None:
        counts[table.name] += len(entries)
        rows = [_make_answer_row(entry["row"]) if table is ANSWERS else dict(entry["row"]) for entry in entries]
        connection.execute(build_upsert(dialect, table, rows[0], newer=do == "put"), rows)
    elif do == "claim":
        rows = [{"owner": e["owner"], "until": e["until"], "key": key} for e in entries for key in e["keys"]]
        connection.execute(build_insert(dialect, CLAIMS).on_conflict_do_nothing(index_elements=["key"]), rows)
    elif do == "spend":
        for entry in entries:
            add_spending(connection, entry["run"], entry["taken"], reads=entry["reads"], now=entry["at"])
    elif do in ("change", "drop", "forget"):
        table = ANSWERS if table is None else table
        for entry in entries:
            chosen = table.c[entry.get("by", "key")].in_(keys_subquery(dialect))
            if do == "change":
                statement: Any = update(table).values(**entry["values"]).where(chosen)
            else:
                kept = [table.c.run != entry["run"]] if do == "forget" else []
                statement = delete(table).where(chosen, *kept)
            connection.execute(statement, pack_keys(dialect, entry["of"]))


def rewrite_receipts(engine: Engine, receipts: Receipts) -> int:
    """Rewrite the receipts of all durable rows, and remove older closed files; return the number of answers."""
    receipts.close()
    apply_missing_receipts(engine, receipts)
    old = [file for file in receipts.files() if not receipts.is_being_written(file)]
    fresh = Receipts(receipts.folder)
    answers = 0
    with engine.begin() as connection:
        for table in DURABLE:
            stored = connection.execution_options(yield_per=TOGETHER).execute(select(table))
            names = [str(column.name) for column in table.columns]
            for part in stored.partitions(TOGETHER):
                rows = [dict(zip(names, row, strict=True)) for row in part]
                if table is ANSWERS:
                    answers += len(rows)
                    written = fresh.append([make_answer_receipt(row, newer=True) for row in rows])
                else:
                    written = fresh.append([{"at": time.time(), **make_put_receipt(table.name, row)} for row in rows])
                connection.execute(_NOTE, {"file": written.file, "end": written.end})
        fresh.close()
    # In this order: what is noted of a file that is still there keeps it from being read again.
    for file in old:
        file.unlink(missing_ok=True)
    with engine.begin() as connection:
        connection.execute(delete(RECEIPTS).where(RECEIPTS.c.file.in_([file.name for file in old])))
    return answers


def add_spending(connection: Connection, run: str, taken: Mapping[str, int], *, reads: bool, now: float) -> None:
    """Add the cost of a batch to its run, and to the run's reader model if that asked."""
    more = {name: RUNS.c[name] + count for name, count in taken.items()}
    connection.execute(update(RUNS).where(RUNS.c.id == run).values(**more, seen=now))
    if reads:
        first = build_insert(connection.dialect.name, READINGS).values(run=run, seen=now, **taken)
        added = {name: READINGS.c[name] + count for name, count in taken.items()}
        connection.execute(first.on_conflict_do_update(index_elements=["run"], set_={**added, "seen": now}))
