"""Everything that can be wrong before a model is asked, checked without an orchestrator."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from contrapose.flows.cli.arguments import Verb, add_config, config_of
from contrapose.flows.cli.start import unwritable
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.run_context import enter
from contrapose.flows.validation_gate import hold, refuse_bad
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ContraposeError, DataError, Problems, require
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.records import Case, Sample
from contrapose.tasks.core.registry import PROBES, find, probe
from contrapose.tasks.core.validation import Checked, Suite
from contrapose.tasks.load.samples import Drawing
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.probes.base import uses_answers
from contrapose.tasks.report.rows import is_file, left_out_rows, taken
from contrapose.tasks.tables.columnar import batched, to_arrow
from contrapose.tasks.tables.table import STORAGE, home, storage
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.masking import shower
from contrapose.tasks.text.wording import columns_read, counted, foreign, skipped
from contrapose.tasks.validate.kinds import drawn, handed
from contrapose.tasks.validate.wellformed import own_suites

FIRST_ROWS = 2_000
"""Rows of a source that are checked before a run begins; its rooms check the rest."""

PART = 20_000
"""Cases that exist at a time."""

OTHERWISE = "Choose other data, or other settings of the test."
REMEDIES = {
    "no_options": "Name where the options are: data.columns.options=A,B,C,D where each has a column, or a column of "
    "lists.",
    "not_english": "Choose data in English, or one of the tests for any language: {}.",
    "no_finite_verb": "Choose texts that are sentences or questions, or name their column: data.columns.text=COLUMN.",
    "existing_negation": "Choose texts without a negation, or set existing_negation: remove, which takes it out.",
}
"""What to do where no sample can be changed, by the most common reason."""


def check(config: RunConfig, *, gates: bool = False) -> list[str]:
    """Find the model, load the samples and make the cases.

    Args:
        config: the run.
        gates: check every row, with the Great Expectations gate on samples and cases; otherwise a run is about to
            begin: the first rows are enough, unless something is wrong with them, and its folders must be writable.

    Returns:
        One line per test, for people.

    Raises:
        ContraposeError: all that is wrong.
    """
    selected, problems = plans(config), Problems()
    with problems.gathered():
        enter(config)
    if config.mlflow:
        with problems.gathered():
            require("mlflow", extra="mlflow", where="mlflow")
    own, outcomes = list[Suite](), list[_CheckedTest]()
    with problems.gathered():
        own = own_suites(config.expectations, selected)
    for plan in selected:
        with problems.gathered():
            outcomes.append(_check_test(config, plan, own=own if gates else None))
    problems.refuse()
    refuse_bad([table for outcome in outcomes for table in outcome.held], show_toxic=config.show_toxic)
    if not gates:
        _require_writable(Place.at(config.output, setting="output"), "runs", remedy="Choose another one with --out.")
        _require_writable(Place(str(home())), "what is cached", remedy="Name another one in CONTRAPOSE_HOME.")
        _require_writable(storage(), "tables", remedy=f"Name another one in {STORAGE}.")
    return [outcome.text for outcome in outcomes]


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckedTest:
    """What came of one test."""

    text: str
    """For people."""
    held: tuple[Checked, ...] = ()
    """Its tables at the gate before the model."""


def _require_writable(folder: Place, what: str, *, remedy: str) -> None:
    if not folder.is_local:
        folder.try_writing()
    elif why := unwritable(folder.path):
        raise ConfigError(
            f"{what} cannot be written there ({why})",
            expected="a folder that can be written",
            remedy=remedy,
            where=str(folder),
        )


def refused_tests(config: RunConfig) -> dict[str, ContraposeError]:
    """The tests of a run that its data refuse, by their first rows, and why."""
    refused: dict[str, ContraposeError] = {}
    for plan in plans(config):
        try:
            _check_test(config, plan, own=None)
        except ContraposeError as error:
            refused[plan.test] = error
    return refused


def _check_test(config: RunConfig, plan: Plan, *, own: Sequence[Suite] | None) -> _CheckedTest:
    if own is None:
        # What is wrong is told of all rows: how many there are, and which.
        with suppress(DataError):
            return _checked(config, plan, own=None, most=FIRST_ROWS)
    return _checked(config, plan, own=own, most=None)


def _checked(config: RunConfig, plan: Plan, *, own: Sequence[Suite] | None, most: int | None) -> _CheckedTest:
    kind, spec = probe(plan.test).sample_type, config.model_spec()
    drawing = Drawing(
        data=plan.data,
        sample_type=kind,
        limit=plan.limit,
        seed=config.seed,
        most=most,
        uses_answers=uses_answers(probe(plan.test)),
    )
    likelihoods = find("providers", spec.known_provider)().likelihoods(spec)
    counts = _Counts()
    cases = counts.counting(build_cases(drawing.samples(), plan, seed=config.seed, likelihoods=likelihoods))
    held = () if own is None else _held(drawing, cases, plan, own=own)
    for _ in cases:
        pass
    if not counts.asked:
        raise nothing_to_ask(plan, counts.skipped)
    return _CheckedTest(text="\n".join(_row_lines(plan, drawing, counts, show_toxic=config.show_toxic)), held=held)


def nothing_to_ask(plan: Plan, reasons: Counter[str]) -> DataError:
    """The error about a test that can change none of its samples, by the number of those with each skip reason."""
    count, commonest = reasons.total(), next((code for code, _ in reasons.most_common(1)), "")
    tests = [name for name in PROBES if probe(name).sample_type is probe(plan.test).sample_type]
    any_language = ", ".join(name for name in tests if "not_english" not in probe(name).skip_reasons)
    return DataError(
        f"none of {counted('samples', count)} can be changed: {skipped(plan.test, reasons, count)}",
        expected="at least one",
        remedy=REMEDIES.get(commonest, OTHERWISE).format(any_language),
        where=f"{plan.test}, {plan.data.source}",
    )


def _row_lines(plan: Plan, drawing: Drawing, counts: _Counts, *, show_toxic: bool) -> Iterator[str]:
    """The rows and what became of them; then those that were left out, if any."""
    count = min(drawing.rows, plan.limit or drawing.rows)
    rows_taken = taken(count, drawing.rows, limited_by=plan.limited_by, left_out=drawing.left_out)
    part = f"{rows_taken} of " if count < drawing.rows or drawing.left_out else ""
    first = "; ".join(filter(None, (foreign(counts.skipped, count), f"rows {drawing.rows}, {counts.in_words()}")))
    yield f"{plan.test} on {part}{plan.data.source}: {first}"
    if counts.skipped:
        yield f"  {one_line(f'skipped: {skipped(plan.test, counts.skipped)}')}"
    if drawing.columns and is_file(plan.data.source):
        yield f"  columns: {one_line(columns_read(drawing.columns))}"
    yield from (f"  warning: {one_line(warning)}" for warning in drawing.warnings)
    if drawing.left_out:
        bad_rows = left_out_rows(plan.data.source, drawing.rows, drawing.left_out, [plan.test])
        shown = bad_rows.shown(shower(show_toxic=show_toxic))
        yield from (f"  {line}" for line in (shown.title, *shown.lines()))


def _held(drawing: Drawing, cases: Iterable[Case], plan: Plan, *, own: Sequence[Suite]) -> tuple[Checked, ...]:
    """The samples and the cases, as the gate before the model finds them; the samples are read again, not kept."""
    handed_over = handed(plan, (_ids(portion) for portion in batched(drawing.samples(), PART)))
    samples = _tables(drawing.samples(), drawing.sample_type)
    return (
        hold("samples", samples, plan, handed=drawn(plan, drawing.rows), own=own),
        hold("cases", _tables(cases, Case), plan, handed=handed_over, own=own),
    )


def _ids(samples: Iterable[Sample]) -> pa.ChunkedArray:
    return pa.chunked_array([[sample.id for sample in samples]], pa.string())


def _tables(records: Iterable[Any], kind: Any) -> Iterator[pa.Table]:
    return (to_arrow(portion, kind) for portion in batched(records, PART))


@dataclass(slots=True)
class _Counts:
    """What became of the samples, case by case."""

    asked: int = 0
    controls: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def counting(self, cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            if case.control:
                self.controls += 1
            elif case.skip_reason is None:
                self.asked += 1
            else:
                self.skipped[case.skip_reason] += 1
            yield case

    def in_words(self) -> str:
        left = self.skipped.total()
        controls = f", controls {self.controls}" if self.controls else ""
        return f"cases {self.asked + left}, to ask {self.asked}, skipped {left}{controls}"


def _validate(arguments: argparse.Namespace) -> int:
    return print_lines(check(config_of(arguments), gates=True))


VERB = Verb(options=add_config, act=_validate, example="validate --suite suite.yaml")
