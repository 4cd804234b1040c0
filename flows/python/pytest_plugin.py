"""pytest plugin: collects functions decorated with `contrapose.stays` and similar decorators, and runs suites.

Every run of pytest imports this module where Contrapose is installed, so it imports nothing else before a test needs
it.
"""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import pytest

from contrapose.flows.python.decorators import ATTRIBUTE, OPTION, PROPERTY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from contrapose.flows.python.decorators import PromptTest
    from contrapose.flows.python.outcomes import EvaluatedRun

ERRORS = ("incomplete", "error")
"""Values of the property that pytest counts as errors."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the plugin."""
    text = "write the run of each Contrapose test to a subfolder of FOLDER"
    parser.getgroup("contrapose").addoption(OPTION, metavar="FOLDER", help=text)


def find_decorated_test(obj: object) -> PromptTest | None:
    """Return the test of a decorated function or method; None for anything else."""
    return getattr(obj, ATTRIBUTE, None) if isinstance(obj, FunctionType | MethodType) else None


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> None:
    """Refuse a decorated function that cannot be a test; pytest itself collects the others."""
    test = find_decorated_test(obj)
    if test is not None and test.problem and collector.funcnamefilter(name):
        raise collector.CollectError(f"{name}: {test.problem}")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a decorated function on each prompt of its data, instead of calling it once."""
    test = find_decorated_test(pyfuncitem.obj)
    if test is None:
        return None
    from contrapose.flows.python.pytest_runs import run_decorated

    run_decorated(pyfuncitem, test)
    return True


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count a run without a verdict as an error, not as a failure."""
    if report.when == "call" and report.failed:
        values = [value for name, value in report.user_properties if name == PROPERTY]
        return ("error", "E", "ERROR") if values and values[-1] in ERRORS else None
    return None


@pytest.fixture
def contrapose_run(request: pytest.FixtureRequest) -> Callable[..., EvaluatedRun]:
    """Function that runs a suite, `contrapose_run("suite.yaml", model=…)`, with the arguments of `evaluate`.

    Each test of the suite is a subtest where pytest has subtests. A failed gate fails the test, and too few samples
    make it xfail. It returns the run if every test passed.
    """

    def run(suite: str | Path | Mapping[str, Any] = "quickstart", **arguments: Any) -> EvaluatedRun:
        from contrapose.flows.python.pytest_runs import run_suite

        return run_suite(request, suite, arguments)

    return run
