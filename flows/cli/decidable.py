"""What the verdicts of a run could decide, and what it is expected to ask if it may stop early."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from contrapose.flows.cli.preview import Preview
from contrapose.tasks.config.plan import SET
from contrapose.tasks.core.records import TextSample
from contrapose.tasks.core.registry import probe
from contrapose.tasks.forecast.counting import Count
from contrapose.tasks.forecast.deciding import BIAS, WIDE, Deciding, Groups, deciding
from contrapose.tasks.forecast.early import Course, Expected, expected
from contrapose.tasks.perturb.cases import out_of_reach
from contrapose.tasks.probes.answers.figures import LEAST_RIGHT, noticed_gate
from contrapose.tasks.probes.edits.base import TextEdit
from contrapose.tasks.probes.orders.two_orders import TwoOrders
from contrapose.tasks.statistics.power import DISCORDANCE, IN_CLUSTER, IN_SAMPLE, POWER
from contrapose.tasks.statistics.shares import CONFIDENCE, LEVEL
from contrapose.tasks.text.wording import percent

SEED = 1
"""Of the simulation, which tells the same of the same run."""
COLUMNS = ("cases", "gate", "fails up to", "passes from", "models apart")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decidable:
    """What every test of a run could decide."""

    tests: Mapping[str, Deciding]
    """Those of which something will be asked."""
    level: float
    """p value that a verdict needs where it needs most: the smallest of Holm's correction."""
    of_right: tuple[str, ...] = ()
    """Tests whose gate is of the samples that are answered rightly before."""


def decidable(previews: list[Preview], groups: Mapping[str, Groups]) -> Decidable:
    """What tests that are judged by interval could decide, by their samples and the groups of their cases."""
    judged = {preview.plan.test: preview for preview in previews if groups[preview.plan.test].samples}
    level = (1 - CONFIDENCE) / max(1, len(judged))
    tests = {}
    for test, preview in judged.items():
        loaded, gate = preview.loaded, _gate(preview)
        orders = isinstance(probe(test), TwoOrders)
        figures = deciding(
            groups[test], samples=len(loaded.samples), rows=loaded.rows, gate=gate, level=level, orders=orders
        )
        if figures is not None:
            tests[test] = figures
    of_right = tuple(test for test in tests if _of_right_answers(judged[test]) is not None)
    return Decidable(tests=tests, level=level, of_right=of_right)


def _gate(preview: Preview) -> float:
    """The gate of the pass rate; where right answers are known, of those that are noticed among the right ones."""
    return preview.plan.min_pass_rate if (own := _of_right_answers(preview)) is None else own


def _of_right_answers(preview: Preview) -> float | None:
    chosen, samples = probe(preview.plan.test), preview.loaded.samples
    if preview.plan.gate_basis == SET or not isinstance(chosen, TextEdit) or chosen.stays:
        return None
    own: float | None = preview.plan.settings.get("min_noticed_rate")
    known = [len(sample.options) or np.nan for sample in samples if isinstance(sample, TextSample) and sample.answers]
    if own == 0 or not known or 2 * len(known) < len(samples):
        return None
    return noticed_gate(np.array(known, dtype=float))[0] if own is None else own


def power_as_plain(power: Decidable) -> dict[str, Any]:
    """The same figures for JSON."""
    return {
        "power": POWER,
        "level": round(power.level, 6),
        "assumed": {
            "correlation_in_sample": IN_SAMPLE,
            "correlation_in_cluster": IN_CLUSTER,
            "discordance": DISCORDANCE,
        },
        "tests": {test: asdict(figures) for test, figures in power.tests.items()},
        "warnings": list(warnings(power)),
    }


def power_table(power: Decidable) -> Table:
    """A line per test."""
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    drawn.add_column("test", overflow="fold", max_width=24)
    for name in COLUMNS:
        drawn.add_column(name, justify="right", no_wrap=True)
    for test, figures in power.tests.items():
        rates = (figures.gate, figures.reach.fails_up_to, figures.reach.passes_from, figures.difference)
        drawn.add_row(Text(test), f"{figures.cases:,}", *map(percent, rates))
    return drawn


def power_notes(power: Decidable) -> Iterator[str]:
    """What the figures rest on, then what to be warned of."""
    count = len(power.tests)
    several = f" (0.05 over {count} tests: the strictest step of Holm's correction)" if count > 1 else ""
    yield (
        f"A true pass rate up to the one fails and from the other on passes, each with {percent(POWER)} power, if "
        f"every case is scored and a verdict needs p <= {power.level:.3g}{several}. Models apart: the smallest "
        "difference of two models that an exact McNemar test at 5% finds with the same power, if they disagree on "
        f"{percent(DISCORDANCE)} of the cases."
    )
    if fewer := [
        f"{test} {figures.effective:,}" for test, figures in power.tests.items() if figures.effective < figures.cases
    ]:
        yield (
            f"Independent cases that would tell as much: {', '.join(fewer)}. Assumed: cases of one sample correlate at "
            f"{IN_SAMPLE:g}, samples of one cluster at {IN_CLUSTER:g}."
        )
    for test, figures in power.tests.items():
        if figures.bias_pairs is not None:
            short = figures.bias_pairs > figures.available
            on = f"more pairs than the {figures.available:,} of the data" if short else f"{figures.bias_pairs:,} pairs"
            yield (
                f"{test}: a position that is chosen in both orders {100 * BIAS:.0f} points more often than the other "
                f"is found with {percent(POWER)} power on {on} if they are independent; there are "
                f"{figures.effective:,}."
            )
    if power.of_right:
        yield (
            f"{', '.join(power.of_right)}: the gate is of the cases that are answered rightly before the change. Their "
            f"number depends on the model, all of them at most; at least {LEAST_RIGHT} are needed."
        )
    yield from warnings(power)


def warnings(power: Decidable) -> Iterator[str]:
    """The tests whose verdict would be too much a matter of luck, with the number of samples that would do."""
    for test, figures in power.tests.items():
        if figures.wide:
            yield f"{test}: {_undecided(figures, power.level)}; {_needed(figures)}."


def _undecided(figures: Deciding, level: float) -> str:
    low, high = figures.reach.fails_up_to, figures.reach.passes_from
    if high is None:
        return out_of_reach(figures.gate, figures.effective, level=level)
    return f"true pass rates between {percent(low or 0.0)} and {percent(high)} stay undecided"


def _needed(figures: Deciding) -> str:
    if figures.limit is None:
        return "nor would any number of samples do"
    if figures.limit > figures.available:
        return f"all {figures.available:,} rows of the data leave more undecided than {100 * WIDE:.0f} points: add rows"
    return f"a limit of about {figures.limit:,} would leave at most {100 * WIDE:.0f} points undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """What is expected of the tests of a run that may stop early, by simulation."""

    tests: Mapping[str, list[Expected]]
    """Of which something is judged: at several true pass rates, from low to high."""
    runs: int
    """Simulated at each rate, at least."""
    grouped: bool
    """Whether some of their cases are not independent."""
    level: float
    """p value that a verdict needs over all looks, where it needs most: the smallest of Holm's correction."""

    @classmethod
    def of(cls, tests: list[Preview], courses: Mapping[str, Course], *, cost: Callable[[Count], float | None]) -> Early:
        """Simulate each test by itself, its samples arranged as in the run.

        Args:
            tests: all of the run.
            courses: their cases, by test.
            cost: of what is asked.
        """
        level = LEVEL / len(tests)
        judged = [preview for preview in tests if courses[preview.plan.test].looks]
        return cls(
            tests={
                test: list(expected(courses[test], _gate(preview), level=level, cost=cost, seed=SEED))
                for preview in judged
                for test in (preview.plan.test,)
            },
            runs=min((courses[preview.plan.test].runs for preview in judged), default=0),
            grouped=any(own.grouped for own in courses.values()),
            level=level,
        )


def early_as_plain(early: Early) -> dict[str, Any]:
    """The same figures for JSON."""
    tests = {test: [asdict(one) for one in rates] for test, rates in early.tests.items()}
    return {"runs": early.runs, "level": round(early.level, 6), "tests": tests}


def early_table(early: Early) -> Table:
    """A section per test, a line for each true rate."""
    priced = any(one.cost for rates in early.tests.values() for one in rates)
    title = Text("Expected with stop: early, by the true pass rate")
    drawn = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False, title=title, title_justify="left"
    )
    drawn.add_column("true rate", overflow="fold", max_width=20)
    for name in ("calls", "of all", "9 in 10", *(["cost"] if priced else []), "passes", "fails", "open"):
        drawn.add_column(name, justify="right", no_wrap=True)
    for test, rates in early.tests.items():
        drawn.add_section()
        drawn.add_row(Text(test))
        for one in rates:
            shares = (one.share, one.share_of_nine_in_ten)
            costs = [dollars(one.cost)] if priced else []
            ends = (one.passes, one.fails, one.open)
            row = (f"{one.calls:,.0f}", *map(_rounded, shares), *costs, *map(_rounded, ends))
            drawn.add_row(f"  {percent(one.true_rate)}", *row)
    return drawn


def early_notes(early: Early) -> Iterator[str]:
    """What these figures rest on, and what the run may ask at most."""
    alike = " and correlates as assumed above" if early.grouped else ""
    yield (
        "stop: early never asks more than stop: all, for which the calls, tokens, cost and power above are. What it is "
        f"expected to ask is the mean of {early.runs:,} simulated runs at each true pass rate, with the looks and the "
        f"evidence of the run, if every case is scored{alike}; 9 runs in 10 ask at most the share under 9 in 10."
    )
    among = ", as at the strictest step of Holm's correction: beside decided ones it asks less"
    yield (
        f"Each test is simulated by itself, with p <= {early.level:.3g} over all its looks"
        f"{among if len(early.tests) > 1 else ''}. To pass further gates than that of its pass rate it asks more."
    )


def _rounded(share: float | None) -> str:
    """To whole points, for a simulation tells no more; only all is 100 %, and only nothing 0 %."""
    if share is None or share == round(share, 2) or 0.005 <= share <= 0.995:
        return percent(share if share is None else round(share, 2))
    return "<1%" if share < 0.5 else ">99%"


def dollars(cost: float | None) -> str:
    """An amount of US dollars; small ones with four decimals."""
    if cost is None:
        return "unknown"
    return f"${cost:,.4f}" if 0 < cost < 1 else f"${cost:,.2f}"
