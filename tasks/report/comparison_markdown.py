"""Render comparison.md, which compares models in Markdown for people and pull requests."""

from __future__ import annotations

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
from contrapose.tasks.report.rows import cut_name
from contrapose.tasks.report.templates import load_template
from contrapose.tasks.text.wording import counted, number

MARKS: dict[Verdict, str] = {"better": "✅", "not worse": "✅", "cannot tell": "❔", "worse": "❌"}


def render(comparison: Comparison) -> bytes:
    """Return the Markdown: verdict, leaderboard, each test with all pairs of models, and definitions.

    Every text is escaped: no markup, link, image or mention of a user comes out of it.
    """
    words = (format_points, format_rate, format_difference, format_p, format_unpaired, count_cases)
    text = load_template("contrapose.tasks.report", "comparison.md.j2").render(
        {word.__name__: word for word in words},
        **comparison,
        margin_text=format_margin(comparison),
        marks=MARKS,
        definitions=DEFINITIONS,
        coverage=f"{MIN_COVERAGE:.0%}",
        name_of=cut_name,
        number=number,
        sides=lambda pair: f"{cut_name(pair['first'])} − {cut_name(pair['second'])}",
    )
    return text.encode()


def format_points(share: float) -> str:
    """Return a difference of shares in percentage points, such as `+3.5` or `-12`."""
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}".removesuffix(".0") if rounded else "0"


def format_rate(rate: ComparedRate | None) -> str:
    """Return a pass rate in percent with its interval, such as `80 [65.2, 89.5]`; a dash if there is none."""
    if rate is None:
        return "–"
    ends = "" if rate["interval"] is None else f" [{', '.join(f'{100 * end:.1f}' for end in rate['interval'])}]"
    return f"{100 * rate['value']:.1f}".removesuffix(".0") + ends


def format_difference(difference: Difference | None) -> str:
    """Return a difference in points with its interval, such as `-5 [-16.5, +4.2]`; a dash if there is none."""
    if difference is None:
        return "–"
    ends = "" if difference["interval"] is None else f" [{', '.join(map(format_points, difference['interval']))}]"
    return format_points(difference["value"]) + ends


def format_p(difference: Difference | None) -> str:
    """Return the corrected p value; a dash if there is none."""
    if difference is None or difference["adjusted"] is None:
        return "–"
    return "< 0.001" if difference["adjusted"] < 0.001 else f"{difference['adjusted']:.3f}"


def find_baseline_pair(test: Contest, name: str) -> Pair | None:
    """Return the pair of a model with the baseline, or None for the baseline."""
    return next((pair for pair in test["pairs"] if pair["first"] == name and pair["verdict"] is not None), None)


def format_unpaired(pair: Pair) -> str:
    """Return a sentence on cases that were not scored for both models, or "" if all were."""
    counts = (
        (pair["only_first"], f"{pair['first']} alone"),
        (pair["only_second"], f"{pair['second']} alone"),
        (pair["neither"], "neither"),
    )
    parts = [f"{counted('cases', count)} scored for {whom}" for count, whom in counts if count]
    if not parts:
        return ""
    low, high = map(format_points, pair["extremes"])
    return f"{', '.join(parts)}; these could move the difference to between {low} and {high} points"


def count_cases(test: Contest) -> str:
    """Return how many cases a test has."""
    return f"{counted('cases', test['cases'])}, {test['common']:,} scored for every model"


def format_margin(comparison: Comparison) -> str:
    """Return the margin in points."""
    return f"{number(100 * comparison['margin'])} points"
