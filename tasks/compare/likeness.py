"""What must be the same in runs that are compared, and what is said where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contrapose.tasks.compare.runs import FinishedRun, names_of
from contrapose.tasks.errors import ComparisonError

LONGEST = 60
"""Characters of a value in a message."""

REMEDIES = {
    "data": "Evaluate both models on the same rows.",
    "probe version": "Evaluate the model of the older run again with this version of Contrapose.",
}


def refuse_unlike(runs: Sequence[FinishedRun]) -> None:
    """Refuse runs that did not ask the same.

    Args:
        runs: two or more.

    Raises:
        ComparisonError: with the run, the test, what differs, and both values.
    """
    _refuse_twice(runs)
    first, *others = runs
    if not names_of(runs):
        raise ComparisonError(
            "; ".join(f"{run.folder.name} has {', '.join(run.tests) or 'none'}" for run in runs),
            expected="at least one test that all runs have",
            remedy="Evaluate the models with the same suite.",
        )
    for other in others:
        _same(first, other, first.general, other.general, test="every test")
        for test in names_of(runs):
            _same(first, other, first.tests[test], other.tests[test], test=test)


def unlike(
    what: str, first: FinishedRun, second: FinishedRun, *, values: tuple[object, object], test: str, remedy: str = ""
) -> ComparisonError:
    """The error that two runs differ in one thing."""
    one, other = map(_short, values)
    return ComparisonError(
        f"{what} is {one} in {first.folder.name} and {other} in {second.folder.name}",
        expected="the same in runs that are compared",
        remedy=remedy or REMEDIES.get(what, f"Evaluate one of the models again with the same {what}."),
        where=f"{second.folder.name}, {test}",
    )


def _same(
    first: FinishedRun, second: FinishedRun, one: Mapping[str, object], other: Mapping[str, object], *, test: str
) -> None:
    for what in dict.fromkeys([*one, *other]):
        values = one.get(what), other.get(what)
        if values[0] != values[1]:
            raise unlike(what, first, second, values=values, test=test)


def _refuse_twice(runs: Sequence[FinishedRun]) -> None:
    folders = [run.folder for run in runs]
    if len(set(folders)) < max(2, len(folders)):
        raise ComparisonError(
            f"{len(set(folders))} different among {len(folders)} named",
            expected="two or more runs, each named once",
            remedy="Name the folders of the runs that are to be compared.",
            where="runs",
        )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
