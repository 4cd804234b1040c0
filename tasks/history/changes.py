"""What differs between two runs."""

from __future__ import annotations

from collections.abc import Iterator

from contrapose.tasks.past import Change, Facet, PastRun

FACETS: tuple[Facet, ...] = ("model", "data", "prompt", "scorer", "library")


ASKED = "asked"
"""What a test is in the run that has it."""


def changes(before: PastRun, after: PastRun) -> tuple[Change, ...]:
    """What the later of two runs is made of that the earlier is not, and the other way round, facet by facet.

    A test that only one of them asked is one change, whatever its settings are.
    """
    old, new = ({each["test_type"] for each in run["tests"]} for run in (before, after))
    alone = sorted(old ^ new)
    asked = [
        Change(facet="prompt", name=test, before=ASKED if test in old else "", after=ASKED if test in new else "")
        for test in alone
    ]
    return (*asked, *(each for each in _facts(before, after) if each["name"].partition(".")[0] not in alone))


def changes_of(test: str, before: PastRun, after: PastRun) -> tuple[Change, ...]:
    """Those that bear on one test."""
    others = {each["test_type"] for run in (before, after) for each in run["tests"]} - {test}
    return tuple(each for each in changes(before, after) if each["name"].partition(".")[0] not in others)


def _facts(before: PastRun, after: PastRun) -> Iterator[Change]:
    for facet in FACETS:
        old, new = (run["made_of"].get(facet, {}) for run in (before, after))
        for name in sorted({*old, *new}):
            if old.get(name, "") != new.get(name, ""):
                yield Change(facet=facet, name=name, before=old.get(name, ""), after=new.get(name, ""))
