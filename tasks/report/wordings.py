"""Describe how pass rates differ between the wordings of a test's prompt, in sentences and in tables."""

from __future__ import annotations

from collections.abc import Iterator

from contrapose.tasks.core.outcome import Outcome
from contrapose.tasks.core.slices import Slice, WordingSummary
from contrapose.tasks.report.evidence import describe_slice
from contrapose.tasks.statistics.components import LEAST_WORDINGS
from contrapose.tasks.statistics.shares import LEVEL
from contrapose.tasks.text.wording import percent

MATTERS = 1.2
"""Times as long as over samples alone, from which an interval shows that the wording matters."""
PARTS = {
    "samples": "between samples",
    "wordings": "between wordings",
    "askings": "between the cases of one sample in one wording",
    "rest": "the rest",
}
"""Sources of variance in words."""


def summarise_wordings(outcome: Outcome) -> Iterator[str]:
    """Yield one clause on the worst and the best wording, if the wording matters."""
    summary = outcome.get("wordings")
    if summary is None or not is_wording_important(summary):
        return
    worst, best = find_worst_and_best(summary)
    longer = (
        f"; the interval is {summary['longer']:.1f} times as long as for samples alone" if summary["longer"] else ""
    )
    yield f"the wording matters: pass rate {_label_wording(worst)}, {_label_wording(best)}{longer}"


def describe_wordings(outcome: Outcome) -> Iterator[str]:
    """Yield all clauses about wordings: their effect, and whether the interval allows for them."""
    summary = outcome.get("wordings")
    if summary is None or not summary["rates"]:
        return
    if not (shown := list(summarise_wordings(outcome))):
        worst, best = find_worst_and_best(summary)
        shown = [f"pass rate {_label_wording(worst)}, {_label_wording(best)}"]
    yield from shown
    count = len(summary["rates"])
    if summary["random"]:
        yield f"the {count} wordings count as a sample: interval and verdict cover samples and wordings"
    else:
        yield f"with fewer than {LEAST_WORDINGS} wordings, interval and verdict hold for these {count} alone"
    if any(_differs(part) for part in summary["rates"]):
        yield "p values of wordings account for how many there are (Benjamini-Hochberg)"


def tabulate_wordings(outcome: Outcome) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return titles and rows of a table: the pass rate in each wording, lowest first; no rows with one wording."""
    summary = outcome.get("wordings")
    if summary is None:
        return (), []
    rates = sorted(summary["rates"], key=lambda part: (part["pass_rate"] is None, part["pass_rate"]))
    return ("wording", "pass rate"), [(part["name"], describe_slice(part)) for part in rates]


def tabulate_variance(outcome: Outcome) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return titles and rows of a table: shares of the variance by source; no rows if unknown."""
    variances = (outcome.get("wordings") or {"variances": None})["variances"]
    if variances is None:
        return (), []
    values: dict[str, float] = {name: float(variances[name] or 0.0) for name in PARTS}  # type: ignore[literal-required]
    total = sum(values.values())
    names = {**PARTS, **({"rest": "samples and the rest"} if variances["samples"] is None else {})}
    shown = {names[name]: value for name, value in values.items() if value or name in ("wordings", "rest")}
    return ("source of variance", "share"), [
        (name, percent(value / total if total else 0.0)) for name, value in shown.items()
    ]


def is_wording_important(summary: WordingSummary) -> bool:
    """Return whether wordings clearly lengthen the interval, or one wording significantly differs."""
    return (summary["longer"] or 1.0) >= MATTERS or any(_differs(part) for part in summary["rates"])


def find_worst_and_best(summary: WordingSummary) -> tuple[Slice, Slice]:
    """Return the wordings with the lowest and the highest pass rate."""
    rates = [part for part in summary["rates"] if part["pass_rate"] is not None] or summary["rates"]
    worst, *_ = sorted(rates, key=lambda part: part["pass_rate"] or 0.0)
    *_, best = sorted(rates, key=lambda part: part["pass_rate"] or 0.0)
    return worst, best


def _differs(part: Slice) -> bool:
    return part["p"] is not None and part["p"] <= LEVEL


def _label_wording(part: Slice) -> str:
    return f"{percent(part['pass_rate'])} in wording {part['name']}"
