"""Runs inside pytest: their folders, their outcomes, and the message of a failure."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from contrapose.flows.cli.arguments import shorten_folder
from contrapose.flows.python.decorators import OPTION, PROPERTY
from contrapose.flows.python.evaluate import evaluate
from contrapose.flows.python.relation import relation
from contrapose.tasks.core.errors import ContraposeError
from contrapose.tasks.core.outcome import SEVERITY, Outcome
from contrapose.tasks.report.evidence import describe_gate, format_label
from contrapose.tasks.report.failures import find_failures, show_failures
from contrapose.tasks.text.cleaning import cut_text, one_line
from contrapose.tasks.text.masking import Show, make_shower

if TYPE_CHECKING:
    from contrapose.flows.python.decorators import PromptTest
    from contrapose.flows.python.outcomes import EvaluatedRun

MOST_LINES = 15
"""Lines of a message, that of the report included."""
MOST_ERRORS = 3
LONGEST_TEXT = 100
"""Characters of a prompt or reply in a message."""
KEPT_RUNS = 5
"""Runs of each test that stay in pytest's cache."""
FOREIGN = ("prefect", "great_expectations", "importlib")
"""Modules whose warnings of deprecation are not the user's to correct."""


def run_decorated(item: pytest.Function, test: PromptTest) -> None:
    """Run a decorated function as the model of its relation, and raise the outcome unless the verdict is pass."""
    fixtures = {name: item.funcargs[name] for name in test.fixtures}
    arguments = {**test.run, "model": partial(item.obj, **fixtures)}
    if "revision" in arguments:
        # Functions of one name in two files, and parameters, give other answers.
        arguments["revision"] = f"{arguments['revision']} ({item.nodeid})"
    run = run_quietly(item, lambda: {"test": relation(**test.relation), **arguments})
    raise_outcome(item, run, run.summary["tests"])


def run_suite(
    request: pytest.FixtureRequest, suite: str | Path | Mapping[str, Any], arguments: Mapping[str, Any]
) -> EvaluatedRun:
    """Run a suite, report each of its tests as a subtest if pytest can, and raise the outcome unless it is pass."""
    item = request.node
    run = run_quietly(item, lambda: {"suite": resolve_next_to_test(item, suite), **arguments})
    tests = run.summary["tests"]
    try:
        subtests = request.getfixturevalue("subtests")
    except pytest.FixtureLookupError:
        subtests = None
    if subtests is None:
        raise_outcome(item, run, tests)
        return run
    for outcome in tests:
        with subtests.test(msg=outcome["test_type"]):
            raise_outcome(item, run, [outcome])
    if run.verdict != "fail":
        raise_outcome(item, run, tests)
    return run


def run_quietly(item: pytest.Item, arguments: Callable[[], dict[str, Any]]) -> EvaluatedRun:
    """Return a run in the folder of a test; report a user's mistake as an error of the test, without a traceback."""
    folder = choose_run_folder(item)
    try:
        with ignore_library_warnings():
            named = {"out": folder, "quiet": True, **arguments()}
            if "data" in named:
                named["data"] = resolve_next_to_test(item, named["data"])
            run = evaluate(**named)
    except ContraposeError as error:
        raise_error(item, str(error))
    if item.config.getoption(OPTION) is None:
        delete_old_runs(folder)
    return run


def choose_run_folder(item: pytest.Item) -> Path:
    """Return the folder for a test's runs: below the folder that the option names, else in pytest's cache."""
    name = re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")[-120:]
    if (chosen := item.config.getoption(OPTION)) is not None:
        return Path(item.config.invocation_params.dir, chosen, name)
    cache = getattr(item.config, "cache", None)
    return Path(tempfile.mkdtemp(prefix="contrapose-") if cache is None else cache.mkdir("contrapose"), name)


def delete_old_runs(folder: Path) -> None:
    """Delete all but the newest runs of a test from pytest's cache; their names begin with the time."""
    for summary in sorted(folder.glob("*/summary.json"))[:-KEPT_RUNS]:
        shutil.rmtree(summary.parent, ignore_errors=True)


def resolve_next_to_test(item: pytest.Item, value: Any) -> Any:
    """Return the path of a file that is next to the test file; return anything else unchanged."""
    if isinstance(value, str | Path) and str(value) and (beside := item.path.parent / value).is_file():
        return str(beside)
    return value


@contextmanager
def ignore_library_warnings() -> Iterator[None]:
    """Ignore warnings of libraries to their own developers, because pytest may raise them as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        for module in FOREIGN:
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=rf"{module}\b")
        yield


def raise_outcome(item: pytest.Item, run: EvaluatedRun, tests: Sequence[Outcome]) -> None:
    """Raise the pytest outcome of a verdict, without a traceback; return if every test passed."""
    verdict = max((test["verdict"] for test in tests), key=SEVERITY.index)
    item.user_properties.append((PROPERTY, verdict))
    deciding = [test for test in tests if test["verdict"] == verdict]
    if verdict == "pass":
        return
    # --runxfail asks for failures in place of expected ones.
    if verdict == "inconclusive" and not item.config.getoption("runxfail"):
        show = make_shower(show_toxic=run.show_toxic)
        reason = " ".join(f"{test['test_type']}: {show(test['reason'])}" for test in deciding)
        raise pytest.xfail.Exception(reason, pytrace=False)
    pytest.fail(describe_failure(run, deciding), pytrace=False)


def raise_error(item: pytest.Item, message: str) -> NoReturn:
    """End a test as an error."""
    item.user_properties.append((PROPERTY, "error"))
    pytest.fail(message, pytrace=False)


def describe_failure(run: EvaluatedRun, tests: Sequence[Outcome]) -> str:
    """Return verdict, rates with their gates, the clearest failing pairs, and the path of the report."""
    show = make_shower(show_toxic=run.show_toxic)
    lines = [line for test in tests for line in _format_head(test, show)]
    last = f"Report: {shorten_folder(run.location)}/report.html"
    if len(lines) >= MOST_LINES:
        lines = [*lines[: MOST_LINES - 2], f"… and {len(lines) - MOST_LINES + 2} more lines in the report"]
    else:
        # The clearest pair of each test, then the second one of each.
        for pair in chain.from_iterable(zip_longest(*(_format_failures(run, test, show) for test in tests))):
            lines += pair if pair and len(lines) + len(pair) < MOST_LINES else ()
    return "\n".join([*lines, last])


def _format_head(test: Outcome, show: Show) -> Iterator[str]:
    """Yield the verdict of a test, and its rates with their gates."""
    yield f"{test['verdict'].upper()}  {test['test_type']}: {one_line(show(test['reason']))}"
    for gate in test["gates"]:
        yield f"  {format_label(test['test_type'], gate['name'])} {describe_gate(gate)}"


def _format_failures(run: EvaluatedRun, test: Outcome, show: Show) -> Iterator[Sequence[str]]:
    """Yield three lines for each of the clearest failing cases: result, and prompt and reply before and after.

    If there are no failing cases, yield errors of calls instead.
    """
    rows = run.results.reset_index(drop=True)
    failed = show_failures(
        test["test_type"], find_failures(test["test_type"], rows, lambda places: rows.iloc[list(places)]), show
    )
    if not failed and "error" in rows:
        for error in rows.loc[rows["test_type"] == test["test_type"], "error"].dropna().unique()[:MOST_ERRORS]:
            yield [f"  {one_line(cut_text(show(str(error)), 2 * LONGEST_TEXT))}"]
    for failure in failed:
        row = failure.row
        yield (
            f"{test['test_type']} {row.id}: {one_line(failure.sentence)}",
            f"  before  {_shorten(row.original)} → {_shorten(row.before)}",
            f"  after   {_shorten(row.changed)} → {_shorten(row.after)}",
        )


def _shorten(text: str) -> str:
    return f'"{one_line(cut_text(text, LONGEST_TEXT))}"'
