"""Scores the negation engine against the gold set in `negation/`: `python -m tests.golden.score_negation`."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contrapose.tasks.probes.negation import negate

FOLDER = Path(__file__).parent / "negation"
WORDS = "not|cannot|none|nobody|nothing|nowhere|neither|nor|never"
CUE = re.compile(rf"\b(?:{WORDS}|no(?!\.\s*\d))\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One labelled text."""

    id: str
    """Unique over both parts."""
    kind: str
    """What the text tests."""
    text: str
    """The prompt before negation."""
    skip: bool
    """Whether leaving the text alone is acceptable."""
    accept: tuple[str, ...] = ()
    """Every acceptable negated text; empty when only a skip is right."""
    original: tuple[str, ...] | None = None
    """Acceptable statements for a yes/no question; None for other texts."""
    remove: tuple[str, ...] = ()
    """Acceptable texts once the existing negation is removed."""

    @property
    def negatable(self) -> bool:
        return bool(self.accept) and not self.skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the engine did with one item."""

    item: Item
    """The item."""
    got: str | None
    """The negated text; None when skipped."""
    acceptable: bool
    """Whether `got` is a text that the item accepts."""
    removed: bool
    """Whether `existing_negation="remove"` gives a text that the item accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How the engine does over a set of items. A share is None when it has no denominator."""

    items: int
    """Items scored."""
    negatable: int
    """Items that have a negation and may not be skipped."""
    changed: int
    """Items that the engine negated."""
    acceptable_of_changed: float | None
    """Share of the changed items whose output is accepted."""
    changed_of_negatable: float | None
    """Share of the negatable items that were changed."""
    removable: int
    """Items with a negation that can be removed."""
    acceptable_of_removable: float | None
    """Share of those whose negation was removed acceptably under `existing_negation="remove"`."""
    wrong: tuple[str, ...]
    """Ids of changed items whose output is not accepted."""
    missed: tuple[str, ...]
    """Ids of negatable items that were skipped."""
    double: tuple[str, ...]
    """Ids whose output adds to a text that holds a negation already."""
    by_kind: Mapping[str, Figures] = field(default_factory=dict)
    """The same for each kind, in the order of the file."""


def item(row: Mapping[str, Any]) -> Item:
    lists = {key: tuple(row[key]) for key in ("accept", "original", "remove") if row.get(key)}
    return Item(id=row["id"], kind=row["kind"], text=row["text"], skip=row["skip"], **lists)


def read(path: Path) -> list[Item]:
    return [item(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def judge(item: Item) -> Verdict:
    outcome = negate(item.text)
    stated = item.original is None or outcome.original in item.original
    acceptable = outcome.text in item.accept and stated
    removed = bool(item.remove) and negate(item.text, existing_negation="remove").text in item.remove
    return Verdict(item=item, got=outcome.text, acceptable=acceptable, removed=removed)


def adds(verdict: Verdict) -> bool:
    before = len(CUE.findall(verdict.item.text))
    return verdict.got is not None and 0 < before < len(CUE.findall(verdict.got))


def share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def summarise(verdicts: Sequence[Verdict], by_kind: Mapping[str, Figures] | None = None) -> Figures:
    changed = [v for v in verdicts if v.got is not None]
    negatable = [v for v in verdicts if v.item.negatable]
    removable = [v for v in verdicts if v.item.remove]
    wrong = tuple(v.item.id for v in changed if not v.acceptable)
    missed = tuple(v.item.id for v in negatable if v.got is None)
    return Figures(
        items=len(verdicts),
        negatable=len(negatable),
        changed=len(changed),
        acceptable_of_changed=share(len(changed) - len(wrong), len(changed)),
        changed_of_negatable=share(len(negatable) - len(missed), len(negatable)),
        removable=len(removable),
        acceptable_of_removable=share(sum(v.removed for v in removable), len(removable)),
        wrong=wrong,
        missed=missed,
        double=tuple(v.item.id for v in verdicts if adds(v)),
        by_kind=by_kind or {},
    )


def figures(verdicts: Sequence[Verdict]) -> Figures:
    kinds = dict.fromkeys(v.item.kind for v in verdicts)
    by_kind = {kind: summarise([v for v in verdicts if v.item.kind == kind]) for kind in kinds}
    return summarise(verdicts, by_kind)


def score(path: Path) -> Figures:
    """Figures over one part of the gold set."""
    return figures([judge(item) for item in read(path)])


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def row(name: str, part: Figures) -> str:
    counts = f"{part.items:5} {part.negatable:9} {part.changed:7} {percent(part.acceptable_of_changed):>10}"
    lost = f"{percent(part.changed_of_negatable):>8} {len(part.wrong):5} {len(part.missed):6} {len(part.double):6}"
    return f"{name:20} {counts} {lost} {percent(part.acceptable_of_removable):>8}"


def table(total: Figures) -> str:
    heading = "kind                 items negatable changed acceptable coverage wrong missed double  removed"
    return "\n".join([heading, *(row(kind, part) for kind, part in total.by_kind.items()), row("all", total)])


def wrong_ones(verdicts: Sequence[Verdict]) -> str:
    wrong = [v for v in verdicts if v.got is not None and not v.acceptable]
    return "\n".join(f"{v.item.id}: {v.item.text!r} → {v.got!r} → {list(v.item.accept)}" for v in wrong)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("tuned", "scored_only"), default="tuned")
    parser.add_argument("--show", action="store_true", help="print the wrong outputs (tuned only)")
    args = parser.parse_args()
    if args.show and args.part != "tuned":
        parser.error("--show is only for the tuned part: nobody tunes on the other one")
    verdicts = [judge(item) for item in read(FOLDER / f"{args.part}.jsonl")]
    print(table(figures(verdicts)))
    if args.show:
        print(wrong_ones(verdicts))


if __name__ == "__main__":
    main()
