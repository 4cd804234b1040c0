"""Scores the negation engine against the gold set in `negation/`: `python -m tests.golden.score_negation`."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contrapose.tasks.probes.negation import negate

FOLDER = Path(__file__).parent / "negation"
WORDS = "not|cannot|none|nobody|nothing|nowhere|neither|nor|never"
CUE = re.compile(rf"\b(?:{WORDS}|no(?!\.\s*\d))\b|n['’]t\b", re.IGNORECASE)

Row = Mapping[str, Any]
"""A labelled text: README.md beside the set explains its fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the engine did with one text."""

    row: Row
    """The text with its labels."""
    got: str | None
    """The negated text; None when skipped."""
    acceptable: bool
    """Whether `got` is a text that the row accepts."""
    removed: bool
    """Whether `existing_negation="remove"` gives a text that the row accepts."""

    @property
    def negatable(self) -> bool:
        """Whether the text has a negation and may not be skipped."""
        return bool(self.row["accept"]) and not self.row["skip"]

    @property
    def is_wrong(self) -> bool:
        return self.got is not None and not self.acceptable

    @property
    def is_missed(self) -> bool:
        return self.got is None and self.negatable

    @property
    def is_double(self) -> bool:
        """Whether the output adds to a text that holds a negation already."""
        before = len(CUE.findall(self.row["text"]))
        return self.got is not None and 0 < before < len(CUE.findall(self.got))


def judge(row: Row) -> Verdict:
    outcome = negate(row["text"])
    stated = not row.get("original") or outcome.original in row["original"]
    accepted = row.get("remove") or ()
    removed = bool(accepted) and negate(row["text"], existing_negation="remove").text in accepted
    return Verdict(row=row, got=outcome.text, acceptable=outcome.text in row["accept"] and stated, removed=removed)


def score(part: str) -> list[Verdict]:
    """Verdicts over one part of the gold set."""
    lines = (FOLDER / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [judge(json.loads(line)) for line in lines]


def table_row(name: str, verdicts: Sequence[Verdict]) -> str:
    """Counts and shares of some verdicts: of what was changed, of what could be, and of what could be removed."""
    changed = [each for each in verdicts if each.got is not None]
    negatable = [each for each in verdicts if each.negatable]
    removable = [each for each in verdicts if each.row.get("remove")]
    wrong, missed, double = (
        sum(getattr(each, kind) for each in verdicts) for kind in ("is_wrong", "is_missed", "is_double")
    )
    counts = f"{len(verdicts):5} {len(negatable):9} {len(changed):7} {percent(len(changed) - wrong, len(changed)):>10}"
    covered = percent(len(negatable) - missed, len(negatable))
    removed = percent(sum(each.removed for each in removable), len(removable))
    return f"{name:20} {counts} {covered:>8} {wrong:5} {missed:6} {double:6} {removed:>8}"


def percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("tuned", "scored_only"), default="tuned")
    parser.add_argument("--show", action="store_true", help="print the wrong outputs (tuned only)")
    args = parser.parse_args()
    if args.show and args.part != "tuned":
        parser.error("--show is only for the tuned part: nobody tunes on the other one")
    verdicts = score(args.part)
    print("kind                 items negatable changed acceptable coverage wrong missed double  removed")
    for kind in dict.fromkeys(each.row["kind"] for each in verdicts):
        print(table_row(kind, [each for each in verdicts if each.row["kind"] == kind]))
    print(table_row("all", verdicts))
    for each in verdicts if args.show else ():
        if each.is_wrong:
            print(f"{each.row['id']}: {each.row['text']!r} → {each.got!r} → {each.row['accept']}")


if __name__ == "__main__":
    main()
