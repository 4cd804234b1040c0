"""The first screen: the verdict, on what, and out of how many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contrapose.tasks.outcome import Summary, Verdict
from contrapose.tasks.report.masking import Show
from contrapose.tasks.report.rows import name_of
from contrapose.tasks.report.wording import asked, because, counted, latencies, moment, percent, span, totals

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
    return f"{passed}{rate}{also}, out of {counts['cases']:,} cases."


def _facts(summary: Summary) -> Pairs:
    model, usage = summary["model"], summary["usage"]
    constrained = model.get("constrained", "")
    return (
        ("run", summary["run_id"]),
        ("took", span(summary["seconds"])),
        ("provider", model["provider"]),
        ("revision", model["revision"]),
        ("precision", "" if model["dtype"] == "none" else f"{model['dtype']} on {model['device']}"),
        ("replies with letters", LETTERS.get(constrained, "")),
        ("reader", f"{summary['reader']['id']} {summary['reader']['revision']}" if "reader" in summary else ""),
        ("usage", asked(usage)),
        ("latency", latencies(usage)),
        ("seed", str(summary["seed"])),
        ("contrapose", summary["contrapose"]),
    )
