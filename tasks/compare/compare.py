"""Compare finished runs of several models, test by test, and decide which are worse than the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from contrapose.tasks.compare.pairs import compare_pairs, make_leaderboard, rank_models
from contrapose.tasks.compare.rows import (
    AlignedCases,
    OtherScorerError,
    TooFewSharedError,
    read_cases,
    refuse_few_shared,
    refuse_other_cases,
)
from contrapose.tasks.compare.runs import (
    FinishedRun,
    find_run_folder,
    list_shared_tests,
    name_contenders,
    read_finished_run,
    refuse_unlike,
)
from contrapose.tasks.core.comparison import MARGIN, SEVERITY, Comparison, Contest, Verdict, list_judged_pairs
from contrapose.tasks.core.errors import ComparisonError, ConfigError, join_errors
from contrapose.tasks.core.places import Place
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
    if baseline is not None:
        wanted = find_run_folder(baseline, among)
        same = [name == baseline or (wanted is not None and find_run_folder(name, among) == wanted) for name in names]
        if not any(same):
            raise ConfigError(
                repr(baseline),
                expected=f"one of {', '.join(names)}",
                remedy=f"Write --baseline {names[0]}.",
                where="baseline",
            )
        names = [name for _, name in sorted(zip(same, names, strict=True), key=lambda pair: not pair[0])]
    runs_compared = [read_finished_run(name, among) for name in names]
    refuse_unlike(runs_compared)
    models = name_contenders(runs_compared)
    called = [model["name"] for model in models]
    tests, notes = _compare_tests(runs_compared, called, margin=margin)
    verdict, reason = _overall_verdict(tests)
    return Comparison(
        schema_version=1,
        verdict=verdict,
        reason=reason,
        baseline=called[0],
        margin=margin,
        models=models,
        leaderboard=make_leaderboard(tests, called),
        tests=tests,
        warnings=[*notes, *_yield_warnings(runs_compared)],
    )


def refuse_margin(margin: float) -> None:
    """Raise ConfigError unless the margin is a share."""
    if not 0 <= margin < 1:
        raise ConfigError(
            f"{margin}",
            expected="a share from 0 to below 1",
            remedy="Write --margin 0.05 for a loss of 5 points.",
            where="margin",
        )


def _compare_tests(
    runs: Sequence[FinishedRun], names: Sequence[str], *, margin: float
) -> tuple[list[Contest], list[str]]:
    """Compare every test that can be compared, or raise ComparisonError; also return notes on what was left out."""
    tests, notes, refused = list[Contest](), list[str](), list[ComparisonError]()
    for test in list_shared_tests(runs):
        refuse_other_cases(runs, test)
        try:
            rows = read_cases(runs, test)
            refuse_few_shared(rows, runs, test)
        except (OtherScorerError, TooFewSharedError) as error:
            refused.append(error)
            notes.append(f"{test} is not compared: {error.found}. {error.remedy}")
            continue
        notes += _list_notes(rows, test, runs, names)
        if not rows.asked.shape[1]:
            raise ComparisonError(
                "no case was asked",
                expected="at least one",
                remedy="Choose other data, or other settings of the test.",
                where=test,
            )
        pairs = compare_pairs(rows, names, margin=margin)
        tests.append(
            Contest(
                test_type=test,
                cases=rows.asked.shape[1],
                common=int(rows.common.sum()),
                standings=rank_models(rows, pairs, names, gates=[run.gates[test] for run in runs]),
                pairs=pairs,
            )
        )
    if not tests:
        raise join_errors(refused)
    return tests, notes


def _list_notes(rows: AlignedCases, test: str, runs: Sequence[FinishedRun], names: Sequence[str]) -> Iterator[str]:
    """Yield notes on a test: cases left out, different ways of reading, early stops."""
    whole = rows.asked.shape[1]
    if rows.left_out:
        alike = f"the {counted('cases', whole)} that were scored alike"
        yield f"{test} is compared over {alike}: {rows.left_out.found}. {rows.left_out.remedy}"
    settings = [run.tests[test].get("settings.read_with") for run in runs]
    if "reply" in settings and len(set(settings)) > 1:
        values = ", ".join(f"{run.folder.name} {setting}" for run, setting in zip(runs, settings, strict=True))
        yield (
            f"{test}: read_with differs ({values}). Replies that only a reader model could read count in a pair only "
            "if both replies were read."
        )
    if rows.noticed:
        yield f"{test} compares the share of cases that were right before the change and changed with it."
    if rows.early:
        asked, shared = rows.asked.sum(axis=1), int(rows.asked.all(axis=0).sum())
        cases = max([whole, *(run.early[test]["cases"] for run in runs if test in run.early)])
        parts = [
            f"{name} {'was asked ' if not place else ''}{asked[place]:,} of {cases:,}"
            + (" cases" if not place else "")
            + (" (stopped early)" if rows.early[place] else "")
            for place, name in enumerate(names)
        ]
        yield (
            f"{test}: {', '.join(parts)}; {shared:,} are shared. If a run stopped early, only the shared cases are "
            "compared, without a verdict: its own result chose them."
        )
    if rows.looks != ONE_LOOK:
        stopping, several = runs[0].stopping[test], counted("looks", len(rows.looks.shares))
        end = f"stopped together after {stopping['judged']:,} of {counted('cases', stopping['cases'])}"
        how = end if stopping["judged"] < stopping["cases"] else "to the end"
        yield (
            f"{test}: the models were asked side by side, {how}. Differences, intervals and p values account for "
            f"{several}."
        )


def _overall_verdict(tests: Sequence[Contest]) -> tuple[Verdict, str]:
    """Return the worst verdict on any candidate in any test, and a sentence that names candidate and tests."""
    verdicts = list_judged_pairs(tests)
    verdict = max((pair["verdict"] for _, pair in verdicts if pair["verdict"]), key=SEVERITY.index)
    where: dict[str, list[str]] = {}
    for test, pair in verdicts:
        if pair["verdict"] == verdict or verdict == "not worse":
            where.setdefault(pair["first"], []).append(test)
    baseline = next(pair["second"] for _, pair in verdicts)
    parts = []
    for name, own in where.items():
        place = "on all tests" if len(own) == len(tests) > 1 else f"in {' and '.join(own)}"
        parts.append(SENTENCES[verdict].format(first=name, second=baseline, where=place))
    said = "; ".join(parts)
    return verdict, f"{said[0].upper()}{said[1:]}." if verdict == "cannot tell" else f"{said}."


SENTENCES: Mapping[Verdict, str] = {
    "better": "{first} is better than {second} {where}",
    "not worse": "{first} is no worse than {second} {where}",
    "worse": "{first} is worse than {second} {where}",
    "cannot tell": "too little evidence to say whether {first} is worse than {second} {where}",
}


def _yield_warnings(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """Yield warnings about the runs that do not depend on a test."""
    shared = list_shared_tests(runs)
    yield from (f"{run.folder.name} is incomplete." for run in runs if run.verdict == "incomplete")
    for test in dict.fromkeys(test for run in runs for test in run.tests if test not in shared):
        folders = ", ".join(run.folder.name for run in runs if test not in run.tests)
        yield f"{test} is not compared: it is not in {folders}."
    # The reader of one name may not be the same when two runs asked it.
    read = [run for run in runs if run.reader]
    for first, run in ((read[0], other) for other in read[1:]):
        if what := [name for name in {**first.reader, **run.reader} if first.reader.get(name) != run.reader.get(name)]:
            yield f"the reader was another one in {run.folder.name} than in {first.folder.name}: {', '.join(what)}."
    for test in shared:
        if runs[0].tests[test].get("settings.threshold") == "auto":
            yield f"{test}: each model's threshold comes from its own controls."
