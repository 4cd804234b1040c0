"""`contrapose validate`: check everything that can be wrong before a model is called, without Prefect."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import pyarrow as pa

from contrapose.flows.cli.arguments import Verb, add_config, load_chosen_config
from contrapose.flows.cli.start import explain_unwritable
from contrapose.flows.cli.terminal import print_lines
from contrapose.flows.run_context import resolve_run
from contrapose.tasks.config.plan import Plan, plans
from contrapose.tasks.config.run_config import RunConfig
from contrapose.tasks.core.errors import ConfigError, ContraposeError, DataError, Problems, require_package
from contrapose.tasks.core.home import home_folder
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.records import Case
from contrapose.tasks.core.registry import PROBES, find, probe
from contrapose.tasks.core.validation import Checked, Kind, Suite, blocking_findings
from contrapose.tasks.load.samples import Drawing
from contrapose.tasks.perturb.cases import build_cases
from contrapose.tasks.report.rows import format_rows, is_user_file, make_left_out
from contrapose.tasks.report.validation import make_gate_error
from contrapose.tasks.tables.columnar import split_batches, to_arrow
from contrapose.tasks.tables.table import STORAGE, open_storage
from contrapose.tasks.text.cleaning import one_line
from contrapose.tasks.text.masking import make_shower
from contrapose.tasks.text.wording import columns_read, counted, describe_skips, foreign_text
from contrapose.tasks.validate.gates import sift
from contrapose.tasks.validate.kinds import Handed, collect_handed, expect_rows
from contrapose.tasks.validate.wellformed import read_own_suites

FIRST_ROWS = 2_000
"""Rows of a source that are checked before a run begins; its stages check the rest."""
PART = 20_000
"""Cases that exist at a time."""
REMEDIES = {
    "no_options": "Name their columns, such as --set data.columns.options=A,B,C,D, or one column of lists.",
    "not_english": "Choose data in English, or a test for any language: {}.",
    "no_finite_verb": "Choose texts that are sentences or questions, or name their column: --set "
    "data.columns.text=COLUMN.",
    "existing_negation": "Choose texts without a negation, or add --set "
    "tests.sensitivity.add_negation.existing_negation=remove.",
}
"""What to do where no sample can be changed, by the most common reason."""

OPTIONS_OR_SCORE = "a relation with a score function, or of options, --set data.columns.options=A,B,C,D"


def validate_run(config: RunConfig, *, gates: bool = False) -> list[str]:
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
        resolve_run(config)
    if config.mlflow:
        with problems.gathered():
            require_package("mlflow", extra="mlflow", where="mlflow")
    own, outcomes, tables = list[Suite](), list[str](), list[Checked]()
    with problems.gathered():
        own = read_own_suites(config.expectations, selected)
    for plan in selected:
        with problems.gathered():
            if gates:
                text, checked = _check_test(config, plan, own=own)
                tables += checked
            else:
                text = _check_first_rows(config, plan)
            outcomes.append(text)
    problems.refuse()
    if any(map(blocking_findings, tables)):
        raise make_gate_error(tables, show_toxic=config.show_toxic)
    if not gates:
        for folder, what, remedy in (
            (Place.at(config.output, setting="output"), "runs", "Choose another one with --out."),
            (Place(str(home_folder())), "what is cached", "Name another one in CONTRAPOSE_HOME."),
            (open_storage(), "tables", f"Name another one in {STORAGE}."),
        ):
            if not folder.is_local:
                folder.try_writing()
            elif why := explain_unwritable(folder.path):
                observed, expected = f"{what} cannot be written there ({why})", "a folder that can be written"
                raise ConfigError(observed, expected=expected, remedy=remedy, where=str(folder))
    return outcomes


def find_refused_tests(config: RunConfig) -> dict[str, ContraposeError]:
    """Return the tests whose first rows of data cannot be used, each with the reason."""
    refused: dict[str, ContraposeError] = {}
    for plan in plans(config):
        try:
            _check_first_rows(config, plan)
        except ContraposeError as error:
            refused[plan.test] = error
    return refused


def _check_first_rows(config: RunConfig, plan: Plan) -> str:
    # An error is about all rows: how many there are, and which.
    with suppress(DataError):
        return _check_test(config, plan, most=FIRST_ROWS)[0]
    return _check_test(config, plan)[0]


def _check_test(
    config: RunConfig, plan: Plan, *, own: Sequence[Suite] | None = None, most: int | None = None
) -> tuple[str, Sequence[Checked]]:
    """Make the cases of a test; return lines for people, and with `own` check its tables before the model is called."""
    kind, spec = probe(plan.test).sample_type, config.model_spec()
    drawing = Drawing(
        data=plan.data,
        sample_type=kind,
        limit=plan.limit,
        seed=config.seed,
        most=most,
        uses_answers=probe(plan.test).uses_answers,
    )
    likelihoods = find("providers", spec.known_provider)().likelihoods(spec)
    counts: Counter[str] = Counter()
    skips: Counter[str] = Counter()

    def count(cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            if case.control:
                counts["controls"] += 1
            elif case.skip_reason is None:
                counts["asked"] += 1
            else:
                skips[case.skip_reason] += 1
            yield case

    cases = count(build_cases(drawing.samples(), plan, seed=config.seed, likelihoods=likelihoods))
    tables: Sequence[Checked] = ()
    if own is not None:
        # The samples are read again, not kept.
        ids = ([sample.id for sample in portion] for portion in split_batches(drawing.samples(), PART))
        handed_over = collect_handed(plan, (pa.chunked_array([portion], pa.string()) for portion in ids))
        samples = (to_arrow(portion, kind) for portion in split_batches(drawing.samples(), PART))
        made = (to_arrow(portion, Case) for portion in split_batches(cases, PART))
        tables = (
            check_table("samples", samples, plan, handed=expect_rows(plan, drawing.rows), own=own),
            check_table("cases", made, plan, handed=handed_over, own=own),
        )
    for _ in cases:
        pass
    if not counts["asked"]:
        raise make_nothing_to_ask_error(plan, skips)
    return "\n".join(_describe(plan, drawing, counts, skips, show_toxic=config.show_toxic)), tables


def check_table(kind: Kind, parts: Iterable[pa.Table], plan: Plan, *, handed: Handed, own: Sequence[Suite]) -> Checked:
    """Check a table before a run by its expectation suites; keep no copy of rows that break them."""
    sifted = sift(kind, parts, plan, handed=handed, own=own)
    return Checked(test=plan.test, table=kind, rows=sifted.rows, findings=sifted.findings, broken=None)


def make_nothing_to_ask_error(plan: Plan, reasons: Counter[str]) -> DataError:
    """Return the error for a test that can change none of its samples, with the number of samples by skip reason."""
    count, commonest = reasons.total(), next((code for code, _ in reasons.most_common(1)), "")
    tests = [name for name in PROBES if probe(name).sample_type is probe(plan.test).sample_type]
    # A test that skips every sample without tools is no help for texts.
    unfit = {"not_english", "no_tools"}
    any_language = " or ".join(f"--test {name}" for name in tests if not unfit & probe(name).skip_reasons.keys())
    return DataError(
        f"none of {counted('samples', count)} can be changed: {describe_skips(plan.test, reasons, count)}",
        expected="at least one",
        remedy=REMEDIES.get(commonest, "Choose other data, or other settings of the test.").format(
            any_language or OPTIONS_OR_SCORE
        ),
        where=f"{plan.test}, {plan.data.source}",
    )


def _describe(
    plan: Plan, drawing: Drawing, counts: Counter[str], skips: Counter[str], *, show_toxic: bool
) -> Iterator[str]:
    """Count rows and cases; then list the rows that were left out, if any."""
    count, left = min(drawing.rows, plan.limit or drawing.rows), skips.total()
    rows_taken = format_rows(count, drawing.rows, limited_by=plan.limited_by, left_out=drawing.left_out)
    part = rows_taken if count < drawing.rows or drawing.left_out else f"all {counted('rows', count)}"
    controls = f", controls {counts['controls']}" if counts["controls"] else ""
    foreign = f"{text}. " if (text := foreign_text(skips, count)) else ""
    cases = f"Cases {counts['asked'] + left}, to ask {counts['asked']}, skipped {left}{controls}"
    yield f"{plan.test} on {part} of {plan.data.source}. {foreign}{cases}."
    if skips:
        yield f"  {one_line(f'skipped: {describe_skips(plan.test, skips)}')}"
    if drawing.columns and is_user_file(plan.data.source):
        yield f"  columns: {one_line(columns_read(drawing.columns))}"
    yield from (f"  warning: {one_line(warning)}" for warning in drawing.warnings)
    if drawing.left_out:
        bad_rows = make_left_out(plan.data.source, drawing.rows, drawing.left_out, [plan.test])
        bad_rows = bad_rows.shown(make_shower(show_toxic=show_toxic))
        yield from (f"  {line}" for line in (bad_rows.title, *bad_rows.lines()))


def _validate(arguments: argparse.Namespace) -> int:
    return print_lines(validate_run(load_chosen_config(arguments), gates=True))


VERB = Verb(options=add_config, act=_validate, example="validate --suite suite.yaml")
