"""A probe's panels as the page draws them: every text ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from contrapose.tasks.probes.panels import Bars, Grid, Panel, Quantity, Share, Sheet
from contrapose.tasks.report.evidence import between
from contrapose.tasks.report.html.bars import Bar
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.wording import number, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One share of a grid."""

    name: str
    count: str
    share: str
    shade: int
    """0 (none) to 4 (all), for the strength of the background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A panel; what its kind does not have is empty."""

    kind: Literal["bars", "grid", "sheet"]
    title: str
    sentence: str = ""
    note: str = ""
    bars: tuple[Bar, ...] = ()
    header: tuple[tuple[str, str], ...] = ()
    """Names and remarks over the columns."""
    cells: tuple[tuple[tuple[str, str], tuple[Cell, ...]], ...] = ()
    """Of a grid: name and remark of each row, and its cells."""
    rows: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Of a sheet: the name of each row, and its texts."""


def drawn(panel: Panel, show: Show) -> Drawn:
    """A panel with its texts masked, its numbers formatted."""
    if isinstance(panel, Bars):
        shares = tuple(_bar(each, show, alike=len({each.total for each in panel.shares}) == 1) for each in panel.shares)
        return Drawn(kind="bars", title=show(panel.title), sentence=show(panel.sentence), bars=shares)
    if isinstance(panel, Grid):
        return _grid(panel, show)
    return _sheet(panel, show)


def _grid(panel: Grid, show: Show) -> Drawn:
    return Drawn(
        kind="grid",
        title=show(panel.caption),
        sentence=show(panel.sentence),
        note=show(panel.note),
        header=tuple((show(each.name), show(each.note)) for each in panel.columns),
        cells=tuple(
            ((show(heading.name), show(heading.note)), tuple(_cell(each, show) for each in shares))
            for heading, shares in panel.rows
        ),
    )


def _sheet(panel: Sheet, show: Show) -> Drawn:
    return Drawn(
        kind="sheet",
        title=show(panel.caption),
        header=tuple((show(name), "") for name in panel.header),
        rows=tuple((show(name), tuple(map(_quantity, quantities))) for name, quantities in panel.rows),
    )


def _share(counted: Share) -> float:
    return counted.count / counted.total if counted.total else 0.0


def _bar(counted: Share, show: Show, *, alike: bool) -> Bar:
    share = _share(counted)
    count = f"{counted.count:,}" if alike else f"{counted.count:,} of {counted.total:,}"
    return Bar(name=show(counted.name), count=count, share=percent(share), width=round(100 * share, 1))


def _cell(counted: Share, show: Show) -> Cell:
    share = _share(counted)
    return Cell(name=show(counted.name), count=f"{counted.count:,}", share=percent(share), shade=round(4 * share))


def _quantity(found: Quantity | None) -> str:
    if found is None:
        return "–"
    sign = "+" if found.is_change and found.value > 0 else ""
    return f"{sign}{number(found.value)}{between(found.interval)}"
