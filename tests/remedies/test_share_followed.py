"""The share of errors whose remedy a test follows, which may only grow."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

from remedies.following import FOLLOWED, SITES, Case

LEAST_FOLLOWED = 214
"""Errors in the source whose remedy is followed at least once; raise it with every new case."""
MODULES = [
    importlib.import_module(f"remedies.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("test_*_remedies.py"))
]
CASES: list[Case] = [
    case
    for module in MODULES
    for values in vars(module).values()
    if isinstance(values, list)
    for case in values
    if isinstance(case, Case)
]


def test_share_of_followed_remedies_does_not_shrink() -> None:
    says = {site: {case.says for case in CASES if case.site == site} for site in {case.site for case in CASES} - {""}}
    # A function with several errors may have several cases of one of them: each counts at most as often as both allow.
    counts = Counter({site: len(texts) for site, texts in says.items()}) + FOLLOWED
    assert set(counts) <= set(SITES), set(counts) - set(SITES)
    followed = sum(min(count, SITES[site]) for site, count in counts.items())
    left = sorted(site for site, count in SITES.items() if counts[site] < count)
    print(f"{followed} of {sum(SITES.values())} errors with a remedy; not followed: {', '.join(left)}")
    assert followed >= LEAST_FOLLOWED
