"""What every run made of the same cases, side by side; runs with other cases are refused."""

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

from contrapose.tasks.compare.runs import FinishedRun, asked_side_by_side, unlike
from contrapose.tasks.core.errors import ComparisonError
from contrapose.tasks.core.places import Place
from contrapose.tasks.probes.answers.figures import COLUMNS as OF_ANSWERS
from contrapose.tasks.probes.answers.figures import RIGHT_AND_NOTICED
from contrapose.tasks.statistics.looks import ONE_LOOK, Looks
from contrapose.tasks.tables.results import COMMON, schema_of_columns
from contrapose.tasks.tables.table import Table, column_names, read_arrow
from contrapose.tasks.text.wording import counted

NEEDED = ("case_id", "sample_id", "cluster", "scorer", "pass", "undecided", "error", "repeat")
OPTIONAL = ("repeat", "undecided", "answer_known", RIGHT_AND_NOTICED)
COLUMNS = schema_of_columns(
    {name: {**OF_ANSWERS, **COMMON}[name] for name in (*NEEDED, "answer_known", RIGHT_AND_NOTICED)}
)
UNKNOWN = -1
"""Code of a scorer that is not known, since the run did not ask the case."""


class OtherScorerError(ComparisonError):
    """Cases of one test were scored in different ways: that test is left out, or those cases are."""


class TooFewSharedError(ComparisonError):
    """A run stopped so early that a test has too few cases which all were asked: that test is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The cases of one test that at least one run asked; repeats of a case are one."""

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
    """Of each run whether it stopped by itself before all cases were asked; empty where none did."""
    looks: Looks = ONE_LOOK
    """Of runs that were asked side by side, when all of them might have been stopped."""
    noticed: bool = False
    """Whether a case counts as passed where its answer was right before and the change was noticed."""

    @property
    def common(self) -> np.ndarray:
        """(cases,), bool: those that were scored for every model."""
        complete: np.ndarray = np.isfinite(self.passed).all(axis=0)
        return complete


def rows_of(runs: Sequence[FinishedRun], test: str) -> Rows:
    """The cases of a test in all runs, but for those that were scored in different ways.

    Raises:
        OtherScorerError: all of them were.
        ComparisonError: a table cannot be read.
    """
    tables, noticed = _of_known_answers([_read(run, test) for run in runs])
    rows, codes = _aligned(tables, noticed=noticed)
    differing, why = _scored_otherwise(runs, test, codes, [table["scorer"] for table in tables], rows.ids)
    if why and differing.all():
        raise why
    together = asked_side_by_side(runs, test)
    early = () if together else tuple(test in run.early for run in runs)
    return Rows(
        passed=rows.passed[:, ~differing],
        asked=rows.asked[:, ~differing],
        cluster=rows.cluster[~differing],
        ids=rows.ids[~differing],
        left_out=why,
        early=early if any(early) else (),
        looks=together or ONE_LOOK,
        noticed=rows.noticed,
    )


def rows_in(tables: Sequence[Sequence[Table]], looks: Looks) -> Rows:
    """The cases of one test, of which each run has some results in tables, as far as they are asked side by side."""
    wanted = [name for name in (*COLUMNS.names, "control") if name in column_names(tables[0][0])]
    parts = [[read_arrow(part, columns=wanted) for part in own] for own in tables]
    kept, noticed = _of_known_answers([pa.concat_tables(own).filter(~pc.field("control")) for own in parts])
    return replace(_aligned(kept, noticed=noticed)[0], looks=looks)


def _of_known_answers(tables: Sequence[pa.Table]) -> tuple[list[pa.Table], bool]:
    """Of all runs the rows whose right answer is known, and whether they are judged by it; else all rows."""
    noticed = all(map(_answers_are_known, tables))
    return [table.filter(table["answer_known"]) if noticed else table for table in tables], noticed


def _aligned(tables: Sequence[pa.Table], *, noticed: bool) -> tuple[Rows, list[np.ndarray]]:
    """The cases that runs have results of, and for each run which of them its rows are about."""
    codes, ids = _coded([_case(table) for table in tables])
    groups, _ = _coded([table["cluster"] for table in tables])
    samples, _ = _coded([table["sample_id"] for table in tables])
    judged = [_noticed(table) if noticed else (table["pass"], _known(table)) for table in tables]
    scored = [
        _mean(own, passed, known=known, cases=len(ids)) for own, (passed, known) in zip(codes, judged, strict=True)
    ]
    cluster = np.empty(len(ids), dtype=np.int64)
    for own, group, sample in zip(codes, groups, samples, strict=True):
        # A case without a cluster is its sample's; a cluster may be named as a sample of another one is.
        cluster[own] = np.where(group >= 0, group, -1 - sample)
    asked = np.stack([np.bincount(own, minlength=len(ids)) > 0 for own in codes])
    names = np.asarray(ids, dtype=object)
    return Rows(passed=np.stack(scored), asked=asked, cluster=cluster, ids=names, noticed=noticed), codes


def _answers_are_known(table: pa.Table) -> bool:
    """Whether most cases have a right answer, and the test tells whether it was given up when it should."""
    if not {RIGHT_AND_NOTICED, "answer_known"} <= set(table.column_names) or not table.num_rows:
        return False
    known = pc.sum(pc.fill_null(table["answer_known"], False)).as_py() or 0
    return bool(2 * known >= table.num_rows > table[RIGHT_AND_NOTICED].null_count)


def _noticed(table: pa.Table) -> tuple[Any, Any]:
    """Whether each answer was right before and then noticed, and of which rows that is known.

    Sets of samples that were right before differ between models; over all samples a model that collapsed shows it.
    """
    column = table[RIGHT_AND_NOTICED]
    return column, pc.and_(column.is_valid(), table["error"].is_null())


def _known(table: pa.Table) -> Any:
    """Which rows say whether their case passed; runs of older versions leave nothing open."""
    known = pc.and_(table["pass"].is_valid(), table["error"].is_null())
    return pc.and_not(known, pc.fill_null(table["undecided"], False)) if "undecided" in table.column_names else known


def _read(run: FinishedRun, test: str) -> pa.Table:
    rows = (pc.field("test_type") == test) & ~pc.field("control")
    return read_columns(run.folder / "results.parquet", COLUMNS, optional=OPTIONAL, rows=rows)


def _case(table: pa.Table) -> Any:
    """Id of the case that a row repeats, which is its own where it repeats none."""
    if "repeat" not in table.column_names or not pc.max(table["repeat"]).as_py():
        return table["case_id"]
    return pc.if_else(
        pc.greater(pc.fill_null(table["repeat"], 0), 0),
        pc.replace_substring_regex(table["case_id"], pattern=r"#\d+$", replacement=""),
        table["case_id"],
    )


def _coded(columns: Sequence[Any]) -> tuple[list[np.ndarray], Any]:
    """Each column as whole numbers that stand for its values, the same ones in all columns, and these values."""
    chunks = [chunk for column in columns for chunk in column.chunks]
    codes, values = pd.factorize(pd.array(pa.chunked_array(chunks, pa.string()), dtype="string[pyarrow]"))
    return np.split(codes, np.cumsum([len(column) for column in columns])[:-1]), values


def _mean(codes: np.ndarray, passed: Any, *, known: Any, cases: int) -> np.ndarray:
    """Share of the scored rows of each case that passed; NaN where none was scored."""
    own = codes[known.to_numpy()]
    sums = np.bincount(own, weights=passed.filter(known).to_numpy(), minlength=cases)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / np.bincount(own, minlength=cases))


def _scored_otherwise(
    runs: Sequence[FinishedRun], test: str, codes: Sequence[np.ndarray], scorers: Sequence[Any], ids: Any
) -> tuple[np.ndarray, OtherScorerError | None]:
    """Which cases two runs scored in different ways, and an error that says so; None where there are none."""
    used, names = _coded(scorers)
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
    return differing, first and _other_scorer(test, int(differing.sum()), *first)


def _other_scorer(
    test: str, count: int, case: str, pair: tuple[FinishedRun, FinishedRun], values: tuple[str, str]
) -> OtherScorerError:
    error = unlike(
        f"scorer of {count} cases, such as {case!r},",
        *pair,
        values=values,
        test=test,
        remedy=f"Both compare under `{_common_setting(pair, test, values)}` of {test}: set it in the suite, and "
        "evaluate again what was scored otherwise.",
    )
    return OtherScorerError(error.found, expected=error.expected, remedy=error.remedy, where=error.where)


READINGS = ("likelihood", "reply", "label")
"""Scorers of a choice, which `read_with` decides; `scorer` decides the others."""


def _common_setting(pair: Sequence[FinishedRun], test: str, scorers: tuple[str, str]) -> str:
    """The setting under which a model that gives likelihoods is scored as one that gives none."""
    if scorers[0] not in READINGS:
        return "scorer: embedding"
    unread = any(run.tests[test].get("settings.read_with") == "reply" for run in pair)
    return f"read_with: {'reply' if unread else 'ask'}"


CASE_COLUMNS = pa.schema([(name, pa.string()) for name in ("id", "sample_id", "skip_reason")])


LEAST_SHARED = 30
"""Cases that all runs were asked, where one stopped early: of fewer, chance alone moves a difference by 13 points."""


def refuse_few_shared(rows: Rows, runs: Sequence[FinishedRun], test: str) -> None:
    """Refuse a test that hardly has cases which all were asked, since runs stopped early.

    Raises:
        TooFewSharedError: with the number of cases, and the runs that stopped.
    """
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
    """Refuse runs of which one has a case that the other has not.

    What one of them could not perturb may lack in it, or have other cases in the other: some models are asked in ways
    that others cannot be. Such cases are counted, and no reason to refuse; nor are samples that a run was not asked
    since it stopped early.

    Raises:
        ComparisonError: with the first case that is missing.
    """
    first = _cases(runs[0], test)
    for run in runs[1:]:
        other = _cases(run, test)
        if first["id"].equals(other["id"]):
            continue
        for one, two, missing in ((first, other, (runs[0], run)), (other, first, (run, runs[0]))):
            lacking = _lacking(one, two, early=test in missing[1].early)
            if len(lacking):
                raise _missing(lacking[0].as_py(), *missing, test=test, count=len(lacking))


def _cases(run: FinishedRun, test: str) -> pa.Table:
    """Id, sample and reason to skip it, of every case of a test that is no control."""
    rows = (pc.field("probe") == test) & ~pc.field("control")
    return read_columns(run.folder / "cases.parquet", CASE_COLUMNS, rows=rows)


def _lacking(one: pa.Table, other: pa.Table, *, early: bool) -> Any:
    """Ids of the first that the second should have, too; the second may have stopped early."""
    alone = one.filter(pc.invert(pc.is_in(one["id"], other["id"])))
    skipped = other.filter(other["skip_reason"].is_valid())["sample_id"]
    excused = pc.or_(alone["skip_reason"].is_valid(), pc.is_in(alone["sample_id"], skipped))
    known = pc.is_in(alone["sample_id"], other["sample_id"])
    unasked = pc.and_(pc.invert(known), early)
    return alone.filter(pc.invert(pc.or_(pc.and_(excused, known), unasked)))["id"]


def _missing(case: str, one: FinishedRun, other: FinishedRun, *, test: str, count: int) -> ComparisonError:
    named = f"case {case!r}" + (f" (one of {count})" if count > 1 else "")
    return ComparisonError(
        f"{named} is in {one.folder.name} and not in {other.folder.name}",
        expected="the same cases in runs that are compared",
        remedy="Evaluate both models on the same rows, with the same limit and seed.",
        where=f"{other.folder.name}, {test}",
    )


def read_columns(file: Place, columns: pa.Schema, *, optional: Sequence[str] = (), rows: Any) -> pa.Table:
    """Columns of those rows of a table for which an Arrow expression holds; optional ones may be missing.

    Raises:
        ComparisonError: it is gone, or is no such table.
    """
    with _read_from(file) as path:
        known = pq.read_schema(path).names
        wanted = pa.schema([field for field in columns if field.name in known or field.name not in optional])
        return pq.read_table(path, columns=wanted.names, filters=rows).select(wanted.names).cast(wanted)


def whole_rows(run: FinishedRun, test: str, ids: Sequence[str]) -> dict[str, dict[str, object]]:
    """The rows of some cases of a test with all their columns, by case; of a case that was repeated the first.

    Raises:
        ComparisonError: the table is gone, or is no such table.
    """
    rows = (pc.field("test_type") == test) & ~pc.field("control") & pc.field("case_id").isin(list(ids))
    with _read_from(run.folder / "results.parquet") as path:
        return {row["case_id"]: row for row in reversed(pq.read_table(path, filters=rows).to_pylist())}


@contextmanager
def _read_from(file: Place) -> Iterator[Path]:
    """The file on this machine; what is wrong with it is told as an error of the comparison."""
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
