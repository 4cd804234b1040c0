"""Finished runs into a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from contrapose.tasks.compare.pairs import leaderboard, pairs_of, standings
from contrapose.tasks.compare.rows import (
    OtherScorerError,
    Rows,
    TooFewSharedError,
    refuse_few_shared,
    refuse_other_cases,
    rows_of,
)
from contrapose.tasks.compare.runs import (
    FinishedRun,
    contenders,
    finished_run,
    names_of,
    refuse_unlike,
    run_folder,
)
from contrapose.tasks.core.comparison import MARGIN, SEVERITY, Comparison, Contest, Verdict, judged
from contrapose.tasks.core.errors import ComparisonError, ConfigError, together
from contrapose.tasks.core.places import Place
from contrapose.tasks.core.stopping import Stopping
from contrapose.tasks.statistics.looks import ONE_LOOK
from contrapose.tasks.text.wording import counted


def compare(
    names: Sequence[str], *, runs: str = "runs", baseline: str | None = None, margin: float = MARGIN
) -> Comparison:
    """Compare two or more runs, test by test, over the cases that both of a pair scored.

    Args:
        names: folders of the runs, or their ids.
        runs: folder or URL in which ids are looked for.
        baseline: the one of `names` that the others are held against; None: the first.
        margin: loss of pass rate that is still called not worse, 0 to 1.

    Raises:
        ComparisonError: a run is not finished, two of them did not ask the same, or no test was scored alike.
        ConfigError: the margin is no share, or the baseline is none of the runs.
    """
    refuse_margin(margin)
    among = Place.at(runs, setting="runs")
    runs_compared = [finished_run(name, among) for name in _baseline_first(names, baseline, among)]
    refuse_unlike(runs_compared)
    models = contenders(runs_compared)
    called = [model["name"] for model in models]
    tests, notes = _each_test(runs_compared, called, margin=margin)
    verdict, reason = _overall(tests)
    return Comparison(
        schema_version=1,
        verdict=verdict,
        reason=reason,
        baseline=called[0],
        margin=margin,
        models=models,
        leaderboard=leaderboard(tests, called),
        tests=tests,
        warnings=[*notes, *_warnings(runs_compared)],
    )


def refuse_margin(margin: float) -> None:
    """Raise ConfigError unless the margin is a share."""
    if not 0 <= margin < 1:
        raise ConfigError(
            f"{margin}",
            expected="a share from 0 to below 1",
            remedy="Write 0.05 for a loss of 5 points.",
            where="margin",
        )


def _baseline_first(names: Sequence[str], baseline: str | None, runs: Place) -> list[str]:
    if baseline is None:
        return list(names)
    wanted = run_folder(baseline, runs)
    same = [name == baseline or (wanted is not None and run_folder(name, runs) == wanted) for name in names]
    if any(same):
        return [name for _, name in sorted(zip(same, names, strict=True), key=lambda pair: not pair[0])]
    raise ConfigError(
        repr(baseline), expected=f"one of {', '.join(names)}", remedy="Name one of the runs.", where="baseline"
    )


def _each_test(runs: Sequence[FinishedRun], names: Sequence[str], *, margin: float) -> tuple[list[Contest], list[str]]:
    """Every test that can be compared, and what is to be said of others, and of cases that were left out.

    Raises:
        ComparisonError: no test was scored alike over enough cases, or runs have other cases.
    """
    tests, notes, refused = list[Contest](), list[str](), list[ComparisonError]()
    for test in names_of(runs):
        refuse_other_cases(runs, test)
        try:
            rows = rows_of(runs, test)
            refuse_few_shared(rows, runs, test)
        except (OtherScorerError, TooFewSharedError) as error:
            refused.append(error)
            notes.append(f"{test} is not compared: {error.found}. {error.remedy}")
            continue
        if rows.left_out:
            alike = f"the {counted('cases', rows.asked.shape[1])} that were scored alike"
            notes.append(f"{test} is compared over {alike}: {rows.left_out.found}. {rows.left_out.remedy}")
        notes += _read_otherwise(runs, test)
        if rows.noticed:
            notes.append(f"{test} is compared by the cases that were answered rightly, and whose change was noticed.")
        if rows.early:
            notes.append(_asked_in_part(rows, test, runs, names))
        if rows.looks != ONE_LOOK:
            notes.append(_stopped_together(rows, runs[0].stopping[test], test))
        tests.append(_compared(rows, test, runs, names, margin=margin))
    if not tests:
        raise together(refused)
    return tests, notes


def _asked_in_part(rows: Rows, test: str, runs: Sequence[FinishedRun], names: Sequence[str]) -> str:
    """How many cases of a test each run was asked, of which some stopped early, and what that leaves to compare."""
    asked, whole, shared = rows.asked.sum(axis=1), rows.asked.shape[1], int(rows.asked.all(axis=0).sum())
    cases = max([whole, *(run.early[test]["cases"] for run in runs if test in run.early)])
    parts = [
        f"{name} {'was asked ' if not place else ''}{asked[place]:,} of {cases:,}"
        + (" cases" if not place else "")
        + (" (stopped early)" if rows.early[place] else "")
        for place, name in enumerate(names)
    ]
    return (
        f"{test}: {', '.join(parts)}; {shared:,} are shared. Where one of two stopped early, only the cases that "
        "both were asked are compared, and nothing is claimed: its own result chose them."
    )


def _stopped_together(rows: Rows, stopping: Stopping, test: str) -> str:
    """How far models were asked side by side, and what that means for what is claimed of them."""
    end = f"stopped together after {stopping['judged']:,} of {counted('cases', stopping['cases'])}"
    how = end if stopping["judged"] < stopping["cases"] else "to the end"
    several = counted("looks", len(rows.looks.shares))
    return (
        f"{test}: the models were asked side by side, {how}; differences, their intervals and p values count {several}."
    )


def _compared(rows: Rows, test: str, runs: Sequence[FinishedRun], names: Sequence[str], *, margin: float) -> Contest:
    if not rows.asked.shape[1]:
        raise ComparisonError(
            "no case was asked",
            expected="at least one",
            remedy="Choose other data, or other settings of the test.",
            where=test,
        )
    pairs = pairs_of(rows, names, margin=margin)
    return Contest(
        test_type=test,
        cases=rows.asked.shape[1],
        common=int(rows.common.sum()),
        standings=standings(rows, pairs, names, gates=[run.gates[test] for run in runs]),
        pairs=pairs,
    )


def _overall(tests: Sequence[Contest]) -> tuple[Verdict, str]:
    """The worst verdict on any candidate in any test, and a sentence that says of which, and where."""
    verdicts = judged(tests)
    verdict = max((pair["verdict"] for _, pair in verdicts if pair["verdict"]), key=SEVERITY.index)
    where: dict[str, list[str]] = {}
    for test, pair in verdicts:
        if pair["verdict"] == verdict or verdict == "not worse":
            where.setdefault(pair["first"], []).append(test)
    baseline = next(pair["second"] for _, pair in verdicts)
    said = "; ".join(
        SENTENCES[verdict].format(first=name, second=baseline, where=_places(own, len(tests)))
        for name, own in where.items()
    )
    return verdict, f"{said[0].upper()}{said[1:]}." if verdict == "cannot tell" else f"{said}."


SENTENCES: Mapping[Verdict, str] = {
    "better": "{first} is better than {second} {where}",
    "not worse": "{first} is no worse than {second} {where}",
    "worse": "{first} is worse than {second} {where}",
    "cannot tell": "it cannot be told whether {first} is worse than {second} {where}",
}


def _places(tests: Sequence[str], of: int) -> str:
    return "on all tests" if len(tests) == of > 1 else f"in {' and '.join(tests)}"


def _warnings(runs: Sequence[FinishedRun]) -> list[str]:
    shared = names_of(runs)
    left = [test for run in runs for test in run.tests if test not in shared]
    without = {test: [run.folder.name for run in runs if test not in run.tests] for test in left}
    calibrated = [test for test in shared if runs[0].tests[test].get("settings.threshold") == "auto"]
    return [
        *(f"{run.folder.name} is incomplete." for run in runs if run.verdict == "incomplete"),
        *(f"{test} is not compared: it is not in {', '.join(folders)}." for test, folders in without.items()),
        *_changed_reader(runs),
        *(f"{test}: each model's threshold comes from its own controls." for test in calibrated),
    ]


def _read_otherwise(runs: Sequence[FinishedRun], test: str) -> Iterator[str]:
    """That only some runs asked what the replies of a test choose that rules could not read."""
    settings = [run.tests[test].get("settings.read_with") for run in runs]
    if "reply" in settings and len(set(settings)) > 1:
        values = ", ".join(f"{run.folder.name} {setting}" for run, setting in zip(runs, settings, strict=True))
        yield (
            f"{test}: read_with differs ({values}). What rules can read is read alike; what they cannot was asked "
            "about only where it is not reply, and counts in no pair of which one side is unread."
        )


def _changed_reader(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """That the reader of one name was not the same when two runs asked it."""
    read = [run for run in runs if run.reader]
    for first, run in ((read[0], other) for other in read[1:]):
        differing = [name for name in {**first.reader, **run.reader} if first.reader.get(name) != run.reader.get(name)]
        if differing:
            what = ", ".join(differing)
            yield f"the reader was another one in {run.folder.name} than in {first.folder.name}: {what}."
