"""Receipts applied to a database, which is an index of them.

The database notes how much of each file it holds, in the transaction that adds it: whatever it lacks, after a kill, a
damage or a deletion, is read from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from heapq import merge
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, Update, bindparam, delete, select, text, update

from contrapose.tasks.core.damage import warn
from contrapose.tasks.store.engine import insert_into, keys_subquery, sent
from contrapose.tasks.store.receipts import Receipts, Written, read, to_line
from contrapose.tasks.store.schema import ANSWERS, CLAIMS, METADATA, READINGS, RECEIPTS, RUNS

TOGETHER = 1000
"""Receipts that one statement adds."""
Entry = Mapping[str, Any]
"""A receipt: `at`, a Unix time, `do`, and what that needs."""


def catch_up(engine: Engine, receipts: Receipts) -> None:
    """Add what the receipts hold and the database lacks; say so where a process was killed before it could."""
    files = receipts.files()
    if not files:
        return
    with engine.execution_options(reading=True).connect() as connection:
        known = noted(connection)
    behind = [file for file in files if _size(file) > known.get(file.name, 0)]
    if not behind:
        return
    closed = [file for file in behind if not receipts.is_being_written(file)]
    with engine.begin() as connection:
        # Of two processes that come to a server at once, the second waits here, and finds what the first has added.
        unknown = insert_into(connection.dialect.name, RECEIPTS).on_conflict_do_nothing(index_elements=["file"])
        connection.execute(unknown, [{"file": file.name, "bytes": 0} for file in behind])
        connection.execute(select(RECEIPTS.c.file).with_for_update())
        known = noted(connection)
        counts = add(connection, {file: known.get(file.name, 0) for file in behind}, ended=closed)
    receipts.tidy()
    if counts["answers"] and closed:
        warn(f"{counts['answers']:,} answers of a run that was cut short were added to the response store")
    if counts["damaged"]:
        warn(f"{counts['damaged']} receipts are damaged; what they held is asked again when it is needed")
    if engine.dialect.name == "postgresql":
        for file in closed:
            file.unlink(missing_ok=True)


def _size(file: Path) -> int:
    """Bytes of a file; 0 of one that another process has just replaced by a newer one."""
    with suppress(FileNotFoundError):
        return file.stat().st_size
    return 0


def noted(connection: Connection) -> dict[str, int]:
    """How many bytes of each file of receipts a database holds."""
    return {row.file: row.bytes for row in connection.execute(select(RECEIPTS))}


_GO_ON = text("UPDATE receipts SET bytes = :end WHERE file = :file AND bytes = :start")
NOTE = text("INSERT INTO receipts VALUES (:file, :end) ON CONFLICT (file) DO UPDATE SET bytes = excluded.bytes")


def applied(connection: Connection, receipts: Receipts, written: Written) -> bool:
    """Note that the database holds some receipts, once it has all before them; whether it lacked them until now."""
    if connection.execute(_GO_ON, written._asdict()).rowcount:
        return True
    noted = connection.execute(select(RECEIPTS.c.bytes).where(RECEIPTS.c.file == written.file)).scalar() or 0
    if noted >= written.end:
        return False
    if noted < written.start and (receipts.folder / written.file).exists():
        add(connection, {receipts.folder / written.file: noted}, end=written.start)
    connection.execute(NOTE, {"file": written.file, "end": written.end})
    return True


def add(
    connection: Connection, files: Mapping[Path, int], *, end: int | None = None, ended: Sequence[Path] = ()
) -> Counter[str]:
    """Add the receipts of some files from their offsets on, the oldest first; how many answers, and damaged lines."""
    counts: Counter[str] = Counter()
    ends = {file.name: start for file, start in files.items()}
    entries = merge(*(_entries(file, start, end, counts, ends) for file, start in files.items()), key=_moment)
    for _, alike in groupby(entries, key=lambda entry: (entry["do"], entry.get("table"), tuple(entry.get("row", ())))):
        while same := list(islice(alike, TOGETHER)):
            _apply(connection, same, counts)
    connection.execute(delete(CLAIMS).where(CLAIMS.c.key.in_(select(ANSWERS.c.key))))
    for file in files:
        if file in ended and ends[file.name] < (size := _size(file)):
            counts["damaged"] += 1
            ends[file.name] = size
        connection.execute(NOTE, {"file": file.name, "end": ends[file.name]})
    return counts


def _moment(entry: Entry) -> float:
    return float(entry["at"])


def _entries(file: Path, start: int, end: int | None, counts: Counter[str], ends: dict[str, int]) -> Iterator[Entry]:
    moment = 0.0
    for receipt in read(file, start, end):
        ends[file.name] = receipt.end
        if receipt.content is None:
            counts["damaged"] += 1
        else:
            # In the order of the file, whatever the clock did.
            moment = max(moment, _moment(receipt.content))
            yield {**receipt.content, "at": moment}


def _apply(connection: Connection, entries: Sequence[Entry], counts: Counter[str]) -> None:
    """Apply entries that do the same to the same table, with the same columns."""
    do, dialect = entries[0]["do"], connection.dialect.name
    table = METADATA.tables.get(entries[0].get("table", ""))
    if do in ("keep", "put") and table is not None:
        counts[table.name] += len(entries)
        rows = [answer_row(entry["row"]) if table is ANSWERS else dict(entry["row"]) for entry in entries]
        connection.execute(upsert(dialect, table, entries[0]["row"], newer=do == "put"), rows)
    elif do == "claim":
        claims = (
            {"owner": entry["owner"], "until": entry["until"], "key": key} for entry in entries for key in entry["keys"]
        )
        connection.execute(insert_into(dialect, CLAIMS).on_conflict_do_nothing(index_elements=["key"]), list(claims))
    elif do in ("change", "drop") and table is not None:
        for entry in entries:
            statement = delete(table) if do == "drop" else update(table).values(**entry["values"])
            statement = statement.where(table.c[entry["by"]].in_(keys_subquery(dialect)))
            connection.execute(statement, sent(connection, entry["of"]))
    elif do == "forget":
        for entry in entries:
            chosen = ANSWERS.c.key.in_(keys_subquery(dialect)), ANSWERS.c.run != entry["run"]
            connection.execute(delete(ANSWERS).where(*chosen), sent(connection, entry["of"]))
    elif do == "spend":
        for entry in entries:
            spend(connection, entry["run"], entry["taken"], reads=entry["reads"], now=entry["at"])


def upsert(dialect: str, table: Table, columns: Iterable[str], *, newer: bool) -> Any:
    """The statement that inserts rows with some columns; of two with one key the one that is there stays, or goes."""
    statement = insert_into(dialect, table)
    keys = [column.name for column in table.primary_key]
    if not newer:
        return statement.on_conflict_do_nothing(index_elements=keys)
    new = {name: statement.excluded[name] for name in columns if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=new)


def answer_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """An answer as the database has it, in which the question and the reply are text; in a receipt they are JSON."""
    return {**row, "question": to_line(row["question"]), "answer": to_line(row["answer"])}


def spend(connection: Connection, run: str, taken: Mapping[str, int], *, reads: bool, now: float) -> None:
    """Count what came of a batch to its run, and to what the run's reader has spent where that asked."""
    connection.execute(
        _spending(), {"its": run, "now": now, **{f"more_{name}": count for name, count in taken.items()}}
    )
    if reads:
        first = insert_into(connection.dialect.name, READINGS).values(run=run, seen=now, **taken)
        added = {name: READINGS.c[name] + count for name, count in taken.items()}
        connection.execute(first.on_conflict_do_update(index_elements=["run"], set_={**added, "seen": now}))


COUNTED = ("answers", "requests", "failures", "prompt_tokens", "completion_tokens")
"""Columns of a run, and of what its reader spent, that count what came of batches."""


@cache
def _spending() -> Update:
    """The statement that counts what came of a batch to its run."""
    more = {name: RUNS.c[name] + bindparam(f"more_{name}") for name in COUNTED}
    return update(RUNS).where(RUNS.c.id == bindparam("its")).values(**more, seen=bindparam("now"))


def answer_line(row: Mapping[str, Any], *, again: bool) -> str:
    """The receipt of an answer; what is JSON already is not written again."""
    return (
        f'{{"at": {row["stored"]!r}, "do": "{"put" if again else "keep"}", "table": "answers", '
        f'"row": {{"key": "{row["key"]}", "model": {_quoted(row["model"])}, "question": {row["question"]}, '
        f'"answer": {row["answer"]}, "prompt_tokens": {row["prompt_tokens"]}, '
        f'"completion_tokens": {row["completion_tokens"]}, "requests": {row["requests"]}, '
        f'"seconds": {row["seconds"]!r}, "run": {_quoted(row["run"])}, "stored": {row["stored"]!r}}}}}'
    )


@lru_cache(maxsize=64)
def _quoted(text: str) -> str:
    return to_line(text)
