"""What differs between two runs."""

from __future__ import annotations

from contrapose.tasks.past import Change, Facet, PastRun

FACETS: tuple[Facet, ...] = ("model", "data", "prompt", "scorer", "library")


def changes(before: PastRun, after: PastRun) -> tuple[Change, ...]:
    """What the later of two runs is made of that the earlier is not, and the other way round, facet by facet."""
    return tuple(
        Change(facet=facet, name=name, before=old.get(name, ""), after=new.get(name, ""))
        for facet in FACETS
        for old, new in [(before["made_of"].get(facet, {}), after["made_of"].get(facet, {}))]
        for name in sorted({*old, *new})
        if old.get(name, "") != new.get(name, "")
    )
