"""comparison.md: models side by side, for people and pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contrapose.tasks.core.comparison import (
    DEFINITIONS,
    MIN_COVERAGE,
    ComparedRate,
    Comparison,
    Contest,
    Difference,
    Pair,
    Verdict,
)
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.text.cleaning import escape, table, visible
from contrapose.tasks.text.wording import counted, number

MARKS: dict[Verdict, str] = {"better": "✅", "not worse": "✅", "cannot tell": "❔", "worse": "❌"}

NOTES = (
    "Models are compared over the cases that were scored for both; repeats of a case are averaged first.",
    "Intervals are 95 %: of pass rates Wilson's on the effective number of cases; of differences the bootstrap's over "
    "clusters of cases that are not independent, or Wilson's of both directions together where few clusters differ.",
    "p: the exact McNemar test where cases are independent, else sign flips of clusters; Holm's correction over all "
    "pairs of models in a test.",
    "Rank in a test: 1 + the number of models that are significantly better; models that cannot be told apart, "
    "for want of cases too, share a rank. Over all tests: by the mean of these ranks.",
)


def render(comparison: Comparison) -> bytes:
    """Verdict, leaderboard, then each test with all pairs, then what the words mean.

    Every text is escaped: no markup, link, image or mention of a user comes out of it.
    """
    parts = [*_head(comparison), "### Over all tests", _leaderboard(comparison)]
    for test in comparison["tests"]:
        parts += _test(test)
    parts += ["### Notes", bullets([*comparison["warnings"], *NOTES, *_meanings(comparison)])]
    return ("\n\n".join(parts) + "\n").encode()


def _head(comparison: Comparison) -> Iterator[str]:
    verdict = comparison["verdict"]
    yield f"**{MARKS[verdict]} {escape(verdict.capitalize())}** {escape(visible(comparison['reason']))}"
    yield "## Contrapose comparison"
    rows = (
        (
            name_of(model["name"]) + (", the baseline" if model["name"] == comparison["baseline"] else ""),
            name_of(model["revision"]),
            name_of(model["run_id"]),
            name_of(model["verdict"]),
        )
        for model in comparison["models"]
    )
    yield table(("model", "revision", "run", "verdict of the run"), rows)


def _leaderboard(comparison: Comparison) -> str:
    tests = [test["test_type"] for test in comparison["tests"]]
    rows = (
        (
            str(place["rank"]),
            name_of(place["name"]),
            number(place["mean_rank"]),
            *(str(place["ranks"][test]) for test in tests),
        )
        for place in comparison["leaderboard"]
    )
    head = ("rank", "model", "mean rank", *(f"rank in {name_of(test)}" for test in tests))
    return table(head, rows, numbers={0, *range(2, len(head))})


def _test(test: Contest) -> Iterator[str]:
    yield f"### {escape(name_of(test['test_type']))}"
    yield escape(f"{asked(test)}.")
    rows = (
        (
            str(standing["rank"]),
            name_of(standing["name"]),
            rated(standing["rate"]),
            f"{standing['scored']:,} / {standing['asked']:,}",
        )
        for standing in test["standings"]
    )
    yield table(("rank", "model", "pass rate, %", "scored / asked"), rows, numbers=(0, 2, 3))
    head = ("models", "difference, points", "at least", "p (Holm)", "verdict on the first")
    yield table(head, map(_pair, test["pairs"]), numbers=(1, 2, 3))
    reasons = [f"{_sides(pair)}: {pair['reason']}" for pair in test["pairs"] if pair["reason"]]
    yield bullets([*reasons, *(f"{_sides(pair)}: {unpaired(pair)}." for pair in test["pairs"] if unpaired(pair))])


def _pair(pair: Pair) -> tuple[str, ...]:
    difference, verdict = pair["difference"], pair["verdict"]
    return (
        _sides(pair),
        differing(difference),
        "–" if difference is None or difference["bounds"] is None else points(difference["bounds"][0]),
        chance(difference),
        "" if verdict is None else f"{MARKS[verdict]} {verdict}",
    )


def _sides(pair: Pair) -> str:
    return f"{name_of(pair['first'])} − {name_of(pair['second'])}"


def _meanings(comparison: Comparison) -> Iterator[str]:
    needed = f"{MIN_COVERAGE:.0%} of the cases that either model was asked"
    yield f"The margin is {allowed(comparison)}. Where at least {needed} were scored for both, the first that applies:"
    yield from (f"{verdict}: {meaning}" for verdict, meaning in DEFINITIONS.items())


def bullets(lines: Iterable[str]) -> str:
    """Lines as a list; every text is escaped."""
    return "\n".join(f"- {escape(visible(line))}" for line in lines)


def points(share: float) -> str:
    """A difference of shares in percentage points, such as `+3.5` or `-12`."""
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}".removesuffix(".0") if rounded else "0"


def rated(rate: ComparedRate | None) -> str:
    """A pass rate in percent with its interval, such as `80 [65.2, 89.5]`; a dash where there is none."""
    if rate is None:
        return "–"
    ends = "" if rate["interval"] is None else f" [{', '.join(f'{100 * end:.1f}' for end in rate['interval'])}]"
    return f"{100 * rate['value']:.1f}".removesuffix(".0") + ends


def differing(difference: Difference | None) -> str:
    """A difference in points with its interval, such as `-5 [-16.5, +4.2]`; a dash where there is none."""
    if difference is None:
        return "–"
    ends = "" if difference["interval"] is None else f" [{', '.join(map(points, difference['interval']))}]"
    return points(difference["value"]) + ends


def chance(difference: Difference | None) -> str:
    """The corrected p value; a dash where there is none."""
    if difference is None or difference["adjusted"] is None:
        return "–"
    return "< 0.001" if difference["adjusted"] < 0.001 else f"{difference['adjusted']:.3f}"


def against(test: Contest, name: str) -> Pair | None:
    """The pair of a model with the baseline; None for the baseline."""
    return next((pair for pair in test["pairs"] if pair["first"] == name and pair["verdict"] is not None), None)


def unpaired(pair: Pair) -> str:
    """What was not scored for both, and what it could change; empty where all cases were."""
    parts = [
        f"{counted('cases', count)} scored for {whom}"
        for count, whom in (
            (pair["only_first"], f"{pair['first']} alone"),
            (pair["only_second"], f"{pair['second']} alone"),
            (pair["neither"], "neither"),
        )
        if count
    ]
    if not parts:
        return ""
    low, high = map(points, pair["extremes"])
    return f"{', '.join(parts)}; with them the difference lies between {low} and {high} points"


def asked(test: Contest) -> str:
    """How many cases a test has."""
    return f"{counted('cases', test['cases'])}, {test['common']:,} scored for every model"


def allowed(comparison: Comparison) -> str:
    """The margin."""
    return f"{number(100 * comparison['margin'])} points"
