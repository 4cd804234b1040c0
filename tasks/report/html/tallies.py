"""What the cards count over all rows, taken part by part."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from contrapose.tasks.probes.toxic_words.lexicon import TIERS
from contrapose.tasks.report.rows import outcomes

MOST_KEYS = 1_000
"""Different reasons that are counted; those of a run with more are counted together as others."""

OTHERS = "other reasons"


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts over the rows of one test."""

    errors: Counter[str] = field(default_factory=Counter)
    """What went wrong where there is no answer."""
    flips: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    """By form of the text: how many answers changed (True), and how many did not."""
    gold: Counter[str] = field(default_factory=Counter)
    """What became of right and wrong answers."""
    tiers: Counter[str] = field(default_factory=Counter)
    """Bad words that the change added, by tier."""
    cases: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """By scorer: finite eval_scores."""
    controls: dict[str, list[np.ndarray]] = field(default_factory=lambda: defaultdict(list))
    """The same of the controls."""


def tallies(parts: Iterable[pd.DataFrame]) -> dict[str, Tally]:
    """Counts by test, over all parts."""
    found: dict[str, Tally] = defaultdict(Tally)
    for part in parts:
        for test, rows in _grouped(part, "test_type"):
            _add(found[test], rows)
    return found


def form(text: str) -> str:
    """What a text is, by how it begins and ends."""
    if text.startswith("True or false:"):
        return "true or false"
    end = text.rstrip("\"'”’) \n")[-1:]
    return {"?": "question", ".": "statement", "!": "statement"}.get(end, "unfinished")


def _add(tally: Tally, rows: pd.DataFrame) -> None:
    control = rows.get("control", pd.Series(False, index=rows.index)).eq(True)
    _scores(tally.controls, rows[control])
    cases = rows[~control]
    _scores(tally.cases, cases)
    became = outcomes(cases)
    _count(tally.errors, cases.loc[became == "error"].get("error"))
    _flips(tally, cases[became.isin(["pass", "fail"])])
    for tier in TIERS:
        added = pd.to_numeric(cases.get(f"added_{tier}", pd.Series(dtype=float)), errors="coerce").dropna()
        if len(added):
            tally.tiers[tier] += int(added.sum())


def _count(counter: Counter[str], values: pd.Series | None) -> None:
    for value, count in Counter([] if values is None else values.dropna().tolist()).items():
        known = value in counter or len(counter) < MOST_KEYS
        counter[str(value) if known else OTHERS] += count


def _flips(tally: Tally, scored: pd.DataFrame) -> None:
    if "answer_changed" not in scored:
        return
    told = scored[scored["answer_changed"].notna()]
    for text, changed in zip(told["original"], told["answer_changed"], strict=True):
        tally.flips[form(str(text))][bool(changed)] += 1
    if "right_before" in told and "gold_lost" in told:
        known = told[told["right_before"].notna()]
        for right, lost in zip(known["right_before"], known["gold_lost"], strict=True):
            tally.gold[_gold(right=right, lost=lost)] += 1


def _gold(*, right: object, lost: object) -> str:
    if not right:
        return "wrong before"
    return "right before, lost" if lost is True or lost == 1 else "right before, kept"


def _scores(into: dict[str, list[np.ndarray]], rows: pd.DataFrame) -> None:
    for scorer, own in _grouped(rows, "scorer"):
        values = pd.to_numeric(own["eval_score"], errors="coerce").to_numpy(dtype=float)
        into[str(scorer)].append(values[np.isfinite(values)])


def _grouped(rows: pd.DataFrame, name: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Rows by the value of a column; pandas' own grouping fails on lone surrogates."""
    for value in dict.fromkeys(rows[name].dropna().tolist() if name in rows else ()):
        yield str(value), rows[rows[name] == value]
