"""What a card draws: a pass rate on its scale, counts as bars, and the panels of a probe."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.probes.panels import Bars, Grid, Panel, PanelShare, Quantity, Sheet
from contrapose.tasks.report.evidence import between, ended, headline
from contrapose.tasks.report.passages import passage_table, sentences
from contrapose.tasks.report.rows import outcomes
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import ends, number, percent

LEFT, WIDTH = 10.0, 300.0
"""The scale from 0 to 100 % within a drawing 320 units wide."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark on the scale with its label."""

    x: float
    """Position of the mark."""
    label: str
    """Name and value."""
    anchor: Anchor
    """Which part of the label stands at the mark, so that it never leaves the drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateMeter:
    """A pass rate with its interval, the gate, and the rate of guessing."""

    rate: float | None
    """Position of the pass rate; None when nothing was scored."""
    low: float
    """Where the 95 % interval begins."""
    width: float
    """How long the interval is."""
    gate: Tick | None
    """The least pass rate, where it is known."""
    chance: Tick | None
    """The pass rate of a model that guesses, where that has a meaning."""
    words: str
    """The same in words, for those who do not see it."""


def meter(outcome: Outcome) -> RateMeter:
    """The drawing of one test."""
    shown = headline(outcome)
    name = shown.name.replace("_", " ").capitalize()
    return rate_meter(shown.rate, shown.interval, gate=shown.wanted, chance=shown.chance, name=name)


def rate_meter(
    rate: float | None,
    bounds: tuple[float, float] | None,
    *,
    gate: float | None,
    chance: float | None = None,
    name: str = "Pass rate",
) -> RateMeter:
    """The drawing of a pass rate with its interval; of gate and chance what is known."""
    low, high = bounds or (0.0, 0.0)
    known = f"{name} {percent(rate)}, 95 % interval {'–' if bounds is None else ends(bounds)}"
    marks = [f", {mark} {percent(share)}" for mark, share in (("gate", gate), ("chance", chance)) if share is not None]
    return RateMeter(
        rate=None if rate is None else _x(rate),
        low=_x(low),
        width=0.0 if rate is None or bounds is None else max(_x(high) - _x(low), 2.0),
        gate=None if gate is None else _tick("gate", gate),
        chance=None if chance is None else _tick("chance", chance),
        words=f"{known}{''.join(marks)}.",
    )


def _tick(name: str, share: float) -> Tick:
    anchor: Anchor = "start" if share < 0.15 else "end" if share > 0.85 else "middle"
    return Tick(x=_x(share), label=f"{name} {percent(share)}", anchor=anchor)


def _x(share: float) -> float:
    return round(LEFT + WIDTH * min(max(share, 0.0), 1.0), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One count among others."""

    name: str
    count: str
    share: str
    """Of all that are counted together."""
    width: float
    """The same from 0 to 100, for the drawing."""


def bars(counts: Mapping[str, int], show: Show) -> tuple[Bar, ...]:
    """A bar for each count, in the given order."""
    total = sum(counts.values())
    return tuple(
        Bar(
            name=show(name),
            count=f"{count:,}",
            share=percent(count / total if total else 0),
            width=round(100 * count / total, 1) if total else 0,
        )
        for name, count in counts.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelCell:
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
    cells: tuple[tuple[tuple[str, str], tuple[PanelCell, ...]], ...] = ()
    """Of a grid: name and remark of each row, and its cells."""
    rows: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Of a sheet: the name of each row, and its texts."""


def drawn(panel: Panel, show: Show) -> Drawn:
    """A panel with its texts masked, its numbers formatted."""
    if isinstance(panel, Bars):
        shares = tuple(
            _bar(share, show, alike=len({share.total for share in panel.shares}) == 1) for share in panel.shares
        )
        return Drawn(kind="bars", title=show(panel.title), sentence=show(panel.sentence), bars=shares)
    if isinstance(panel, Grid):
        return _grid(panel, show)
    return _sheet(panel, show)


def passage_panel(outcome: Outcome) -> tuple[Drawn, ...]:
    """What the passages of an application tell, in words and as a table; nothing where it told of none."""
    (title, *titles), rows = passage_table(outcome) if "passages" in outcome else (("",), [])
    if not rows:
        return ()
    first, *others = map(ended, filter(None, sentences(outcome)))
    return (
        Drawn(
            kind="sheet",
            title="Retrieval or model: by the passages of both replies",
            sentence=first,
            note=" ".join(others),
            header=tuple((name, "") for name in (title, *titles)),
            rows=tuple((row[0], row[1:]) for row in rows),
        ),
    )


def _grid(panel: Grid, show: Show) -> Drawn:
    return Drawn(
        kind="grid",
        title=show(panel.caption),
        sentence=show(panel.sentence),
        note=show(panel.note),
        header=tuple((show(column.name), show(column.note)) for column in panel.columns),
        cells=tuple(
            ((show(heading.name), show(heading.note)), tuple(_cell(column, show) for column in shares))
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


def _share(counted: PanelShare) -> float:
    return counted.count / counted.total if counted.total else 0.0


def _bar(counted: PanelShare, show: Show, *, alike: bool) -> Bar:
    share = _share(counted)
    count = f"{counted.count:,}" if alike else f"{counted.count:,} of {counted.total:,}"
    return Bar(name=show(counted.name), count=count, share=percent(share), width=round(100 * share, 1))


def _cell(counted: PanelShare, show: Show) -> PanelCell:
    share = _share(counted)
    return PanelCell(name=show(counted.name), count=f"{counted.count:,}", share=percent(share), shade=round(4 * share))


def _quantity(quantity: Quantity | None) -> str:
    if quantity is None:
        return "–"
    sign = "+" if quantity.is_change and quantity.value > 0 else ""
    return f"{sign}{number(quantity.value)}{between(quantity.interval)}"


MOST_KEYS = 1_000
"""Different reasons that are counted; those of a run with more are counted together as others."""

OTHERS = "other reasons"


@dataclass(slots=True, kw_only=True)
class RowTally:
    """Counts over the rows of one test."""

    errors: Counter[str] = field(default_factory=Counter)
    """What went wrong where there is no answer."""
    cases: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """By scorer: finite eval_scores."""
    controls: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """The same of the controls."""


def tallies(parts: Iterable[pd.DataFrame]) -> dict[str, RowTally]:
    """Counts by test, over all parts."""
    counted: dict[str, RowTally] = defaultdict(RowTally)
    for part in parts:
        for test, rows in _grouped(part, "test_type"):
            _add(counted[test], rows)
    return counted


def _add(tally: RowTally, rows: pd.DataFrame) -> None:
    control = rows.get("control", pd.Series(False, index=rows.index)).eq(True)
    _scores(tally.controls, rows[control])
    cases = rows[~control]
    _scores(tally.cases, cases)
    _count(tally.errors, cases.loc[outcomes(cases) == "error"].get("error"))


def _count(counter: Counter[str], values: pd.Series | None) -> None:
    for value, count in Counter([] if values is None else values.dropna().tolist()).items():
        known = value in counter or len(counter) < MOST_KEYS
        counter[str(value) if known else OTHERS] += count


def _scores(into: dict[str, list[np.ndarray]], rows: pd.DataFrame) -> None:
    for scorer, own in _grouped(rows, "scorer"):
        values = pd.to_numeric(own["eval_score"], errors="coerce").to_numpy(dtype=float)
        into[str(scorer)].append(values[np.isfinite(values)])


def _grouped(rows: pd.DataFrame, name: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows by the value of a column; pandas' own grouping fails on lone surrogates."""
    for value in dict.fromkeys(rows[name].dropna().tolist() if name in rows else ()):
        yield str(value), rows[rows[name] == value]
