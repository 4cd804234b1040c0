"""What every scenario needs: calm runs to compare with, and figures that are printed as a table at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import pyarrow as pa
import pytest
from disturbed import Ended, Run, asked_twice
from fake_endpoint import Endpoint, serving


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What came of one scenario."""

    scenario: str
    kills: int = 0
    prompts: int = 0
    """Different ones that the endpoint was asked."""
    asked_twice: int = 0
    in_flight: int = 0
    """Requests that a kill or a jump met on their way: what may be asked twice."""
    seconds: float = 0.0
    outcome: str = ""


FIGURES = pytest.StashKey[list[Figures]]()
WIDEST = 160
"""Characters of an outcome in the table."""


@pytest.fixture
def note(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., None]:
    """Take down the figures of a scenario, as its endpoint saw it; an outcome names the folder of the test as `…`."""
    began, noted = time.monotonic(), request.config.stash.setdefault(FIGURES, [])

    def take_down(scenario: str, endpoint: Endpoint, *, outcome: str, kills: int = 0, in_flight: int = 0) -> None:
        noted.append(
            Figures(
                scenario=scenario,
                kills=kills,
                prompts=len(endpoint.asked),
                asked_twice=asked_twice(endpoint.requests).total(),
                in_flight=in_flight,
                seconds=time.monotonic() - began,
                outcome=outcome.replace(str(tmp_path), "…"),
            )
        )

    return take_down


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the figures."""
    if noted := config.stash.get(FIGURES, []):
        terminalreporter.section("what was endured")
        heads = tuple(each.name.replace("_", " ") for each in fields(Figures))
        rows = [heads, *(tuple(_cell(value) for value in astuple(each)) for each in noted)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(heads))]
        for row in rows:
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            terminalreporter.write_line(line.rstrip())


def _cell(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, float) else str(value)[:WIDEST]


@dataclass(frozen=True, kw_only=True)
class Calm:
    """A run that nothing disturbed."""

    ended: Ended
    results: pa.Table
    prompts: frozenset[str]
    outcomes: list[dict[str, object]]


@pytest.fixture(scope="session")
def calm(tmp_path_factory: pytest.TempPathFactory, prefect_server: None) -> Callable[[Run], Calm]:
    """What a run finds where nothing disturbs it."""
    known: dict[tuple[object, ...], Calm] = {}

    def undisturbed(run: Run) -> Calm:
        key = (run.tests, run.limit, run.options, run.endpoint.reply_text)
        if key not in known:
            folder = tmp_path_factory.mktemp("calm")
            with serving(Endpoint(reply_text=run.endpoint.reply_text)) as endpoint:
                own = replace(run, endpoint=endpoint, home=folder / "home", out=folder / "runs", store="")
                ended = own.ended()
                assert ended.code == 0, ended
                prompts = frozenset(endpoint.asked)
                known[key] = Calm(ended=ended, results=own.results(), prompts=prompts, outcomes=own.outcomes())
        return known[key]

    return undisturbed


@pytest.fixture
def served() -> Iterator[Endpoint]:
    """An endpoint of a test's own."""
    with serving() as endpoint:
        yield endpoint


@pytest.fixture
def run(served: Endpoint, tmp_path: Path) -> Run:
    """A run that asks it."""
    return Run(endpoint=served, home=tmp_path / "home", out=tmp_path / "runs")


@pytest.fixture
def unharmed(note: Callable[..., None], calm: Callable[[Run], Calm]) -> Callable[..., None]:
    """Take down the figures of a scenario; the run has the results of a calm one, and paid for nothing twice."""

    def check(scenario: str, run: Run, *, outcome: str, **counts: int) -> None:
        note(scenario, run.endpoint, outcome=outcome, **counts)
        assert run.results().equals(calm(run).results)
        assert not asked_twice(run.endpoint.requests), "paid for, and asked again"

    return check
