"""comparison.md: models side by side, for people and pull requests."""

from __future__ import annotations

from collections.abc import Iterable

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
from contrapose.tasks.text.cleaning import escape, show_hidden, table
from contrapose.tasks.text.wording import counted, number

MARKS: dict[Verdict, str] = {"better": "✅", "not worse": "✅", "cannot tell": "❔", "worse": "❌"}

NOTES = (
    "Models are compared over the cases that were scored for both; repeats of a case are averaged first.",
    "Intervals are 95 %. Those of pass rates are Wilson's, on the effective number of cases. Those of differences are "
    "exact where cases are independent. Else they are the bootstrap's over clusters, or Wilson's of both directions "
    "where few clusters differ.",
    "At least: an exact one-sided bound at 95 %. Clusters count as fewer independent cases. Fewer than 15 clusters "
    "bound no loss.",
    "p: the exact McNemar test where cases are independent, else sign flips of clusters; Holm's correction over all "
    "pairs of models in a test.",
    "Rank in a test: 1 + the number of models that are significantly better. Models without a significant difference "
    "share a rank. Over all tests: by the mean of these ranks.",
)


def render(comparison: Comparison) -> bytes:
    """Verdict, leaderboard, then each test with all pairs, then what the words mean.

    Every text is escaped: no markup, link, image or mention of a user comes out of it.
    """
    verdict, tests = comparison["verdict"], [test["test_type"] for test in comparison["tests"]]
    models = (
        (
            name_of(model["name"]) + (", the baseline" if model["name"] == comparison["baseline"] else ""),
            *map(name_of, (model["revision"], model["run_id"], model["verdict"])),
        )
        for model in comparison["models"]
    )
    ranks = (
        (
            str(place["rank"]),
            name_of(place["name"]),
            number(place["mean_rank"]),
            *(str(place["ranks"][test]) for test in tests),
        )
        for place in comparison["leaderboard"]
    )
    head = ("rank", "model", "mean rank", *(f"rank in {name_of(test)}" for test in tests))
    needed = f"{MIN_COVERAGE:.0%} of the cases that either model was asked"
    applies = f"Where at least {needed} were scored for both, the first that applies:"
    meanings = (
        f"The margin is {margin_words(comparison)}. {applies}",
        *(f"{verdict}: {meaning}" for verdict, meaning in DEFINITIONS.items()),
    )
    parts = [
        f"**{MARKS[verdict]} {escape(verdict.capitalize())}** {escape(show_hidden(comparison['reason']))}",
        "## Contrapose comparison",
        table(("model", "revision", "run", "verdict of the run"), models),
        "### Over all tests",
        table(head, ranks, numbers={0, *range(2, len(head))}),
        *(part for test in comparison["tests"] for part in _test_parts(test)),
        "### Notes",
        bullets([*comparison["warnings"], *NOTES, *meanings]),
    ]
    return ("\n\n".join(parts) + "\n").encode()


def _test_parts(test: Contest) -> tuple[str, ...]:
    standings = (
        (
            str(standing["rank"]),
            name_of(standing["name"]),
            rate_words(standing["rate"]),
            f"{standing['scored']:,} / {standing['asked']:,}",
        )
        for standing in test["standings"]
    )
    pairs, reasons, unpaired = [], [], []
    for pair in test["pairs"]:
        difference, verdict = pair["difference"], pair["verdict"]
        sides = f"{name_of(pair['first'])} − {name_of(pair['second'])}"
        least = "–" if difference is None or difference["bounds"] is None else points(difference["bounds"][0])
        judged = "" if verdict is None else f"{MARKS[verdict]} {verdict}"
        pairs.append((sides, difference_words(difference), least, chance(difference), judged))
        reasons += [f"{sides}: {pair['reason']}"] if pair["reason"] else []
        unpaired += [f"{sides}: {text}."] if (text := unpaired_words(pair)) else []
    return (
        f"### {escape(name_of(test['test_type']))}",
        escape(f"{cases_words(test)}."),
        table(("rank", "model", "pass rate, %", "scored / asked"), standings, numbers=(0, 2, 3)),
        table(
            ("models", "difference, points", "at least", "p (Holm)", "verdict on the first"), pairs, numbers=(1, 2, 3)
        ),
        bullets([*reasons, *unpaired]),
    )


def bullets(lines: Iterable[str]) -> str:
    """Return lines as a list; every text is escaped."""
    return "\n".join(f"- {escape(show_hidden(line))}" for line in lines)


def points(share: float) -> str:
    """Return a difference of shares in percentage points, such as `+3.5` or `-12`."""
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}".removesuffix(".0") if rounded else "0"


def rate_words(rate: ComparedRate | None) -> str:
    """Return a pass rate in percent with its interval, such as `80 [65.2, 89.5]`; a dash where there is none."""
    if rate is None:
        return "–"
    ends = "" if rate["interval"] is None else f" [{', '.join(f'{100 * end:.1f}' for end in rate['interval'])}]"
    return f"{100 * rate['value']:.1f}".removesuffix(".0") + ends


def difference_words(difference: Difference | None) -> str:
    """Return a difference in points with its interval, such as `-5 [-16.5, +4.2]`; a dash where there is none."""
    if difference is None:
        return "–"
    ends = "" if difference["interval"] is None else f" [{', '.join(map(points, difference['interval']))}]"
    return points(difference["value"]) + ends


def chance(difference: Difference | None) -> str:
    """Return the corrected p value; a dash where there is none."""
    if difference is None or difference["adjusted"] is None:
        return "–"
    return "< 0.001" if difference["adjusted"] < 0.001 else f"{difference['adjusted']:.3f}"


def against(test: Contest, name: str) -> Pair | None:
    """Return the pair of a model with the baseline; None for the baseline."""
    return next((pair for pair in test["pairs"] if pair["first"] == name and pair["verdict"] is not None), None)


def unpaired_words(pair: Pair) -> str:
    """Return how many cases were not scored for both, and what they could change; empty where all cases were."""
    counts = (
        (pair["only_first"], f"{pair['first']} alone"),
        (pair["only_second"], f"{pair['second']} alone"),
        (pair["neither"], "neither"),
    )
    parts = [f"{counted('cases', count)} scored for {whom}" for count, whom in counts if count]
    if not parts:
        return ""
    low, high = map(points, pair["extremes"])
    return f"{', '.join(parts)}; these could move the difference to between {low} and {high} points"


def cases_words(test: Contest) -> str:
    """Return how many cases a test has."""
    return f"{counted('cases', test['cases'])}, {test['common']:,} scored for every model"


def margin_words(comparison: Comparison) -> str:
    """Return the margin in points."""
    return f"{number(100 * comparison['margin'])} points"
