"""Forecast of verdicts: which rates the cases can decide, and how many cases an early-stopping run would ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from contrapose.flows.cli.designs import WordingForecast
from contrapose.flows.cli.preview import Preview
from contrapose.tasks.config.plan import SET
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.core.registry import probe
from contrapose.tasks.forecast.counting import CallCount
from contrapose.tasks.forecast.deciding import BIAS, WIDE, CaseGroups, DecidingPower, find_deciding_power
from contrapose.tasks.forecast.early import Course, ExpectedRun, simulate_rates
from contrapose.tasks.perturb.cases import explain_unreachable
from contrapose.tasks.probes.answers.answer_probe import LEAST_RIGHT, compute_noticed_gate
from contrapose.tasks.probes.edits.base import TextEdit
from contrapose.tasks.probes.orders.two_orders import TwoOrders
from contrapose.tasks.statistics.power import DISCORDANCE, IN_CLUSTER, IN_SAMPLE, POWER
from contrapose.tasks.statistics.shares import CONFIDENCE, LEVEL
from contrapose.tasks.text import wording
from contrapose.tasks.text.wording import percent


def make_forecast_table(first: str, columns: Sequence[str], *, width: int, title: str | None = None) -> Table:
    """Return an empty table: a first column of names, which wraps, and further columns of figures."""
    heading = Text(title) if title else None
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False, title=heading, title_justify="left"
    )
    table.add_column(first, overflow="fold", max_width=width)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def dollars(cost: float | None) -> str:
    """Format an amount of US dollars; small amounts have four decimals."""
    return "unknown" if cost is None else wording.dollars(cost) if cost else "$0.00"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidableForecast:
    """What every test of a run can decide with its cases."""

    tests: Mapping[str, DecidingPower]
    """Those of which something will be asked."""
    level: float
    """p value that a verdict needs where it needs most: the smallest of Holm's correction."""
    of_right: tuple[str, ...] = ()
    """Tests whose gate is of the samples that are answered rightly before."""

    @classmethod
    def compute(
        cls,
        previews: Sequence[Preview],
        groups: Mapping[str, CaseGroups],
        *,
        wordings: Mapping[str, WordingForecast] = MappingProxyType({}),
    ) -> DecidableForecast:
        """Compute which rates each test can decide, from its samples, its wordings and the groups of cases."""
        judged = {preview.plan.test: preview for preview in previews if groups[preview.plan.test].samples}
        level = (1 - CONFIDENCE) / max(1, len(judged))
        tests = {}
        for test, preview in judged.items():
            size = {"samples": len(preview.loaded.samples), "rows": preview.loaded.rows}
            orders = isinstance(probe(test), TwoOrders)
            own = wordings.get(test)
            asked = None if own is None or own.half_width is None else (own.design.wordings, own.share)
            gate = _choose_gate(preview)[0]
            figures = find_deciding_power(groups[test], gate=gate, level=level, orders=orders, wordings=asked, **size)
            if figures is not None:
                tests[test] = figures
        return cls(tests=tests, level=level, of_right=tuple(test for test in tests if _choose_gate(judged[test])[1]))

    def as_plain(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        return {
            "power": POWER,
            "level": round(self.level, 6),
            "assumed": {
                "correlation_in_sample": IN_SAMPLE,
                "correlation_in_cluster": IN_CLUSTER,
                "discordance": DISCORDANCE,
            },
            "tests": {test: asdict(figures) for test, figures in self.tests.items()},
            "warnings": list(self.warnings()),
        }

    def table(self) -> Table:
        """Return a table with a line for each test."""
        columns = ("cases", "gate", "fails up to", "passes from", "models apart")
        table = make_forecast_table("test", columns, width=24)
        for test, figures in self.tests.items():
            rates = (figures.gate, figures.reach.fails_up_to, figures.reach.passes_from, figures.difference)
            table.add_row(Text(test), f"{figures.cases:,}", *map(percent, rates))
        return table

    def notes(self) -> Iterator[str]:
        """Explain the figures, then warn."""
        count = len(self.tests)
        several = f" (0.05 over {count} tests: the strictest step of Holm's correction)" if count > 1 else ""
        yield (
            "Fails up to, passes from: true pass rates that get this verdict in "
            f"{percent(POWER)} of runs, if all cases are scored. A verdict needs p <= {self.level:.3g}{several}. "
            f"Models apart: the smallest difference between two models that {percent(POWER)} of comparisons show. The "
            f"models are assumed to disagree on {percent(DISCORDANCE)} of the cases (exact McNemar test at 5%)."
        )
        fewer = {test: own.effective for test, own in self.tests.items() if own.effective < own.cases}
        if fewer:
            yield (
                "Cases of one sample or cluster are alike. They count as about this many independent cases: "
                f"{', '.join(f'{test} {effective:,}' for test, effective in fewer.items())}. The assumed correlation "
                f"is {IN_SAMPLE:g} in a sample and {IN_CLUSTER:g} in a cluster."
            )
        for test, figures in self.tests.items():
            if (pairs := figures.bias_pairs) is not None:
                short = f"more than the {figures.available:,} pairs of the data"
                needed = short if pairs > figures.available else f"{pairs:,} independent pairs"
                yield (
                    f"{test}: a position bias of {100 * BIAS:.0f} points shows in {percent(POWER)} of runs with "
                    f"{needed}. There are {figures.effective:,}."
                )
        if self.of_right:
            yield (
                f"{', '.join(self.of_right)}: the gate counts only cases that the model answers correctly before the "
                f"change. At least {LEAST_RIGHT} of these are needed; the table assumes that all are."
            )
        yield from self.warnings()

    def warnings(self) -> Iterator[str]:
        """List tests with too few samples for a reliable verdict, with the number of samples that would be enough."""
        for test, figures in self.tests.items():
            low, high = figures.reach.fails_up_to, figures.reach.passes_from
            if high is None:
                problem = explain_unreachable(figures.gate, figures.effective, level=self.level)
            else:
                problem = f"true pass rates between {percent(low or 0.0)} and {percent(high)} may get no verdict"
            points = f"{100 * WIDE:.0f} points"
            if figures.limit is None:
                needed = "No number of samples is enough"
            elif figures.limit > figures.available:
                needed = f"All {figures.available:,} rows of the data leave more than {points} open: add rows"
            else:
                needed = f"A limit of about {figures.limit:,} decides all but {points}"
            if figures.wide:
                yield f"{test}: {problem}. {needed}."


def _choose_gate(preview: Preview) -> tuple[float, bool]:
    """Return the gate of the pass rate, and whether only samples answered correctly before count for it, if known."""
    plan, chosen, samples = preview.plan, probe(preview.plan.test), preview.loaded.samples
    own: float | None = plan.settings.get("min_noticed_rate")
    settings = plan.probe_settings
    if settings.right_gate is not None:
        return settings.right_gate, True
    noticed = isinstance(chosen, TextEdit) and chosen.shows_guessing(settings) and not chosen.keeps_answer(settings)
    if plan.gate_basis == SET or not noticed or own == 0:
        return plan.min_pass_rate, False
    known = [len(sample.options) or np.nan for sample in samples if isinstance(sample, TextSample) and sample.answers]
    if not known or 2 * len(known) < len(samples):
        return plan.min_pass_rate, False
    return (compute_noticed_gate(np.array(known, dtype=float))[0] if own is None else own), True


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyForecast:
    """Forecast, by simulation, for each test of a run that may stop early."""

    tests: Mapping[str, list[ExpectedRun]]
    """Of which something is judged: at several true pass rates, from low to high."""
    runs: int
    """Simulated at each rate, at least."""
    grouped: bool
    """Whether some of their cases are not independent."""
    level: float
    """p value that a verdict needs over all looks, where it needs most: the smallest of Holm's correction."""

    @classmethod
    def simulate(
        cls, previews: Sequence[Preview], courses: Mapping[str, Course], *, cost: Callable[[CallCount], float | None]
    ) -> EarlyForecast:
        """Simulate each test separately, its samples ordered as in the run, from its cases and the cost of counts."""
        level = LEVEL / len(previews)
        judged = {preview.plan.test: preview for preview in previews if courses[preview.plan.test].looks}
        return cls(
            tests={
                test: list(simulate_rates(courses[test], _choose_gate(preview)[0], level=level, cost=cost, seed=1))
                for test, preview in judged.items()
            },
            runs=min((courses[test].runs for test in judged), default=0),
            grouped=any(own.grouped for own in courses.values()),
            level=level,
        )

    def as_plain(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        tests = {test: [asdict(one) for one in rates] for test, rates in self.tests.items()}
        return {"runs": self.runs, "level": round(self.level, 6), "tests": tests}

    def table(self) -> Table:
        """Return a table with a section for each test, and a line for each true rate."""
        priced = any(one.cost for rates in self.tests.values() for one in rates)
        columns = ("calls", "of all", "9 in 10", *(["cost"] if priced else []), "passes", "fails", "open")
        title = "Expected with stop: early, by the true pass rate"
        table = make_forecast_table("true rate", columns, width=20, title=title)
        for test, rates in self.tests.items():
            table.add_section()
            table.add_row(Text(test))
            for one in rates:
                shares = map(_round_to_points, (one.share, one.share_of_nine_in_ten))
                ends = map(_round_to_points, (one.passes, one.fails, one.open))
                costs = [dollars(one.cost)] if priced else []
                table.add_row(f"  {percent(one.true_rate)}", f"{one.calls:,.0f}", *shares, *costs, *ends)
        return table

    def notes(self) -> Iterator[str]:
        """Explain the figures, and the maximum that the run may ask."""
        alike = " and correlates as assumed above" if self.grouped else ""
        yield (
            "The figures above are for stop: all; stop: early never asks more. The expected calls are the mean of "
            f"{self.runs:,} simulated runs at each true pass rate. The simulation uses the run's own looks, and "
            f"assumes that every case is scored{alike}. 9 runs in 10 ask at most the share under 9 in 10."
        )
        among = ", the strictest step of Holm's correction. Once other tests are decided it asks less"
        yield (
            f"Each test is simulated on its own, with p <= {self.level:.3g} over all its looks"
            f"{among if len(self.tests) > 1 else ''}. A test with further gates may ask more."
        )


def _round_to_points(share: float | None) -> str:
    """Round a simulated share to full percent; only exactly all becomes 100 %, and only exactly nothing 0 %."""
    if share is None or share == round(share, 2) or 0.005 <= share <= 0.995:
        return percent(share if share is None else round(share, 2))
    return "<1%" if share < 0.5 else ">99%"
