"""A comparison in words that are the same in every report."""

from __future__ import annotations

from contrapose.tasks.comparison import Comparison, Contest, Difference, Pair, Rate
from contrapose.tasks.report.wording import counted, number


def points(share: float) -> str:
    """A difference of shares in percentage points, such as `+3.5` or `-12`."""
    rounded = round(100 * share, 1)
    return f"{rounded:+.1f}".removesuffix(".0") if rounded else "0"


def rated(rate: Rate | None) -> str:
    """A pass rate in percent with its interval, such as `80 [65.2, 89.5]`; a dash where there is none."""
    if rate is None:
        return "–"
    ends = "" if rate["interval"] is None else f" [{', '.join(f'{100 * end:.1f}' for end in rate['interval'])}]"
    return f"{100 * rate['value']:.1f}".removesuffix(".0") + ends


def differing(found: Difference | None) -> str:
    """A difference in points with its interval, such as `-5 [-16.5, +4.2]`; a dash where there is none."""
    if found is None:
        return "–"
    ends = "" if found["interval"] is None else f" [{', '.join(map(points, found['interval']))}]"
    return points(found["value"]) + ends


def chance(found: Difference | None) -> str:
    """The corrected p value; a dash where there is none."""
    if found is None or found["adjusted"] is None:
        return "–"
    return "< 0.001" if found["adjusted"] < 0.001 else f"{found['adjusted']:.3f}"


def because(comparison: Comparison) -> str:
    """The reason of the verdict without the verdict itself, which stands beside it."""
    prefix = f"{comparison['verdict'].capitalize()}: "
    return f"because of {comparison['reason'].removeprefix(prefix)}"


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
