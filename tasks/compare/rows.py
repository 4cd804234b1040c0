"""Align the results of several runs by case, and refuse runs that asked different cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from contrapose.tasks.compare.runs import FinishedRun, find_joint_looks, make_unlike_error
from contrapose.tasks.core.errors import ComparisonError
from contrapose.tasks.core.places import Place
from contrapose.tasks.probes.answers.answer_probe import COLUMNS as OF_ANSWERS
from contrapose.tasks.probes.answers.answer_probe import RIGHT_AND_NOTICED
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.tables.results import COMMON, make_schema
from contrapose.tasks.tables.table import Table, list_column_names, read_arrow
from contrapose.tasks.text.wording import counted

NEEDED = ("case_id", "sample_id", "cluster", "scorer", "pass", "undecided", "error", "repeat")
OPTIONAL = ("repeat", "undecided", "answer_known", RIGHT_AND_NOTICED)
COLUMNS = make_schema({name: {**OF_ANSWERS, **COMMON}[name] for name in (*NEEDED, "answer_known", RIGHT_AND_NOTICED)})
UNKNOWN = -1
"""Code of a scorer that is not known, since the run did not ask the case."""


class OtherScorerError(ComparisonError):
    """Runs scored cases of one test in different ways; these cases, or the test, are left out."""


class TooFewSharedError(ComparisonError):
    """A run stopped so early that too few cases of a test were asked in all runs; the test is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedCases:
    """Results of all runs for the cases of one test, aligned by case; repeats count as one case."""

    passed: np.ndarray
    """(runs, cases), float64: 1 passed, 0 not, between them the share of repeats that passed; NaN: not scored."""
    asked: np.ndarray
    """(runs, cases), bool."""
    cluster: np.ndarray
    """(cases,) of codes: cases with the same one are not independent."""
    ids: np.ndarray
    """(cases,) of their ids."""
    left_out: OtherScorerError | None = None
    """Why others are not among them: they were scored in different ways."""
    early: tuple[bool, ...] = ()
    """Of each run whether it stopped by itself before all cases were asked; empty if none did."""
    looks: Looks = ONE_LOOK
    """Of runs that were asked side by side, when all of them might have been stopped."""
    noticed: bool = False
    """Return whether a case counts as passed where its answer was right before and the change was noticed."""

    @property
    def common(self) -> np.ndarray:
        """(cases,), bool: scored for every model."""
        complete: np.ndarray = np.isfinite(self.passed).all(axis=0)
        return complete


def read_cases(runs: Sequence[FinishedRun], test: str) -> AlignedCases:
    """Return the aligned cases of a test, without those that runs scored in different ways.

    Raises OtherScorerError if all were, or ComparisonError where a table cannot be read.
    """
    wanted = (pc.field("test_type") == test) & ~pc.field("control")
    files = [run.folder / "results.parquet" for run in runs]
    tables, noticed = _keep_known_answers(
        [read_columns(file, COLUMNS, optional=OPTIONAL, rows=wanted) for file in files]
    )
    rows, codes = _align(tables, noticed=noticed)
    differing, why = _find_other_scoring(runs, test, codes, [table["scorer"] for table in tables], rows.ids)
    if why and differing.all():
        raise why
    together = find_joint_looks(runs, test)
    early = () if together else tuple(test in run.early for run in runs)
    return AlignedCases(
        passed=rows.passed[:, ~differing],
        asked=rows.asked[:, ~differing],
        cluster=rows.cluster[~differing],
        ids=rows.ids[~differing],
        left_out=why,
        early=early if any(early) else (),
        looks=together or ONE_LOOK,
        noticed=rows.noticed,
    )


def align_tables(tables: Sequence[Sequence[Table]], looks: Looks) -> AlignedCases:
    """Align the cases of one test from the result tables of runs that are still going on together."""
    wanted = [name for name in (*COLUMNS.names, "control") if name in list_column_names(tables[0][0])]
    parts = [[read_arrow(part, columns=wanted) for part in own] for own in tables]
    kept, noticed = _keep_known_answers([pa.concat_tables(own).filter(~pc.field("control")) for own in parts])
    return replace(_align(kept, noticed=noticed)[0], looks=looks)


def _keep_known_answers(tables: Sequence[pa.Table]) -> tuple[list[pa.Table], bool]:
    """Keep only rows with a known right answer if all runs are scored by it; also return whether they are."""
    for table in tables:
        if not {RIGHT_AND_NOTICED, "answer_known"} <= set(table.column_names) or not table.num_rows:
            return list(tables), False
        known = pc.sum(pc.fill_null(table["answer_known"], False)).as_py() or 0
        if not 2 * known >= table.num_rows > table[RIGHT_AND_NOTICED].null_count:
            return list(tables), False
    return [table.filter(table["answer_known"]) for table in tables], True


def _align(tables: Sequence[pa.Table], *, noticed: bool) -> tuple[AlignedCases, list[np.ndarray]]:
    """Return the aligned cases of all runs, and for each run the case number of each row."""
    codes, ids = _encode([_case_ids(table) for table in tables])
    groups, _ = _encode([table["cluster"] for table in tables])
    samples, _ = _encode([table["sample_id"] for table in tables])
    scored = []
    for own, table in zip(codes, tables, strict=True):
        passed = table[RIGHT_AND_NOTICED if noticed else "pass"]
        known = pc.and_(passed.is_valid(), table["error"].is_null())
        if not noticed and "undecided" in table.column_names:  # runs of older versions have no such column
            known = pc.and_not(known, pc.fill_null(table["undecided"], False))
        place = own[known.to_numpy()]
        sums = np.bincount(place, weights=passed.filter(known).to_numpy(), minlength=len(ids))
        with np.errstate(invalid="ignore"):
            scored.append(np.asarray(sums / np.bincount(place, minlength=len(ids))))
    cluster = np.empty(len(ids), dtype=np.int64)
    for own, group, sample in zip(codes, groups, samples, strict=True):
        # A case without a cluster is its sample's; a cluster may be named as a sample of another one is.
        cluster[own] = np.where(group >= 0, group, -1 - sample)
    asked = np.stack([np.bincount(own, minlength=len(ids)) > 0 for own in codes])
    names = np.asarray(ids, dtype=object)
    return AlignedCases(passed=np.stack(scored), asked=asked, cluster=cluster, ids=names, noticed=noticed), codes


def _case_ids(table: pa.Table) -> Any:
    """Return the id of the case that a row repeats, which is its own if it repeats none."""
    if "repeat" not in table.column_names or not pc.max(table["repeat"]).as_py():
        return table["case_id"]
    return pc.if_else(
        pc.greater(pc.fill_null(table["repeat"], 0), 0),
        pc.replace_substring_regex(table["case_id"], pattern=r"#\d+$", replacement=""),
        table["case_id"],
    )


def _encode(columns: Sequence[Any]) -> tuple[list[np.ndarray], Any]:
    """Encode the values of columns as whole numbers, with one shared list of values."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    codes, values = pd.factorize(pd.array(pa.chunked_array(chunks, pa.string()), dtype="string[pyarrow]"))
    return np.split(codes, np.cumsum([len(column) for column in columns])[:-1]), values


def _find_other_scoring(
    runs: Sequence[FinishedRun], test: str, codes: Sequence[np.ndarray], scorers: Sequence[Any], ids: Any
) -> tuple[np.ndarray, OtherScorerError | None]:
    """Mark the cases that two runs scored in different ways; also return an error that says so, None if none are."""
    used, names = _encode(scorers)
    known, by = np.full(len(ids), UNKNOWN), np.zeros(len(ids), dtype=int)
    differing, first = np.zeros(len(ids), dtype=bool), None
    for place, (own, scorer) in enumerate(zip(codes, used, strict=True)):
        clash = (known[own] != UNKNOWN) & (known[own] != scorer)
        differing[own[clash]] = True
        if clash.any() and first is None:
            at = int(np.flatnonzero(clash)[0])
            case = own[at]
            first = ids[case], (runs[by[case]], runs[place]), (str(names[known[case]]), str(names[scorer[at]]))
        by[own] = np.where(known[own] == UNKNOWN, place, by[own])
        known[own] = np.where(known[own] == UNKNOWN, scorer, known[own])
    if first is None:
        return differing, None
    example, pair, values = first
    common = "scorer: embedding"
    if values[0] in READINGS:
        unread = any(run.tests[test].get("settings.read_with") == "reply" for run in pair)
        common = f"read_with: {'reply' if unread else 'ask'}"
    error = make_unlike_error(
        f"scorer of {int(differing.sum())} cases, such as {example!r},",
        *pair,
        values=values,
        test=test,
        remedy=f"Set {common} for {test} in the suite, and evaluate again what was scored otherwise.",
    )
    return differing, OtherScorerError(error.found, expected=error.expected, remedy=error.remedy, where=error.where)


READINGS = ("likelihood", "reply", "label")
"""Scorers of a choice, which `read_with` decides; `scorer` decides the others."""


CASE_COLUMNS = pa.schema([(name, pa.string()) for name in ("id", "sample_id", "skip_reason")])


LEAST_SHARED = 30
"""Cases that all runs were asked, where one stopped early: of fewer, chance alone moves a difference by 13 points."""


def refuse_few_shared(rows: AlignedCases, runs: Sequence[FinishedRun], test: str) -> None:
    """Raise TooFewSharedError if runs stopped so early that a test has too few shared cases."""
    shared = int(rows.asked.all(axis=0).sum())
    if not rows.early or shared >= LEAST_SHARED:
        return
    asked = f"{counted('cases', shared)} {'was' if shared == 1 else 'were'} asked in all runs"
    raise TooFewSharedError(
        f"{asked}, since {', '.join(run.folder.name for run in runs if test in run.early)} stopped early",
        expected=f"at least {LEAST_SHARED}",
        remedy="Evaluate with --stop all, which asks only what is missing.",
        where=test,
    )


def refuse_other_cases(runs: Sequence[FinishedRun], test: str) -> None:
    """Raise ComparisonError if one run asked a case that another did not; the error names the first such case.

    What one of them could not perturb may lack in it, or have other cases in the other: some models are asked in ways
    that others cannot be. Such cases are counted, and no reason to refuse; nor are samples that a run was not asked
    since it stopped early.
    """
    wanted = (pc.field("probe") == test) & ~pc.field("control")
    tables = [read_columns(run.folder / "cases.parquet", CASE_COLUMNS, rows=wanted) for run in runs]
    for place in range(1, len(runs)):
        if tables[0]["id"].equals(tables[place]["id"]):
            continue
        for here, there in ((0, place), (place, 0)):
            one, other = tables[here], tables[there]
            alone = one.filter(pc.invert(pc.is_in(one["id"], other["id"])))
            skipped = other.filter(other["skip_reason"].is_valid())["sample_id"]
            excused = pc.or_(alone["skip_reason"].is_valid(), pc.is_in(alone["sample_id"], skipped))
            known = pc.is_in(alone["sample_id"], other["sample_id"])
            unasked = pc.and_(pc.invert(known), test in runs[there].early)
            lacking = alone.filter(pc.invert(pc.or_(pc.and_(excused, known), unasked)))["id"]
            if len(lacking):
                more = f" (one of {len(lacking)})" if len(lacking) > 1 else ""
                names = runs[here].folder.name, runs[there].folder.name
                raise ComparisonError(
                    f"case {lacking[0].as_py()!r}{more} is in {names[0]} and not in {names[1]}",
                    expected="the same cases in runs that are compared",
                    remedy="Evaluate both models on the same rows, with the same limit and seed.",
                    where=f"{names[1]}, {test}",
                )


def read_columns(file: Place, columns: pa.Schema, *, optional: Sequence[str] = (), rows: Any) -> pa.Table:
    """Read existing columns of the rows that an Arrow expression selects, or raise ComparisonError."""
    with _read_from(file) as path:
        known = pq.read_schema(path).names
        wanted = pa.schema([field for field in columns if field.name in known or field.name not in optional])
        return pq.read_table(path, columns=wanted.names, filters=rows).select(wanted.names).cast(wanted)


def read_full_rows(run: FinishedRun, test: str, ids: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return rows of cases with all columns, by case, the first of a repeated one, or raise ComparisonError."""
    rows = (pc.field("test_type") == test) & ~pc.field("control") & pc.field("case_id").isin(list(ids))
    with _read_from(run.folder / "results.parquet") as path:
        return {row["case_id"]: row for row in reversed(pq.read_table(path, filters=rows).to_pylist())}


@contextmanager
def _read_from(file: Place) -> Iterator[Path]:
    """Yield a local copy of a file; errors in reading it become ComparisonError."""
    try:
        with file.here() as path:
            yield path
    except (OSError, KeyError, pa.ArrowException) as error:
        raise ComparisonError(
            f"table cannot be read ({getattr(error, 'strerror', None) or type(error).__name__})",
            expected="the file as the run wrote it",
            remedy="Evaluate the model again.",
            where=str(file),
        ) from error
