"""Write and repair the files of the history: each run has its own small file, so that none overwrites another."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from contrapose.tasks.core.criteria import list_criteria, list_further_gates
from contrapose.tasks.core.damage import SUFFIX
from contrapose.tasks.core.history_records import Facet, PastRun, PastTest
from contrapose.tasks.core.outcome import SEVERITY, Summary
from contrapose.tasks.core.places import Place

VERSION = 1
"""Raised when a column changes its meaning; a new column needs none, since readers take what they know."""

MARK = b"contrapose.history"
"""Key of the version in a file's metadata: a file without it is none of ours."""


def _field(name: str, kind: pa.DataType, description: str) -> pa.Field:
    return pa.field(name, kind, metadata={"description": description})


STOPPING = pa.struct(
    [
        _field("cases", pa.int64(), "Cases that would have been judged had none been decided early."),
        _field("judged", pa.int64(), "Cases that were."),
        _field("looks", pa.int64(), "How often the evidence was compared with the gate."),
        _field("shares", pa.list_(pa.float64()), "Of all these cases, how many were judged at each look."),
        _field("saved", pa.int64(), "Questions that were not asked, since the test was decided without them."),
        _field("beside", pa.list_(pa.string()), "Runs that were asked side by side; empty where it was asked alone."),
    ]
)
CRITERIA = pa.list_(
    pa.struct(
        [
            _field("name", pa.string(), "Name of the rate, such as contrast_rate."),
            _field("rate", pa.float64(), "The rate, 0 to 1; missing where nothing was scored."),
            _field("low", pa.float64(), "Lower end of its 95 % interval."),
            _field("high", pa.float64(), "Upper end of its 95 % interval."),
            _field("gate", pa.float64(), "Its gate, 0 to 1; missing where other rates decide."),
        ]
    )
)
TESTS = pa.list_(
    pa.struct(
        [
            _field("test_type", pa.string(), "Name of the test."),
            _field("verdict", pa.string(), "pass, fail, inconclusive or incomplete."),
            _field(
                "pass_rate", pa.float64(), "Passed share of the scored cases, 0 to 1; missing where none was scored."
            ),
            _field("low", pa.float64(), "Lower end of its 95 % interval."),
            _field("high", pa.float64(), "Upper end of its 95 % interval."),
            _field("min_pass_rate", pa.float64(), "The gate, 0 to 1."),
            _field("scored", pa.int64(), "Cases that were scored."),
            _field("criteria", CRITERIA, "Rates that decided, the first one first; missing where the pass rate did."),
            _field("stopping", STOPPING, "How far it was asked; missing where it was not to stop early."),
        ]
    )
)
SCHEMA = pa.schema(
    [
        _field("run_id", pa.string(), "Name of the run's folder."),
        _field("suite", pa.string(), "Name of the configuration."),
        _field("model", pa.string(), "Id of the model."),
        _field("started", pa.string(), "ISO 8601, in UTC."),
        _field("verdict", pa.string(), "The worst of the tests' verdicts."),
        _field("tests", TESTS, "One for each test, in order."),
        _field("made_of", pa.string(), "JSON: by model, data, prompt, scorer and library, names and their values."),
    ],
    metadata={MARK: str(VERSION).encode()},
)


def to_table(run: PastRun) -> pa.Table:
    """Return a run as a table of one row."""
    tests = [
        {name: value for name, value in test.items() if name != "interval"}
        | dict(zip(("low", "high"), test["interval"] or (None, None), strict=True))
        for test in run["tests"]
    ]
    made_of = json.dumps(run["made_of"], sort_keys=True)
    return pa.Table.from_pylist([{**run, "tests": tests, "made_of": made_of}], schema=SCHEMA)


def from_row(row: Mapping[str, Any]) -> PastRun:
    """Return the run of a row."""
    tests = []
    for test in row["tests"]:
        ends = test["low"], test["high"]
        kept = {name: test[name] for name in ("test_type", "verdict", "pass_rate", "min_pass_rate", "scored")}
        kept["interval"] = None if None in ends else ends
        tests.append(kept | {name: test[name] for name in ("criteria", "stopping") if test[name] is not None})
    return cast(PastRun, {**row, "tests": tests, "made_of": json.loads(row["made_of"])})


def verified_rows(table: pa.Table) -> pa.Table:
    """Return a file's rows with the present columns, missing ones empty, or raise ValueError if no run wrote it."""
    if MARK not in (table.schema.metadata or {}):
        raise ValueError("not written by a run")
    if not table.schema.equals(SCHEMA):
        known = table.select([name for name in SCHEMA.names if name in table.column_names])
        table = pa.concat_tables([SCHEMA.empty_table(), known], promote_options="permissive").cast(SCHEMA)
    if not all(map(_is_possible, table.to_pylist())):
        raise ValueError("a value is missing, or cannot be")
    return table


def _is_possible(row: Mapping[str, Any]) -> bool:
    """Return whether a row has all values that a run must have, and only valid ones."""
    if any(value is None for value in row.values()):
        return False
    for test in row["tests"]:
        if test is None or None in (test["test_type"], test["scored"]) or test["verdict"] not in SEVERITY:
            return False
        shares = (test[name] for name in ("pass_rate", "low", "high", "min_pass_rate"))
        if not all(share is None or 0 <= share <= 1 for share in shares):
            return False
        for criterion in test["criteria"] or ():
            shares = (criterion[name] for name in ("rate", "low", "high", "gate"))
            if criterion["name"] is None or not all(share is None or 0 <= share <= 1 for share in shares):
                return False
        if stop := test["stopping"]:
            if None in stop.values() or not 0 <= stop["judged"] <= stop["cases"]:
                return False
            if stop["looks"] <= 0 or stop["saved"] < 0:
                return False
    facets = json.loads(row["made_of"])
    return (
        row["verdict"] in SEVERITY
        and isinstance(facets, dict)
        and all(isinstance(facts, dict) for facts in facets.values())
        and all(isinstance(value, str) for facts in facets.values() for value in facts.values())
    )


VARIABLE = "CONTRAPOSE_HISTORY"
FOLDER = ".history"
"""Beside the folders of the runs, and hidden: whatever else lies there is a run."""


def find_place(chosen: str | None, output: str) -> str:
    """Return the folder or URL of the history: the setting, the environment variable, or a folder in `output`.

    Raises ConfigError if it holds a password, which every message about it would repeat.
    """
    folder = chosen or os.environ.get(VARIABLE) or os.path.join(output, FOLDER)
    return str(Place.at(folder, setting="history" if chosen else VARIABLE))


def make_file_name(key: str) -> str:
    """Return the file name of a run from its key; different keys give different names."""
    readable = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "-" for sign in key)
    return f"{readable.lstrip('.')[:120]}-{hashlib.sha256(key.encode(errors='replace')).hexdigest()[:12]}.parquet"


def append_run(where: str, run: PastRun, *, key: str) -> None:
    """Write a run into the history at a folder or URL, replacing its earlier record with the same key."""
    write_run(where, make_file_name(key), run)


def write_run(where: str, name: str, run: PastRun) -> None:
    """Write a file of the history that holds a run; readers see all of it or nothing."""
    sink = pa.BufferOutputStream()
    table = to_table(run)
    # Of a single row, dictionaries and statistics would be most of the file, and take longest to read.
    options: dict[str, Any] = {"compression": "snappy", "use_dictionary": False, "write_statistics": False}
    with pq.ParquetWriter(sink, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({KEY: BLANK})
    content = bytes(sink.getvalue())
    (Place(where) / name).write(content.replace(BLANK, _seal(content), 1))


KEY = b"contrapose.sha256"
"""Of the file's metadata."""
BLANK = b"sha256:" + b"0" * 64
"""What stands in place of the hash while it is computed."""
SEAL = re.compile(rb"sha256:[0-9a-f]{64}")


def is_broken(content: bytes) -> bool:
    """Return whether a file no longer matches its checksum; a file without one counts as intact."""
    seals = SEAL.findall(content[content.rfind(KEY) :]) if KEY in content else []
    return len(seals) == 1 and _seal(content.replace(seals[0], BLANK)) != seals[0]


def _seal(content: bytes) -> bytes:
    return b"sha256:" + hashlib.sha256(content).hexdigest().encode()


OURS = re.compile(r".+-[0-9a-f]{12}\.parquet")
"""Names of the files that runs leave; others are their owners'."""


def make_past_run(summary: Summary, made_of: dict[Facet, dict[str, str]]) -> PastRun:
    """Return the history's record of a run."""
    names = ("test_type", "verdict", "pass_rate", "min_pass_rate", "scored", "stopping")
    tests = [
        cast(
            PastTest,
            {name: outcome[name] for name in names if name in outcome}  # type: ignore[literal-required]
            | {"interval": outcome["interval"] and tuple(outcome["interval"])}
            | ({"criteria": list_criteria(outcome)} if list_further_gates(outcome) else {}),
        )
        for outcome in summary["tests"]
    ]
    return PastRun(
        run_id=summary["run_id"],
        suite=summary["suite"],
        model=summary["model"]["id"],
        started=summary["started"],
        verdict=summary["verdict"],
        tests=tests,
        made_of=made_of,
    )


def make_record(name: str, run: PastRun) -> dict[str, Any]:
    """Return the record for a run's manifest, from which its history file can be restored."""
    return {"file": name, "made_of": run["made_of"]}


def repair(where: str, skipped: Iterable[str], *, output: Place) -> tuple[list[str], str]:
    """Move damaged files aside, and restore those whose run folder is in the output folder.

    Returns the restored or moved files, and a message about them.
    """
    damaged = [name for name in skipped if OURS.fullmatch(name)]
    if not damaged:
        return [], ""
    runs = dict[str, PastRun]()
    for folder in (output / name for name in output.names() if not name.startswith(".")):
        try:
            kept: Mapping[str, Any] = (folder / "manifest.json").json()["history"]
            runs[kept["file"]] = make_past_run((folder / "summary.json").json(), kept["made_of"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    for name in damaged:
        # Readers pass over its new name, and the warning is of all at once.
        (Place(where) / name).rename(name + SUFFIX)
        if name in runs:
            write_run(where, name, runs[name])
    lost = sum(name not in runs for name in damaged)
    files = "a damaged file was" if len(damaged) == 1 else f"{len(damaged)} damaged files were"
    again = f", and {len(damaged) - lost} made again from the folders of their runs" if lost < len(damaged) else ""
    gone = f"; the folders of {lost} runs no longer exist, or come from an older version" if lost else ""
    return damaged, f"history: {files} set aside{again}{gone}"
