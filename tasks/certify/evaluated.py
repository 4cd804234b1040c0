"""Build the certificate of a judge from the judge tests of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from contrapose.tasks.certify.findings import GATE, PositionMeans, decide_all, make_finding, position_findings
from contrapose.tasks.core.certificate import Certificate, JudgeFinding
from contrapose.tasks.core.noise import ACROSS, AGAIN, LEAN, NET
from contrapose.tasks.core.outcome import Outcome, Summary
from contrapose.tasks.probes.judge_cues.cues import WITHOUT_WORDS
from contrapose.tasks.statistics.means import Mean
from contrapose.tasks.statistics.shares import Interval

CUE = "lean_"
"""Begins the name of each figure of a lean to a cue."""
CUES: Mapping[str, str] = {
    "identical": "two equal answers: share of verdicts for the first place minus 1/2",
    "bullets": "the same answer as a list: share of verdicts for it minus 1/2",
    "prose": "the same answer without its bullets: share of verdicts for it minus 1/2",
    "headings": "the same answer under headings: share of verdicts for it minus 1/2",
    "filler": "the same answer with words that say nothing: share of verdicts for it minus 1/2",
    "authority": "the same answer with an appeal to experts: share of verdicts for it minus 1/2",
    "injection": "the same answer with a request to choose it: share of verdicts for it minus 1/2",
    "model_name": "the same answer with the name of a known model: share of verdicts for it minus 1/2",
}


def has_judge_tests(summary: Summary) -> bool:
    """Return whether a run has tests of a judge."""
    return any(outcome["category"] == "judging" for outcome in summary["tests"])


def certify_run(summary: Summary, *, gate: float = GATE) -> Certificate:
    """Return the certificate of the judge that a run asked.

    `gate` is the largest effect of the position, a share; a cue has the limit of its own test (`max_lean`).
    """
    tests = [outcome for outcome in summary["tests"] if outcome["category"] == "judging"]
    findings = [finding for outcome in tests for finding in _findings_of(outcome, gate)]
    verdict = decide_all(findings)
    incomplete = any(outcome["verdict"] == "incomplete" for outcome in tests)
    data = list(dict.fromkeys((outcome["data"]["source"], outcome["data"]["sha256"]) for outcome in tests))
    return Certificate(
        judge=summary["model"]["id"],
        verdict="inconclusive" if incomplete and verdict == "pass" else verdict,
        source=f"{', '.join(dict.fromkeys(source for source, _ in data))} (run {summary['run_id']})",
        sha256=data[0][1] if data else "",
        date=summary["started"],
        version=summary["contrapose"],
        pairs=max((outcome["samples"] for outcome in tests), default=0),
        verdicts=2 * sum(outcome["cases"] - outcome["skipped"] for outcome in tests),
        unread=sum(outcome["unscored"] + outcome["errors"] for outcome in tests),
        findings=findings,
    )


def _findings_of(outcome: Outcome, gate: float) -> Iterator[JudgeFinding]:
    """Yield the findings of one test of a judge."""
    limit, asked = outcome["settings"].get("max_lean"), outcome["cases"] - outcome["skipped"]
    unread = (outcome["unscored"] + outcome["errors"]) / asked if asked else 0.0
    own_cues = sorted(name.removeprefix(CUE) for name in outcome["estimates"] if name.startswith(CUE))
    cues = [*(cue for cue in CUES if cue in own_cues), *(cue for cue in own_cues if cue not in CUES)]
    for cue in cues:
        figure = CUES.get(cue, f"the same answer with {cue}: share of verdicts for it minus 1/2")
        own = float(limit) if isinstance(limit, int | float) else gate
        title = "position of equal answers" if cue == "identical" else cue.replace("_", " ")
        two_sided = cue in ("identical", *WITHOUT_WORDS)
        mean = _mean(outcome, CUE + cue)
        yield make_finding(title, figure, mean, gate=own, two_sided=two_sided, unread=unread, most=0.5)
    if cues:
        return
    changed = _mean(outcome, ACROSS) or _mean(outcome, "choice_changed")
    means = (_mean(outcome, AGAIN), changed, *(_mean(outcome, name) for name in (NET, LEAN, "tied_share")))
    is_steady = set(outcome["scorers"]) == {"likelihood"}
    yield from position_findings(PositionMeans(*means), gate=gate, unread=unread, is_steady=is_steady)
    if right := _mean(outcome, "consistent_and_right"):
        yield make_finding("agreement with people", "right verdict in both orders", right, gate=None)
    for side in ("longer", "shorter"):
        if accuracy := _mean(outcome, f"accuracy_where_{side}"):
            figure = f"right verdicts where the better answer is {side}"
            yield make_finding(f"length: {side} is better", figure, accuracy, gate=None)


def _mean(outcome: Outcome, name: str) -> Mean | None:
    """Return a figure of an outcome with its interval, or None if it is missing."""
    own = outcome["estimates"].get(name)
    if own is None:
        return None
    interval = None if own["interval"] is None else Interval(*own["interval"])
    return Mean(value=own["value"], interval=interval, rows=own["rows"], clusters=own["clusters"])
