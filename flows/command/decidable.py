"""What the cases of a run could decide, told before they are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from contrapose.flows.command.preview import Preview
from contrapose.tasks.infer.estimate.deciding import WIDE, Deciding, Groups, Source, deciding
from contrapose.tasks.statistics.power import DISCORDANCE, IN_CLUSTER, IN_SAMPLE, POWER
from contrapose.tasks.statistics.shares import CONFIDENCE
from contrapose.tasks.text.wording import percent

COLUMNS = ("cases", "gate", "fails up to", "passes from", "models apart")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decidable:
    """What every test of a run could decide."""

    tests: Mapping[str, Deciding]
    """Those of which something will be asked."""
    level: float
    """p value that a verdict needs where it needs most: the smallest of Holm's correction."""


def decidable(previews: list[Preview], groups: Mapping[str, Groups]) -> Decidable:
    """What tests that are judged by interval could decide.

    Args:
        previews: the tests with their samples.
        groups: of the cases of each test.
    """
    judged = {each.plan.test: each for each in previews if groups[each.plan.test].samples}
    level = (1 - CONFIDENCE) / max(1, len(judged))
    found = {test: deciding(groups[test], _source(each), level=level) for test, each in judged.items()}
    return Decidable(tests={test: each for test, each in found.items() if each is not None}, level=level)


def _source(preview: Preview) -> Source:
    loaded = preview.loaded
    return Source(samples=len(loaded.samples), rows=loaded.rows, gate=preview.plan.min_pass_rate)


def as_plain(found: Decidable) -> dict[str, Any]:
    """The same figures for JSON."""
    return {
        "power": POWER,
        "level": round(found.level, 6),
        "assumed": {
            "correlation_in_sample": IN_SAMPLE,
            "correlation_in_cluster": IN_CLUSTER,
            "discordance": DISCORDANCE,
        },
        "tests": {test: asdict(each) for test, each in found.tests.items()},
        "warnings": list(warnings(found)),
    }


def table(found: Decidable) -> Table:
    """A line per test."""
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    drawn.add_column("test", overflow="fold", max_width=24)
    for name in COLUMNS:
        drawn.add_column(name, justify="right", no_wrap=True)
    for test, each in found.tests.items():
        rates = (each.gate, each.reach.fails_up_to, each.reach.passes_from, each.difference)
        drawn.add_row(Text(test), f"{each.cases:,}", *map(percent, rates))
    return drawn


def notes(found: Decidable) -> Iterator[str]:
    """What the figures rest on, then what to be warned of."""
    count = len(found.tests)
    several = f" (0.05 over {count} tests: the strictest step of Holm's correction)" if count > 1 else ""
    yield (
        f"A true pass rate up to the one fails and from the other on passes, each with {percent(POWER)} power, if "
        f"every case is scored and a verdict needs p <= {found.level:.3g}{several}. Models apart: the smallest "
        "difference of two models that an exact McNemar test at 5% finds with the same power, if they disagree on "
        f"{percent(DISCORDANCE)} of the cases."
    )
    if fewer := [f"{test} {each.effective:,}" for test, each in found.tests.items() if each.effective < each.cases]:
        yield (
            f"Independent cases that would tell as much: {', '.join(fewer)}. Assumed: cases of one sample correlate at "
            f"{IN_SAMPLE:g}, samples of one cluster at {IN_CLUSTER:g}."
        )
    yield from warnings(found)


def warnings(found: Decidable) -> Iterator[str]:
    """The tests whose verdict would be too much a matter of luck, with the number of samples that would do."""
    for test, each in found.tests.items():
        if each.wide:
            yield f"{test}: {_undecided(each)}; {_needed(each)}."


def _undecided(each: Deciding) -> str:
    low, high = each.reach.fails_up_to, each.reach.passes_from
    if high is None:
        return f"no result can pass the gate {percent(each.gate)}, not even {each.cases:,} of {each.cases:,}"
    return f"true pass rates between {percent(low or 0.0)} and {percent(high)} stay undecided"


def _needed(each: Deciding) -> str:
    if each.limit is None:
        return "nor would any number of samples do"
    there = "a limit of" if each.limit <= each.available else f"the data have {each.available:,} samples, and"
    return f"{there} about {each.limit:,} would leave at most {100 * WIDE:.0f} points undecided"
