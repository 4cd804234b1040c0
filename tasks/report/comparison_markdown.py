"""comparison.md: models side by side, for people and pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contrapose.tasks.comparison import DEFINITIONS, MIN_COVERAGE, Comparison, Contest, Pair, Verdict
from contrapose.tasks.report.cleaning import visible
from contrapose.tasks.report.comparison import allowed, asked, because, chance, differing, points, rated, unpaired
from contrapose.tasks.report.markdown_text import escape, table
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.report.wording import number

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
    parts += ["### Notes", _list([*comparison["warnings"], *NOTES, *_meanings(comparison)])]
    return ("\n\n".join(parts) + "\n").encode()


def _head(comparison: Comparison) -> Iterator[str]:
    verdict = comparison["verdict"]
    yield f"**{MARKS[verdict]} {escape(verdict.capitalize())}** {escape(visible(because(comparison)))}"
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
        (str(each["rank"]), name_of(each["name"]), rated(each["rate"]), f"{each['scored']:,} / {each['asked']:,}")
        for each in test["standings"]
    )
    yield table(("rank", "model", "pass rate, %", "scored / asked"), rows, numbers=(0, 2, 3))
    head = ("models", "difference, points", "at least", "p (Holm)", "verdict on the first")
    yield table(head, map(_pair, test["pairs"]), numbers=(1, 2, 3))
    reasons = [f"{_sides(pair)}: {pair['reason']}" for pair in test["pairs"] if pair["reason"]]
    yield _list([*reasons, *(f"{_sides(pair)}: {unpaired(pair)}." for pair in test["pairs"] if unpaired(pair))])


def _pair(pair: Pair) -> tuple[str, ...]:
    found, verdict = pair["difference"], pair["verdict"]
    return (
        _sides(pair),
        differing(found),
        "–" if found is None or found["bounds"] is None else points(found["bounds"][0]),
        chance(found),
        "" if verdict is None else f"{MARKS[verdict]} {verdict}",
    )


def _sides(pair: Pair) -> str:
    return f"{name_of(pair['first'])} − {name_of(pair['second'])}"


def _meanings(comparison: Comparison) -> Iterator[str]:
    needed = f"{MIN_COVERAGE:.0%} of the cases that either model was asked"
    yield f"The margin is {allowed(comparison)}. Where at least {needed} were scored for both, the first that applies:"
    yield from (f"{verdict}: {meaning}" for verdict, meaning in DEFINITIONS.items())


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {escape(visible(line))}" for line in lines)
